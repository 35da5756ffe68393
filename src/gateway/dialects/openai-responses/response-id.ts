import { hashedId } from '../tool-calls.ts'

/** Stands at the front of the ids of responses that Gatehouse made. No provider's id begins like it: theirs go on with hexadecimal digits. */
const front = 'resp_gw'
const form = /^resp_gw[0-9A-Za-z]{32}$/

/** Returns the id of the response to a request. */
export const responseId = (requestId: string): string => front + hashedId(requestId, 32)

/** Returns true if Gatehouse made the response, so that it alone can have kept it; any other lives with its provider. */
export const isOwnResponseId = (id: string): boolean => form.test(id)
