import { compress } from '../wire/encoding.ts'
import { eachHeader, headerValue } from '../wire/header-list.ts'
import { isCredentialHeader, loggedHeaders } from '../wire/headers.ts'
import type { Trail } from '../trail.ts'
import type { RelayResult } from '../answers/relay.ts'

/** A shorter one would be found in texts that do not mean it. */
const shortestSecret = 8
const removed = '[removed]'

/** The values that the log of an exchange must not show. */
export interface Redaction {
  /** Returns flat lists of headers as the log keeps them; `own` comes last. */
  headers(raw: readonly string[], own?: readonly string[]): Readonly<Record<string, string>>
  text(text: string): string
  /** An answer's first bytes: some providers repeat a key that they refuse. A compressed answer is looked into, and stays compressed. */
  answer(relayed: Pick<RelayResult, 'capture' | 'encoding'>): Buffer
}

/** Takes out the credentials that are in these headers of an exchange, in any place where they come back. For exchanges of others. */
export function redactionOfHeaders(raw: readonly string[]): Pick<Redaction, 'headers' | 'text'> {
  const secrets: string[] = []
  addSent(secrets, raw)
  return new SentRedaction(secrets, null, null)
}

type SentParts = Pick<Trail, 'attempts' | 'headers' | 'caller'>

/** Takes out the credential that was sent, in any place where it comes back, keys of ours, and texts that the caller marked as sensitive. */
export function redactionOf(trail: SentParts): Redaction {
  const sensitive = sensitiveNames(trail)
  return new SentRedaction(secretsOf(trail, sensitive), sensitive, trail.caller)
}

/** A class, because one is made for every exchange. */
class SentRedaction implements Redaction {
  readonly #secrets: readonly string[]
  readonly #sensitive: ReadonlySet<string> | null
  readonly #caller: SentParts['caller']

  constructor(secrets: readonly string[], sensitive: ReadonlySet<string> | null, caller: SentParts['caller']) {
    this.#secrets = secrets
    this.#sensitive = sensitive
    this.#caller = caller
  }

  text(text: string): string {
    return withoutSecrets(text, this.#secrets)
  }

  headers(raw: readonly string[], own: readonly string[] = none): Readonly<Record<string, string>> {
    return loggedHeaders(own, this, loggedHeaders(raw, this))
  }

  /** Returns a header's value as the log keeps it. */
  value(name: string, value: string): string {
    return this.#sensitive?.has(name) || this.#caller?.holdsOwnKey(value) === true ? removed : this.text(value)
  }

  answer({ capture, encoding }: Pick<RelayResult, 'capture' | 'encoding'>): Buffer {
    const secrets = this.#secrets
    const plain = secrets.length === 0 ? null : capture.plain(encoding)
    if (plain === null || !secrets.some((secret) => plain.includes(secret, 'latin1'))) return capture.head()
    return compress(Buffer.from(this.text(plain.toString('latin1')), 'latin1'), encoding)
  }
}

/** The headers that `x-service-sensitive-headers` names, in lower case. */
function sensitiveNames({ headers }: SentParts): ReadonlySet<string> | null {
  const named = headers?.service.get('sensitive-headers')
  return named === undefined ? null : new Set(named.split(',').map((name) => name.trim().toLowerCase()))
}

/** The secrets of an exchange, also as latin1 has their bytes, and as they stand in a URL and in JSON. Made for every exchange, so that it goes without sets. */
function secretsOf({ attempts, headers }: SentParts, sensitive: ReadonlySet<string> | null): readonly string[] {
  const secrets: string[] = []
  for (const { target, prepared } of attempts) {
    add(secrets, target?.credential.key)
    for (const name in target?.customHeaders) add(secrets, target?.customHeaders[name])
    addSent(secrets, prepared?.request.headers ?? none)
  }
  for (const name of sensitive ?? none) add(secrets, headerValue(headers?.forward ?? none, name))
  return secrets
}

/** Adds the part behind the scheme in the headers that hold credentials. */
function addSent(secrets: string[], sent: readonly string[]): void {
  eachHeader(sent, (name, value) => {
    if (isCredentialHeader(name)) add(secrets, value.slice(value.lastIndexOf(' ') + 1))
  })
}

function add(secrets: string[], secret: string | null | undefined): void {
  if (typeof secret !== 'string' || secret.length < shortestSecret) return
  addOnce(secrets, secret)
  if (!escaped.test(secret)) return
  addOnce(secrets, latin1(secret))
  addOnce(secrets, encodeURIComponent(latin1(secret)))
  // Providers quote an answer of theirs within another one.
  const json = JSON.stringify(latin1(secret)).slice(1, -1)
  addOnce(secrets, json)
  addOnce(secrets, JSON.stringify(json).slice(1, -1))
}

function addOnce(secrets: string[], secret: string): void {
  if (!secrets.includes(secret)) secrets.push(secret)
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let rest = text
  for (const secret of secrets) if (rest.includes(secret)) rest = rest.replaceAll(secret, removed)
  return rest
}

const none: readonly string[] = []

/** The characters that stand otherwise in a URL. */
const escaped = /[^\w!'()*.~-]/
const beyondAscii = /[\u0080-\uffff]/
const latin1 = (text: string): string => (beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text)
