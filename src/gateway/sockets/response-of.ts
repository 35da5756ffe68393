import { type Fields, isFields } from '../../lib/json/fields.ts'

/** Returns the id of the response that an event names; null: none. */
export function responseOf({ response, response_id: named }: Fields): string | null {
  const id = isFields(response) ? response['id'] : named
  return typeof id === 'string' ? id : null
}
