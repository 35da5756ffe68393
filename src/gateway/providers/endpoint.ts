import { ApiError } from '../../lib/errors.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { MatchedOperation } from '../operations/match.ts'
import type { Auth, Offer, Provider, NativeOperation, Variant } from './provider.ts'
import { fillTemplate } from './template.ts'

type Fields = Readonly<Record<string, string>>

/** A credential's fields over the provider's defaults: the values that fill templates. */
export function withDefaults(provider: Provider, fields: Fields): Fields {
  if (provider.fields === undefined) return fields
  const merged: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(provider.fields)) if (value !== null) merged[name] = value
  for (const [name, value] of Object.entries(fields)) if (value !== '') merged[name] = value
  addFollowing(merged, provider)
  return merged
}

/** Adds the fields that follow from others. */
function addFollowing(merged: Record<string, string>, provider: Provider): void {
  for (const [name, [document, member]] of Object.entries(provider.fieldsWithin ?? {}))
    if ((merged[name] ?? '') === '') merged[name] = memberOf(merged[document] ?? '', member)
  for (const [name, make] of Object.entries(provider.madeFields ?? {})) merged[name] = make(merged)
}

/** A text in a JSON document; empty when there is none. */
function memberOf(document: string, member: string): string {
  if (document === '') return ''
  try {
    const value: unknown = Reflect.get(Object(JSON.parse(document)), member)
    return typeof value === 'string' ? value : ''
  } catch {
    // The signer that uses the document reports its fault.
    return ''
  }
}

/** The provider's base URL for these fields; null when it has no host of its own and a custom host is needed. */
export function baseUrlOf(provider: Provider, fields: Fields): string | null {
  const { baseUrl } = addressOf(provider, fields)
  return baseUrl === null ? null : fillTemplate(baseUrl, fields)
}

/** Returns how a provider wants to be convinced at a path. */
export const authFor = ({ auth, authAt }: Provider, path: string): Auth => (authAt?.[0].test(path) === true ? authAt[1] : auth)

/** Returns how a provider serves an operation at the address that these fields lead to; null: it does not speak it. */
export function spokenAt(provider: Provider, operation: MatchedOperation['name'], fields: Fields = {}): NativeOperation | null {
  for (const spoken of addressOf(provider, fields).speaks) if (spoken.operation === operation) return spoken
  return null
}

/** APIs that have paths like ours only where they serve them; a path of any other may well be its own. */
const foreignApis = new Set<string>(['google', 'vertex', 'bedrock', 'cohere', 'oracle'])

/** docs.anthropic.com/en/api: files alone stand at the same paths as OpenAI's; its batches are below the messages. */
const sharedWithAnthropic = /^\/files(?:\/|$)/

/** A path of ours, by the API to which it belongs. */
export interface AskedByPath {
  readonly dialect: DialectId
  /** Below the version: `/batches/{batch_id}`. */
  readonly path: string
  /** True if the host is the caller's or the operator's own, which is not in the catalogue. */
  readonly atOwnHost: boolean
}

/**
 * Returns true if the provider has no path like ours. At its own host a row lists all of OpenAI's paths that a provider has. A provider of another
 * dialect may have files and batches of its own at the same paths, and no others. For custom hosts this is unknown, unless the provider has an API of
 * its own.
 */
export function lacksPath({ api, offers, openHosts }: Provider, { dialect, path, atOwnHost }: AskedByPath): boolean {
  if (foreignApis.has(api)) return true
  if (api === 'anthropic' && dialect === 'openai-platform') return !sharedWithAnthropic.test(path)
  if (api === 'openai') return !atOwnHost
  return dialect !== 'openai-platform' && (api === 'anthropic' || !atOwnHost || (offers !== undefined && openHosts !== true))
}

/** Returns true if it is a field of the credential that names the host. */
export const isAtGivenHost = (provider: Provider, fields: Fields): boolean => addressOf(provider, fields).baseUrl?.startsWith('{') === true

/** Returns true if a provider's operation serves a model. */
export const serves = ({ except }: NativeOperation, model: string | null): boolean =>
  except === undefined || model === null || !except.test(model)

/** Returns all that a provider serves without translation at the address to which these fields lead. */
export const spokenHere = (provider: Provider, fields: Fields): readonly NativeOperation[] => addressOf(provider, fields).speaks

/** Returns the offers of a provider in formats of its own at the address to which these fields lead. */
export const offeredHere = (provider: Provider, fields: Fields = {}): readonly Offer[] =>
  addressOf(provider, fields).offers ?? provider.offers ?? []

/**
 * A base path and an operation's path as one. `^/path` leaves the base path out, `~/path` a version at its end. Where both carry a
 * version (a custom host given as `http://host/v1`), it is that of the path.
 */
export function joinPath(basePath: string, path: string): string {
  if (path.startsWith('^')) return path.slice(1)
  if (path.startsWith('~')) return withoutVersion(basePath) + path.slice(1)
  return path.startsWith('/v') && versioned.test(path) ? withoutVersion(basePath) + path : basePath + path
}

const withoutVersion = (basePath: string): string => basePath.replace(/\/v\d[^/]*$/, '')

const versioned = /^\/v\d[^/]*\//

/** Headers that the provider wants, flat. `set` replaces the caller's own of the same name, `unlessSent` gives way to them. */
export interface ProviderHeaders {
  readonly set: readonly string[]
  readonly unlessSent: readonly string[]
}

/** The provider's own headers, and the credential fields that travel as headers. */
export function providerHeaders(provider: Provider, fields: Fields): ProviderHeaders {
  if (provider.headers === undefined && provider.fieldHeaders === undefined) return none
  const set = Object.entries(provider.fieldHeaders ?? {}).flatMap(([field, name]) => {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined
    return value === undefined || value === '' ? [] : [name, headerText(field, value)]
  })
  return { set, unlessSent: Object.entries(provider.headers ?? {}).flat() }
}

const none: ProviderHeaders = { set: [], unlessSent: [] }

function headerText(field: string, value: string): string {
  if (/^[\t\x20-\x7e]+$/.test(value)) return value
  throw new ApiError('invalid_request', `The value of ${field} cannot be sent as a header.`, { param: field })
}

function addressOf(provider: Provider, fields: Fields): Pick<Variant, 'baseUrl' | 'speaks' | 'offers'> {
  const variant = provider.variants?.find(({ field, value }) => {
    const given = Object.hasOwn(fields, field) ? (fields[field] ?? '') : ''
    return value === undefined ? given !== '' : given === value
  })
  return variant ?? provider
}
