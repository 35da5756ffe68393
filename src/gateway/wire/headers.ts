import { isUtf8 } from 'node:buffer'
import { ApiError } from '../../lib/errors.ts'
import { passesToCaller, passesToProvider } from './passing-names.ts'

/** Headers in which callers may put a key, in the order in which they are tried. Each is kept from the provider when it held ours. */
export const keyHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] as const
export type KeyHeader = (typeof keyHeaders)[number]
const keyHeaderNames: ReadonlySet<string> = new Set(keyHeaders)
export const isKeyHeader = (name: string): name is KeyHeader => keyHeaderNames.has(name)

/** The prefix of our own headers. */
const ownPrefix = 'x-service-'

/** Returns the prefixes under which headers are ours: `x-service-`, then the aliases. */
export const headerPrefixes = (aliases: readonly string[]): readonly string[] => [ownPrefix, ...aliases.map((name) => `x-${name}-`)]

/** The meaning of a header name. */
interface HeaderName {
  readonly lower: string
  readonly forProvider: boolean
  readonly forCaller: boolean
  readonly credential: boolean
  readonly key: KeyHeader | null
  /** True when it may be one of ours, or of an alias. */
  readonly extension: boolean
  /** The aspect of the body that it describes, by which the body is read. */
  readonly ofBody: 'type' | 'encoding' | null
}

/** In doubt a header is one: `modal-key`, `ocp-apim-subscription-key`, `x-amz-security-token`, `x-auth`. Numbers of tokens are not. */
const credentialHeader =
  /token(?!s)|secret|passw|cookie|credential|signature|assertion|jwt|auth(?!ors?$)|api[-_]?key|(?<!idempotency)[-_]key$|^key$/

const ofBody = (name: string): HeaderName['ofBody'] => (name === 'content-type' ? 'type' : name === 'content-encoding' ? 'encoding' : null)

/** Clients send the same few names again and again: each is looked at once. Bounded, because names come from outside. */
const names = new Map<string, HeaderName>()
const maxNames = 4096
/** A longer name is not kept: strangers could fill the memory with such. */
const longestKeptName = 64

function headerName(raw: string): HeaderName {
  const held = names.get(raw)
  if (held !== undefined) return held
  const lower = raw.toLowerCase()
  const name = {
    lower,
    forProvider: passesToProvider(lower),
    forCaller: passesToCaller(lower),
    credential: credentialHeader.test(lower),
    key: isKeyHeader(lower) ? lower : null,
    extension: lower.startsWith('x-'),
    ofBody: ofBody(lower),
  }
  if (names.size < maxNames && raw.length <= longestKeptName) names.set(raw, name)
  return name
}

/** A caller's headers, sorted once: ours by short name, credentials, and those that may go on to the provider. */
export interface CallerHeaders {
  /** `x-service-*` without the prefix, lower case. */
  readonly service: ReadonlyMap<string, string>
  /** The prefix in which the caller speaks, `x-service-` or an alias; answers use it too. */
  readonly prefix: string
  readonly keys: Readonly<Partial<Record<KeyHeader, string>>>
  /** Flat name, value … as received, without credentials and without headers that are not for a provider. */
  readonly forward: readonly string[]
  readonly contentType: string
  /** The codings by which the bytes of the body must be unfolded before they can be read; empty for those that are as they are (`identity`). */
  readonly contentEncoding: string
}

/**
 * Sorts raw headers in one pass. `prefixes`: `x-service-` first, then the aliases; where both name one header, the first wins.
 * Throws `invalid_request` when one of ours or a credential comes twice with different values, or the type of the body twice: which one
 * was meant cannot be known, and another hop may read the other of the two.
 */
export function sortHeaders(raw: readonly string[], prefixes: readonly string[]): CallerHeaders {
  const [canonical = ownPrefix] = prefixes
  const sorted: SortedHeaders = {
    service: new Map(),
    aliased: null,
    keys: {},
    // Cut to the headers that go on.
    forward: raw.slice(),
    prefix: canonical,
    contentType: '',
    contentEncoding: '',
    typed: false,
  }
  const dropped = connectionTokens(raw)
  let end = 0
  for (let i = 0; i < raw.length; i += 2) {
    const original = raw[i] ?? ''
    const value = raw[i + 1] ?? ''
    const name = headerName(original)
    const own = name.extension ? prefixOf(name.lower, prefixes) : undefined
    if (own !== undefined) {
      takeOwn(sorted, own, { name: name.lower.slice(own.length), value, canonical: own === canonical })
    } else if (name.key !== null) takeKey(sorted, name.key, value)
    else if (name.forProvider && !dropped.has(name.lower)) {
      sorted.forward[end++] = original
      sorted.forward[end++] = value
      if (name.ofBody !== null) noteBody(sorted, name.ofBody, value)
    }
  }
  sorted.forward.length = end
  if (sorted.aliased !== null) addMissing(sorted.service, sorted.aliased)
  return sorted
}

/** Returns the prefix of ours that a name has. Apart from the loops that call it: their captured variables would cost an object for each header. */
const prefixOf = (lower: string, prefixes: readonly string[]): string | undefined => prefixes.find((prefix) => lower.startsWith(prefix))

interface SortedHeaders extends CallerHeaders {
  readonly service: Map<string, string>
  aliased: Map<string, string> | null
  readonly keys: Partial<Record<KeyHeader, string>>
  readonly forward: string[]
  prefix: string
  contentType: string
  contentEncoding: string
  typed: boolean
}

