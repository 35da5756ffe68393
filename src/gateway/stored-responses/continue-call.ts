import { exactJson } from '../../lib/json/exact-json.ts'
import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Call } from '../call.ts'
import { isOwnResponseId, previousNotFound } from '../dialects/openai-responses/response-id.ts'
import { itemsOf } from './input-items.ts'
import { readerOf } from './response-readers.ts'
import type { ResponseStore } from './response-store.ts'

/** The operations that read a conversation on from a response: to answer it, and to count it. */
const continuing: ReadonlySet<string> = new Set(['createModelResponse', 'countResponseTokens'])

/** Returns the id of a kept response that a call goes on from; null: it begins anew, or the response lives with a provider. */
export function continues({ operation, body }: Call): string | null {
  if (!continuing.has(operation.name) || !isFields(body?.json)) return null
  const id = body.json['previous_response_id']
  return typeof id === 'string' && isOwnResponseId(id) ? id : null
}

interface ContinueOptions {
  readonly store: ResponseStore
  readonly maxJsonBytes: number
}

/**
 * Returns a call with the whole conversation, in place of the id of its last response: so guardrails read all of it, and every target can go on, also
 * one that has never seen it. Instructions are not carried over.
 */
export async function continueCall(call: Call, id: string, { store, maxJsonBytes }: ContinueOptions): Promise<Call> {
  const stored = await store.get(id, readerOf(call.caller.key))
  if (stored === null) throw new ApiError('not_found', previousNotFound(id), { param: 'previous_response_id' })
  const asked: Fields = isFields(call.body?.json) ? call.body.json : {}
  const { previous_response_id: _, ...rest } = asked
  const output = itemsOf(stored.response['output'])
  const json = { ...rest, input: [...stored.input.map(unnamed), ...output.map(unnamed), ...itemsOf(asked['input'])] }
  const bytes = Buffer.from(exactJson(json))
  if (bytes.length > maxJsonBytes)
    throw new ApiError(
      'payload_too_large',
      `previous_response_id: the conversation so far and this input have ${bytes.length} bytes together, and at most ${maxJsonBytes} are sent. Begin a new conversation.`,
      { param: 'previous_response_id' },
    )
  return { ...call, body: { kind: 'json', bytes, json, stream: null, length: bytes.length }, previousResponse: id }
}

/** An id of Gatehouse means nothing to a provider. */
function unnamed(item: Fields): Fields {
  const { id: _id, status: _status, ...rest } = item
  return rest
}
