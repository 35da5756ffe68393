import { exactJson } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'

/** The id of a request of JSON-RPC. */
export type RpcId = string | number

/** An error of JSON-RPC. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The end of a request. */
export type RpcAnswer = { readonly result: Fields } | { readonly error: RpcError }

/** A request without its id, or a notification. */
export interface RpcCall {
  readonly method: string
  readonly params: Fields
}

/** A message of JSON-RPC. */
export type RpcMessage =
  | ({ readonly kind: 'request'; readonly id: RpcId } & RpcCall)
  | ({ readonly kind: 'notification' } & RpcCall)
  | { readonly kind: 'answer'; readonly id: RpcId | null; readonly answer: RpcAnswer }

const noParams: Fields = {}

/** Returns the message that a JSON value is; null: it is none. */
export function readMessage(value: unknown): RpcMessage | null {
  if (!isFields(value) || value['jsonrpc'] !== '2.0') return null
  const { id, method, params } = value
  if (method === undefined) return readAnswer(value)
  if (typeof method !== 'string' || method === '' || !(params === undefined || isFields(params))) return null
  const call = { method, params: params ?? noParams }
  if (id === undefined) return { kind: 'notification', ...call }
  return isId(id) ? { kind: 'request', id, ...call } : null
}

export const isId = (value: unknown): value is RpcId => typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))

function readAnswer(value: Fields): RpcMessage | null {
  const { id = null, result, error } = value
  if (id !== null && !isId(id)) return null
  if (isFields(result)) return error === undefined && id !== null ? { kind: 'answer', id, answer: { result } } : null
  return isFields(error) ? { kind: 'answer', id, answer: { error: readError(error) } } : null
}

function readError({ code, message, data }: Fields): RpcError {
  return {
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : rpcCodes.internal,
    message: typeof message === 'string' ? message : 'The server gave no reason.',
    ...(data !== undefined && { data }),
  }
}

/** The codes of errors, by JSON-RPC and by MCP. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Of this gateway: `data.code` gives the reason. */
  refused: -32000,
  timeout: -32001,
  /** Of legacy servers; since 2026-07-28 it is `invalidParams`. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  /** From 2025-11-25 to before 2026-07-28: the person has to open an address first. */
  urlNeeded: -32042,
  unsupportedVersion: -32022,
} as const

/** Write messages, with all digits of the numbers within them. */
export const answerText = (id: RpcId | null, answer: RpcAnswer): string => exactJson({ jsonrpc: '2.0', id, ...answer })
export const callText = ({ method, params }: RpcCall): string => exactJson({ jsonrpc: '2.0', method, params })
export const requestText = (id: RpcId, { method, params }: RpcCall): string => exactJson({ jsonrpc: '2.0', id, method, params })