function takeKey({ keys }: SortedHeaders, name: KeyHeader, value: string): void {
  const held = keys[name]
  if (held !== undefined && held !== value)
    throw new ApiError('invalid_request', `The header ${name} was sent twice with different values. Send one.`, { param: name })
  keys[name] = value
}

function noteBody(sorted: SortedHeaders, what: 'type' | 'encoding', value: string): void {
  if (what === 'type') noteType(sorted, value)
  else if (value.toLowerCase() !== 'identity') sorted.contentEncoding = value
}

function noteType(sorted: SortedHeaders, value: string): void {
  if (sorted.typed || (value.includes(',') && namesSecondType(value)))
    throw new ApiError('invalid_request', 'The body has more than one content-type. Send one.', { param: 'content-type' })
  sorted.typed = true
  sorted.contentType = value
}

/** A hop may have joined two headers by a comma; one in quotes belongs to a parameter. */
const namesSecondType = (value: string): boolean => /,\s*[\w!#$&^.+-]+\//.test(value.replaceAll(/"[^"]*"/g, ''))

function addMissing(named: Map<string, string>, others: ReadonlyMap<string, string>): void {
  for (const [name, value] of others) if (!named.has(name)) named.set(name, value)
}

function takeOwn(sorted: SortedHeaders, prefix: string, own: { name: string; value: string; canonical: boolean }): void {
  if (!own.canonical) sorted.prefix = prefix
  setOwn(own.canonical ? sorted.service : (sorted.aliased ??= new Map()), own.name, own.value)
}

function setOwn(named: Map<string, string>, name: string, value: string): void {
  const held = named.get(name)
  if (held !== undefined && held !== value)
    throw new ApiError('invalid_request', `The header x-service-${name} was sent twice with different values.`, {
      param: `x-service-${name}`,
    })
  named.set(name, value)
}

/** Names that a `Connection` header declares to be for this hop only. */
function connectionTokens(raw: readonly string[]): ReadonlySet<string> {
  let tokens: Set<string> | undefined
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length !== 10 || raw[i]?.toLowerCase() !== 'connection') continue
    const value = raw[i + 1] ?? ''
    if (value === 'keep-alive' || value === 'close') continue
    tokens ??= new Set()
    addTokens(tokens, value)
  }
  return tokens ?? none
}

const none: ReadonlySet<string> = new Set()

/** Adds the names that a peer declares; those that describe the bytes stay with them, even if declared. */
function addTokens(tokens: Set<string>, value: string): void {
  for (const token of value.toLowerCase().split(',')) if (!token.trim().startsWith('content-')) tokens.add(token.trim())
}

/** The provider's headers as they go to the caller: as received, without those about the other hop, or in our name (`prefixes`). */
export function answerHeaders(raw: readonly string[], prefixes: readonly string[]): string[] {
  // A copy that is cut: nearly all stay, and a list that grows is copied again and again.
  const headers = raw.slice()
  let end = 0
  const dropped = connectionTokens(raw)
  for (let i = 0; i < raw.length; i += 2) {
    const original = raw[i] ?? ''
    const name = headerName(original)
    const inOurName = name.extension && prefixOf(name.lower, prefixes) !== undefined
    if (!name.forCaller || inOurName || dropped.has(name.lower)) continue
    headers[end++] = original
    headers[end++] = raw[i + 1] ?? ''
  }
  headers.length = end
  return headers
}

/** Trailers as they go to the caller: headers that frame a message or restrict its readers mean nothing at its end (RFC 9110 section 6.5.1). */
export function answerTrailers(raw: readonly string[], prefixes: readonly string[]): [string, string][] {
  const kept = answerHeaders(raw, prefixes)
  const pairs: [string, string][] = []
  for (let i = 0; i < kept.length; i += 2) {
    const name = kept[i] ?? ''
    if (!notInTrailers.test(name)) pairs.push([name, kept[i + 1] ?? ''])
  }
  return pairs
}

const notInTrailers =
  /^(?:content-(?:length|encoding|type|range|security-policy)|trailer|location|www-authenticate|cache-control|x-content-type-options|access-control-.*)$/i

/** Returns the text of a header value: on the wire it is latin1, and clients put UTF-8 into it. */
export function valueText(value: string): string {
  if (!beyondAscii.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

/** A text as a header value, in the bytes of UTF-8. */
export const textValue = (text: string): string => (beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text)

const beyondAscii = /[\u0080-\uffff]/

/** Gives the value of a header as a log may show it. */
export interface ShownValues {
  value(name: string, value: string): string
}

const asItIs: ShownValues = { value: (_, value) => value }

/**
 * Returns a flat list as a record for the log, credentials replaced, and the other values as `shown` gives them. Repeated names are joined by
 * a comma. `record`: the record to which they are added.
 */
export function loggedHeaders(
  raw: readonly string[],
  shown: ShownValues = asItIs,
  // One without a prototype would take twice the time to make and to write as JSON.
  record: Record<string, string> = {},
): Record<string, string> {
  for (let i = 0; i < raw.length; i += 2) {
    const { lower, credential } = headerName(raw[i] ?? '')
    const value = credential ? '[removed]' : shown.value(lower, raw[i + 1] ?? '')
    const held: unknown = record[lower]
    set(record, lower, typeof held === 'string' ? `${held}, ${value}` : value)
  }
  return record
}

function set(record: Record<string, string>, name: string, value: string): void {
  if (name !== '__proto__') record[name] = value
  else Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Returns whether a header of this name may hold a credential. */
export const isCredentialHeader = (name: string): boolean => headerName(name).credential
