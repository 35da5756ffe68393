import { keyedId } from '../../../lib/keyed-id.ts'
import { oneLine } from '../../../lib/text/one-line.ts'
import { hashedId } from '../tool-calls.ts'

/** Stands at the front of the ids of responses that Gatehouse made. No provider's id begins like it: theirs go on with hexadecimal digits. */
const front = 'resp_gw'
const form = /^resp_gw[0-9A-Za-z]{32}$/

/** Returns the id of the response to a request: all events of an answer have the same, and it does not reveal the id of the request. */
export const responseId = (requestId: string): string => front + keyedId(requestId, 32)

/** Returns the id that earlier releases gave the response to a request. */
export const formerResponseId = (requestId: string): string => front + hashedId(requestId, 32)

/** Returns true if Gatehouse made the response, so that it alone can have kept it; any other lives with its provider. */
export const isOwnResponseId = (id: string): boolean => form.test(id)

/** Returns the error of OpenAI's API for an unknown `previous_response_id`, with the remedy. */
export const previousNotFound = (id: string): string =>
  `Previous response with id '${oneLine(id, longestShown)}' not found. Send the conversation as items of input instead.`

/** More than any id has that a provider gives. */
const longestShown = 200
