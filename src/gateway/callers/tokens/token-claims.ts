import { z } from 'zod'
import { isUuid } from '../../../lib/is-uuid.ts'
import { metadataField } from '../../../lib/metadata.ts'
import { tokenLimits, type TokenLimits } from './token-limits.ts'
import { isStorable, textField } from '../../../lib/text/text.ts'

/** The claims of a token whose signature was found good. Times are epoch milliseconds. */
export interface TokenClaims {
  readonly issuer: string | null
  readonly subject: string | null
  readonly audience: readonly string[]
  readonly organisation: string
  /** Slug or id. */
  readonly workspace: string
  /** The name of its holder: `email_id`, else `sub`, else `uid`. */
  readonly holder: string
  /** The address in lower case; null when the holder is no e-mail address. */
  readonly email: string | null
  /** As they were written, without the prefix of the product. */
  readonly scopes: readonly string[]
  readonly expiresAt: number
  readonly issuedAt: number | null
  readonly notBefore: number | null
  /** The config from which requests with it start. */
  readonly config: string | null
  readonly configLocked: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly limits: TokenLimits
}

type Payload = Readonly<Record<string, unknown>>

/** The words in front of our own claims and scopes: `service`, then the aliases of our headers. */
export type ClaimPrefixes = readonly string[]

/** The organisation that a token names; null for none. */
export const organisationOf = (payload: Payload, prefixes: ClaimPrefixes): string | null => {
  const name = text(payload, [...prefixes.map((prefix) => `${prefix}_oid`), 'organisation_id'])
  return name !== null && isUuid(name) ? name.toLowerCase() : null
}

/** Reads the claims of a token; a text names the missing or wrong one. */
export function readClaims(payload: Payload, prefixes: ClaimPrefixes): TokenClaims | string {
  const organisation = organisationOf(payload, prefixes)
  const workspace = text(payload, [...prefixes.map((prefix) => `${prefix}_workspace`), 'workspace_slug'])
  const holder = text(payload, ['email_id', 'sub', 'uid'])
  const scopes = scopesOf(payload, prefixes)
  const optional = optionalClaims(payload)
  if (organisation === null) return 'The claim organisation_id is missing, or is no UUID.'
  if (workspace === null) return 'The claim workspace_slug is missing.'
  if (isUnverified(payload)) return 'The claim email_verified is false, so that email_id says nothing.'
  if (holder === null) return 'The token names no person: it has none of the claims email_id, sub, uid.'
  if (scopes === null) return 'The claim scope is neither a text nor a list of texts.'
  if (typeof optional === 'string') return optional
  const expiresAt = milliseconds(payload['exp'])
  if (expiresAt === null) return 'The claim exp is missing.'
  return {
    issuer: text(payload, ['iss']),
    subject: text(payload, ['sub']),
    audience: [payload['aud']].flat().filter((value) => typeof value === 'string'),
    organisation,
    workspace,
    holder,
    email: holder.includes('@') ? holder.toLowerCase() : null,
    scopes,
    expiresAt,
    issuedAt: milliseconds(payload['iat']),
    notBefore: milliseconds(payload['nbf']),
    ...optional,
  }
}

type OptionalClaims = Pick<TokenClaims, 'config' | 'configLocked' | 'metadata' | 'limits'>

/** The optional claims of a token; a text names the wrong one. */
function optionalClaims(payload: Payload): OptionalClaims | string {
  const read = optionalFields.safeParse(payload)
  if (!read.success) {
    const [issue] = read.error.issues
    return `The claim ${issue?.path.join('.') ?? ''} is not valid: ${issue?.message ?? ''}`
  }
  const { defaults, rate_limits: rate, usage_limits: usage } = read.data
  return {
    config: defaults.config_id,
    configLocked: !defaults.allow_config_override,
    metadata: defaults.metadata,
    limits: { rate, usage },
  }
}

const isUnverified = (payload: Payload): boolean => payload['email_verified'] === false && payload['email_id'] !== undefined

const tokenDefaults = z.object({
  config_id: textField(255).min(1).nullable().default(null),
  allow_config_override: z.boolean().default(true),
  metadata: metadataField.default({}),
})

const optionalFields = z.object({
  defaults: tokenDefaults
    .nullable()
    .default(null)
    .transform((given) => given ?? tokenDefaults.parse({})),
  ...tokenLimits,
})

const milliseconds = (seconds: unknown): number | null => (typeof seconds === 'number' ? seconds * 1000 : null)

const longestText = 320

/** The first of these claims that is there. */
function text(payload: Payload, names: readonly string[]): string | null {
  const value = names.map((name) => (Object.hasOwn(payload, name) ? payload[name] : undefined)).find((found) => found !== undefined)
  return typeof value === 'string' && value !== '' && value.length <= longestText && isStorable(value) ? value : null
}

/** `scope`, else `scopes`, as words or as a list. */
function scopesOf(payload: Payload, prefixes: ClaimPrefixes): readonly string[] | null {
  const written = payload['scope'] ?? payload['scopes'] ?? []
  const words: readonly unknown[] | null = typeof written === 'string' ? written.split(/[\s,]+/) : Array.isArray(written) ? written : null
  if (words === null || !words.every((word) => typeof word === 'string')) return null
  return [...new Set(words.filter((word) => word !== '').map((word) => withoutPrefix(word, prefixes)))]
}

const withoutPrefix = (scope: string, prefixes: ClaimPrefixes): string => {
  const prefix = prefixes.find((word) => scope.startsWith(`${word}.`))
  return prefix === undefined ? scope : scope.slice(prefix.length + 1)
}
