import type { z } from 'zod'
import type { JsonPath } from '../../lib/json/json-path.ts'
import { formsAt, isSecretForm, secretPathsIn, type Forms } from '../../lib/json/secret-fields.ts'
import { Secret } from '../../lib/secret.ts'
import { scrubSecrets } from '../../lib/text/secret-shapes.ts'
import { isStorable } from '../../lib/text/text.ts'
import { isSecretName, privateParts, requestItself } from '../../lib/text/secret-names.ts'
import type { Vault } from '../secrets/vault.ts'

/** Replaces a secret in a text that is kept. */
export type Replace = (secret: string) => string

/** Returns the trail's replacement of a secret: a keyed hash, which shows that two were the same and no more. */
export const hashing =
  (vault: Pick<Vault, 'hashKey'>): Replace =>
  (secret) =>
    `hmac:${vault.hashKey(`audit:${secret}`).toString('hex')}`

/** Returns the place of a request as a whole: without codes that serve once, too. */
export const requestPlace = (schema: z.core.$ZodType | undefined): Place => ({
  secret: false,
  list: requestItself,
  forms: schema === undefined ? [] : [schema],
})

/** The place of a value. */
export interface Place {
  /** True if it is below a field that may hold a secret. */
  readonly secret: boolean
  /** The name of the list that contains it. */
  readonly list?: string
  /** The schemas that it may have. */
  readonly forms?: Forms
  /** The paths of secrets within it that a schema above it has found. */
  readonly paths?: readonly JsonPath[]
}

/**
 * Returns the value with every secret replaced: those that its schemas mark, and texts that may be one by the name of a field above it or by their
 * own shape.
 */
export function withoutSecrets(value: unknown, replace: Replace, place: Place = { secret: false }): unknown {
  if (value instanceof Secret) return hidden(value.reveal(), replace)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return replace(Buffer.from(value).toString('base64'))
  if (typeof value === 'object' && value !== null) return withoutSecretMembers(value, replace, place)
  if (typeof value === 'string') return place.secret ? hidden(value, replace) : withoutSecretParts(value, replace)
  return place.secret && typeof value === 'number' ? replace(String(value)) : value
}

function withoutSecretMembers(value: object, replace: Replace, place: Place): unknown {
  const below = byFirstStep(pathsIn(place, value))
  if (Array.isArray(value)) return value.map((item, at) => withoutSecrets(item, replace, memberPlace(place, at, below.get(at))))
  const parts = privateParts(value)
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => {
      const at = memberPlace(place, name, below.get(name))
      return [storable(name), withoutSecrets(child, replace, { ...at, secret: at.secret || parts.has(name) })]
    }),
  )
}

/** Returns the place of a member of a value: of a field, or of an item of a list. */
export const placeWithin = (place: Place, value: unknown, member: string | number): Place =>
  memberPlace(place, member, byFirstStep(pathsIn(place, value)).get(member))

const pathsIn = ({ forms = [], paths = [] }: Place, value: unknown): readonly JsonPath[] => [...paths, ...secretPathsIn(forms, value)]

/** Returns the rest of each path by its first step, in one walk: a list may hold very many secrets. */
function byFirstStep(paths: readonly JsonPath[]): ReadonlyMap<string | number, readonly JsonPath[]> {
  const found = new Map<string | number, JsonPath[]>()
  for (const [first, ...rest] of paths) {
    if (first === undefined) continue
    const held = found.get(first)
    if (held === undefined) found.set(first, [rest])
    else held.push(rest)
  }
  return found
}

function memberPlace({ secret, list = '', forms = [] }: Place, member: string | number, below: readonly JsonPath[] = []): Place {
  const inner = formsAt(forms, member)
  const isSecret = secret || isSecretForm(inner) || below.some(({ length }) => length === 0)
  return {
    secret: isSecret || (typeof member === 'string' && isSecretName(member, list)),
    list: typeof member === 'string' ? member : list,
    forms: inner,
    paths: below,
  }
}

/** The origin of a secret URL stays, because it shows where requests go. */
function hidden(secret: string, replace: Replace): string {
  const url = /^https?:\/\/[^/\s]+\/[^\s]/i.test(secret) ? URL.parse(secret) : null
  return url === null ? replace(secret) : `${url.origin}/${replace(secret)}`
}

const withoutSecretParts = (text: string, replace: Replace): string =>
  scrubSecrets(text) === text ? storable(withoutQuery(text, replace)) : replace(text)

/** Some services take their tokens in the query of a URL. */
const withoutQuery = (text: string, replace: Replace): string =>
  /^https?:\/\/[^?\s]*\?\S/i.test(text) ? text.replace(/\?.*$/s, (query) => `?${replace(query.slice(1))}`) : text

/** Documents such as service accounts may hold anything as JSON, and jsonb cannot: no write fails because its row of the trail would. */
const storable = (text: string): string => (isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD'))
