import { type ApiError, toApiError } from '../../../lib/errors.ts'
import { type RpcAnswer, type RpcError, rpcCodes } from './messages.ts'

/** The end of a message that the gateway refuses, as HTTP and as JSON-RPC state it. */
export class McpFault extends Error {
  readonly status: number
  readonly error: RpcError
  /** The code of the log. */
  readonly code: string
  /** The error of ours that it is; null: one of the protocol. */
  override readonly cause: ApiError | null

  constructor({ status, error, code, cause = null }: FaultParts) {
    super(error.message)
    this.name = 'McpFault'
    this.status = status
    this.error = error
    this.code = code
    this.cause = cause
  }
}

interface FaultParts {
  readonly status: number
  readonly error: RpcError
  readonly code: string
  readonly cause?: ApiError | null
}

/** The refusals of the protocol itself. */
const named = {
  parse: [400, rpcCodes.parse],
  invalidRequest: [400, rpcCodes.invalidRequest],
  methodNotFound: [404, rpcCodes.methodNotFound],
  invalidParams: [400, rpcCodes.invalidParams],
  /** A fault of the parameters that is no fault of the message. */
  refusedParams: [200, rpcCodes.invalidParams],
  headerMismatch: [400, rpcCodes.headerMismatch],
  missingCapability: [400, rpcCodes.missingCapability],
  unsupportedVersion: [400, rpcCodes.unsupportedVersion],
} as const satisfies Readonly<Record<string, readonly [status: number, code: number]>>

const logCodes = {
  parse: 'invalid_request',
  invalidRequest: 'invalid_request',
  methodNotFound: 'not_found',
  invalidParams: 'invalid_request',
  refusedParams: 'forbidden',
  headerMismatch: 'invalid_request',
  missingCapability: 'invalid_request',
  unsupportedVersion: 'invalid_request',
} as const satisfies Readonly<Record<keyof typeof named, string>>

/** Returns a refusal of the protocol itself. */
export function mcpFault(kind: keyof typeof named, message: string, data?: unknown): McpFault {
  const [status, code] = named[kind]
  return new McpFault({ status, error: { code, message, ...(data !== undefined && { data }) }, code: logCodes[kind] })
}

/** Returns one of our own errors as JSON-RPC has it, with our code in its data. */
export function rpcErrorOf(error: ApiError): RpcError {
  const { code: reason, param, details } = error
  const code = reason === 'upstream_timeout' ? rpcCodes.timeout : rpcCodes.refused
  return { code, message: error.message, data: { code: reason, ...(param !== null && { param }), ...details } }
}

/** Returns any thrown value as a refusal. */
export function toFault(thrown: unknown): McpFault {
  if (thrown instanceof McpFault) return thrown
  const error = toApiError(thrown)
  // The sign-in that is missing is one at the server, and no fault of the request.
  const status = error.code === 'authorization_required' ? 200 : error.status
  return new McpFault({ status, error: rpcErrorOf(error), code: error.code, cause: error })
}

/** The code of the log for an error that the other side gave. */
export const toldCode = 'mcp_error'

/** Returns the error that a server gave, or a client in answer to a question. */
export const toldFault = (error: RpcError): McpFault => new McpFault({ status: 200, error, code: toldCode })

/** Throws the error of an answer, else returns its result. */
export function resultOf(answer: RpcAnswer): Extract<RpcAnswer, { result: unknown }>['result'] {
  if ('result' in answer) return answer.result
  throw toldFault(answer.error)
}
