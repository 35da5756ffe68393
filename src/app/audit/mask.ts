import { scrubSecrets } from '../../lib/text/secret-shapes.ts'
import { isStorable } from '../../lib/text/text.ts'
import { isSecretName, privateParts, requestItself } from '../secrets/secret-names.ts'
import type { Vault } from '../secrets/vault.ts'

/** A value as the trail may keep it: every secret is a keyed hash, which shows that two were the same and no more. */
export const masked = (vault: Vault, value: unknown): unknown => withoutSecrets(value, hashed(vault))

/** Returns a request as the trail may keep it: without codes that serve once, too. */
export const maskedRequest = (vault: Vault, value: unknown): unknown =>
  withoutSecrets(value, hashed(vault), { secret: false, list: requestItself })

const hashed =
  (vault: Vault) =>
  (secret: string): string =>
    `hmac:${vault.hashKey(`audit:${secret}`).toString('hex')}`

/** The place of a value: true if it is below a field that may hold a secret, and the name of the list that contains it. */
interface Place {
  readonly secret: boolean
  readonly list?: string
}

/** The value with every text that may be a secret replaced, by the name of a field above it or by its own shape. */
export function withoutSecrets(value: unknown, replace: (secret: string) => string, place: Place = { secret: false }): unknown {
  const { secret, list } = place
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return replace(Buffer.from(value).toString('base64'))
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, replace, place))
  if (typeof value === 'object' && value !== null) {
    const parts = privateParts(value)
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [
        storable(name),
        withoutSecrets(child, replace, { secret: secret || parts.has(name) || isSecretName(name, list), list: name }),
      ]),
    )
  }
  if (typeof value === 'string') return secret || scrubSecrets(value) !== value ? replace(value) : storable(withoutQuery(value, replace))
  return secret && typeof value === 'number' ? replace(String(value)) : value
}

/** Some services take their tokens in the query of a URL. */
const withoutQuery = (text: string, replace: (secret: string) => string): string =>
  /^https?:\/\/[^?\s]*\?\S/i.test(text) ? text.replace(/\?.*$/s, (query) => `?${replace(query.slice(1))}`) : text

/** Documents such as service accounts may hold anything as JSON, and jsonb cannot: no write fails because its row of the trail would. */
const storable = (text: string): string => (isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD'))
