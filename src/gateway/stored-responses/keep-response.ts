import type { RelayEnd } from '../answers/relay.ts'
import type { Attempt } from '../attempts/attempt.ts'
import type { Call } from '../call.ts'
import { isOwnResponseId } from '../dialects/openai-responses/response-id.ts'
import { toApiError, type ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { itemsOf, toKeptItems } from './input-items.ts'
import { ownerOf } from './response-readers.ts'
import type { ResponseStore } from './response-store.ts'

interface KeepOptions {
  readonly end: RelayEnd & { readonly kind: 'relayed' }
  readonly responses: ResponseStore
  readonly report: (error: ApiError, requestId: string) => void
}

/**
 * Keeps the response that a caller gets, before its last byte goes out: a caller that has read it whole can continue it in every process, also if
 * this one dies. Null: there is none to keep. A response that cannot be kept is reported, and answered all the same. Never rejects.
 */
export function keepResponse(call: Call, attempt: Attempt | null, { end, responses, report }: KeepOptions): Promise<void> | null {
  const heard = attempt?.heard ?? null
  if (attempt === null || heard === null) return null
  const { outcome, status } = end.result
  const response = outcome === 'complete' && status < 300 ? heard.response() : null
  if (response === null) return null
  const id = String(response['id'])
  if (!isOwnResponseId(id)) return null
  const asked = isFields(attempt.body?.json) ? attempt.body.json['input'] : null
  const stored = { response, input: toKeptItems(itemsOf(asked), id) }
  return responses.put(id, ownerOf(call.caller.key), stored).catch((thrown: unknown) => report(toApiError(thrown), call.exchange.requestId))
}
