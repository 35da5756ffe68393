import { ApiError } from '../../../lib/errors.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { McpFault, rpcErrorOf } from '../protocol/faults.ts'
import { type RpcAnswer, type RpcCall, rpcCodes } from '../protocol/messages.ts'
import type { LegacyClient } from './legacy-session-id.ts'

/** The name of the question with which a person is sent to a page. */
const question = 'gatehouse_connect'

/** The methods whose answer may be a question. */
const asking: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

const takesUrls = (capabilities: Fields): boolean => isFields(capabilities['elicitation']) && isFields(capabilities['elicitation']['url'])

/** Returns the address that a person has to open first; null: the fault is another one. */
function addressIn(thrown: unknown): { readonly error: ApiError; readonly url: string } | null {
  if (!(thrown instanceof ApiError) || thrown.code !== 'authorization_required') return null
  const { url } = thrown.details
  return typeof url === 'string' ? { error: thrown, url } : null
}

/** Does the work of a modern client's request. A person who has to sign in at the server first is asked to, where the client can show an address. */
export async function askingToConnect(
  { method, params }: RpcCall,
  capabilities: Fields,
  work: () => Promise<RpcAnswer>,
): Promise<RpcAnswer> {
  try {
    return await work()
  } catch (thrown) {
    const needed = addressIn(thrown)
    if (needed === null || !asking.has(method) || !takesUrls(capabilities) || isDeclined(params['inputResponses'])) throw thrown
    const asked = { mode: 'url', url: needed.url, message: needed.error.message, elicitationId: uuidv7() }
    return { result: { resultType: 'input_required', inputRequests: { [question]: { method: 'elicitation/create', params: asked } } } }
  }
}

function isDeclined(responses: unknown): boolean {
  const given = isFields(responses) ? responses[question] : undefined
  return isFields(given) && given['action'] !== 'accept'
}

/** Returns a request without the answer to our own question: it is not for the server. */
export function withoutConnected(call: RpcCall): RpcCall {
  const { inputResponses, ...rest } = call.params
  if (!isFields(inputResponses) || inputResponses[question] === undefined) return call
  const { [question]: _, ...others } = inputResponses
  return { ...call, params: Object.keys(others).length === 0 ? rest : { ...rest, inputResponses: others } }
}

/** The revisions in which a refusal sends the person to an address. */
const withUrls: ReadonlySet<string> = new Set(['2025-11-25'])

/** Returns the fault of a legacy client's request; one that can show an address gets it in the form of its revision. */
export function legacyFault(thrown: unknown, { revision, capabilities }: Pick<LegacyClient, 'revision' | 'capabilities'>): unknown {
  const needed = addressIn(thrown)
  if (needed === null || !withUrls.has(revision) || !takesUrls(capabilities)) return thrown
  const { error, url } = needed
  const elicitations = [{ mode: 'url', elicitationId: uuidv7(), url, message: error.message }]
  const told = rpcErrorOf(error)
  return new McpFault({
    status: 200,
    error: { ...told, code: rpcCodes.urlNeeded, data: { ...(isFields(told.data) ? told.data : {}), elicitations } },
    code: error.code,
    cause: error,
  })
}
