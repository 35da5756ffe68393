import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'

/** A longer id than any real one: those of open turns are kept. */
const longestId = 1024

/** Returns the id of the response that an event names; null: none. Throws for one that is too long. */
export function responseOf({ response, response_id: named }: Fields): string | null {
  const id = isFields(response) ? response['id'] : named
  if (typeof id !== 'string') return null
  if (id.length > longestId) throw new ApiError('upstream_bad_response', `The provider sent an id of more than ${longestId} characters.`)
  return id
}
