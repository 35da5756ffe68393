import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import type { CallHead } from '../call.ts'
import { isOwnResponseId } from '../dialects/openai-responses/response-id.ts'
import { inputItemsQuery, responseQuery } from '../bounds/queries.ts'
import { readQuery } from '../bounds/validate.ts'
import { type ItemPage, pageOf, presentItem } from './input-items.ts'
import { readerOf } from './response-readers.ts'
import type { ResponseStore, StoredResponse } from './response-store.ts'

const operations: ReadonlySet<string> = new Set([
  'getModelResponse',
  'deleteModelResponse',
  'cancelModelResponse',
  'listResponseInputItems',
])

/** Returns the id of a response that Gatehouse itself has kept, and is asked for; null: the request is another, or one for a provider. */
export function ownResponseAsked({ operation: { name, params } }: CallHead): string | null {
  if (!operations.has(name)) return null
  const id = decodeSegment(params['response_id'] ?? '')
  return isOwnResponseId(id) ? id : null
}

/** Answers a request for a kept response. Throws `not_found` when there is none of this id for the caller. */
export async function ownResponse(store: ResponseStore, head: CallHead, id: string): Promise<object> {
  const reader = readerOf(head.caller.key)
  const search = head.path.split('?', 2)[1] ?? ''
  if (head.operation.name === 'deleteModelResponse') {
    if (!(await store.remove(id, reader))) throw gone(id)
    return { id, object: 'response', deleted: true }
  }
  if (new URLSearchParams(search).get('stream') === 'true')
    throw new ApiError(
      'invalid_request',
      'stream: only responses that run in the background can be streamed again, and this one did not.',
      {
        param: 'stream',
      },
    )
  const stored = await store.get(id, reader)
  if (stored === null) throw gone(id)
  // OpenAI's own words for a response that did not run in the background, as none of Gatehouse's does.
  if (head.operation.name === 'cancelModelResponse')
    throw new ApiError('invalid_request', 'Cannot cancel a synchronous response.', { param: 'response_id' })
  return head.operation.name === 'getModelResponse' ? whole(stored, search) : page(stored, search)
}

function whole({ response }: StoredResponse, search: string): object {
  const include = new Set<string>(readQuery(responseQuery, search).include)
  const output = Array.isArray(response['output']) ? response['output'] : []
  return { ...response, output: output.map((item: unknown) => (isFields(item) ? presentItem(item, include) : item)) }
}

function page({ input }: StoredResponse, search: string): object {
  const { limit = 20, order = 'desc', after = null, before = null, include: named } = readQuery(inputItemsQuery, search)
  const include = new Set<string>(named)
  const asked: ItemPage = { limit, order, after, before }
  const found = pageOf(
    input.map((item) => presentItem(item, include)),
    asked,
  )
  if (found !== null) return found
  const param = after === null ? 'before' : 'after'
  throw new ApiError('invalid_request', `${param} names no input item of this response.`, { param })
}

const gone = (id: string): ApiError =>
  new ApiError(
    'not_found',
    `Response with id '${id}' not found: it was deleted, its time is over, it was made with "store": false, or it belongs to another workspace, or to another key whose logs this one may not view.`,
    { param: 'response_id' },
  )
