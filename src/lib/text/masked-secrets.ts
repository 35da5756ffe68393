import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../errors.ts'
import { valueAt, type JsonPath } from '../json/json-path.ts'

/** The text shown in place of a secret. A caller who sends it back keeps the stored secret. */
export const maskText = '********'

/** The place of a secret in a document. */
export interface SecretPlace {
  readonly path: JsonPath
  /** The part of the document that decides where the secret is sent. If it changes, a mask no longer stands for the stored secret. */
  readonly goesTo: unknown
  /** Masks the secret part of the text. Absent: the whole text is secret. */
  readonly mask?: (text: string) => string
}

export type FindSecrets = (document: unknown) => readonly SecretPlace[]

/** A copy in which every secret is masked. */
export function maskSecrets(document: unknown, find: FindSecrets): unknown {
  const masked: unknown = structuredClone(document)
  for (const place of find(document)) put(masked, place.path, maskOf(place, valueAt(document, place.path)))
  return masked
}

const maskOf = ({ mask }: SecretPlace, value: unknown): string => (mask === undefined ? maskText : mask(String(value)))

/** A URL with the values of its query masked: some services take their tokens there. */
export const maskQuery = (url: string): string => {
  const [address = '', ...query] = url.split('?')
  return query.length === 0 ? url : `${address}?${query.join('?').replaceAll(/(^|&)([^=&]*=)?[^&]+/g, `$1$2${maskText}`)}`
}

/** A masked secret that cannot be put back. */
export interface RestoreFault {
  readonly path: JsonPath
  readonly reason: 'unknown' | 'moved'
}

/** Returns the refusal of a mask at a field; `moved`: the stored secret would be sent elsewhere. */
export function maskFault(param: string, reason: RestoreFault['reason'], moved: string): ApiError {
  const why = reason === 'unknown' ? `holds only the mask ${maskText}, and there is no stored value that it could stand for` : moved
  return new ApiError('AB01', `${param} ${why}. Give the value itself.`, { param })
}

/**
 * A copy in which every mask is the stored secret again, at the same path and with the same way to go: a caller that cannot read a secret must not be able to send it elsewhere. The first one that cannot be put back is returned instead.
 */
export function restoreSecrets(
  document: unknown,
  stored: unknown,
  find: FindSecrets,
): { readonly restored: unknown } | { readonly fault: RestoreFault } {
  const restored: unknown = structuredClone(document)
  const known = new Map(find(stored).map((place) => [JSON.stringify(place.path), place]))
  for (const place of find(document)) {
    const { path, goesTo } = place
    const given = valueAt(document, path)
    if (!isMasked(place, given)) continue
    const before = known.get(JSON.stringify(path))
    if (before === undefined) return { fault: { path, reason: 'unknown' } }
    if (!isDeepStrictEqual(before.goesTo, goesTo) || maskOf(before, valueAt(stored, path)) !== given)
      return { fault: { path, reason: 'moved' } }
    put(restored, path, valueAt(stored, path))
  }
  return { restored }
}

/** Returns true if a given value is a mask, or contains one. */
const isMasked = ({ mask }: SecretPlace, given: unknown): boolean =>
  mask === undefined ? given === maskText : typeof given === 'string' && given.includes(maskText)

function put(document: unknown, path: JsonPath, value: unknown): void {
  const parent = valueAt(document, path.slice(0, -1))
  const last = path.at(-1)
  if (typeof parent === 'object' && parent !== null && last !== undefined)
    Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true })
}
