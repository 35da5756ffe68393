import { createHash } from 'node:crypto'

const hash = (text: string, digits: number): string => createHash('sha256').update(text).digest('hex').slice(0, digits)

/** The span id of a request that was given none: the random half of its id. */
export const spanIdOf = (requestId: string): string => requestId.replaceAll('-', '').slice(16)

/** The span id of an attempt. `index` counts the attempts of a request from 0. */
export const attemptSpanId = (requestId: string, index: number): string => hash(`${requestId} ${index}`, 16)

/** Returns an id of so many hexadecimal digits: the given one in lower case where it is one, a UUID without its dashes, else a digest of it. */
export function hexId(given: string, digits: 16 | 32): string {
  const plain = given.replaceAll('-', '').toLowerCase()
  return plain.length === digits && /^[0-9a-f]+$/.test(plain) && !/^0+$/.test(plain) ? plain : hash(given, digits)
}
