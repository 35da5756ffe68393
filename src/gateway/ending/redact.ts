import { fold } from '../wire/encoding.ts'
import { headerValue, isCredentialHeader, loggedHeaders } from '../wire/headers.ts'
import { known, type Progress } from '../progress.ts'
import type { RelayResult } from '../answers/relay.ts'

/** A shorter one would be found in texts that do not mean it. */
const shortestSecret = 8
const removed = '[removed]'

/** What the log of an exchange must not show. */
export interface Redaction {
  /** A flat list of headers, as the log keeps it. */
  headers(raw: readonly string[]): Readonly<Record<string, string>>
  text(text: string): string
  /** An answer's first bytes: some providers repeat a key that they refuse. A compressed answer is looked into, and stays compressed. */
  answer(relayed: Pick<RelayResult, 'capture' | 'encoding'>): Buffer
}

/** Takes out the credentials that are in these headers of an exchange, in whatever place they come back. For exchanges that others had. */
export function redactionOfHeaders(raw: readonly string[]): Pick<Redaction, 'headers' | 'text'> {
  const secrets = new Set(
    sentCredentials(raw).flatMap((secret) => (secret !== undefined && secret.length >= shortestSecret ? [secret] : [])),
  )
  const text = replacing([...secrets, ...encoded(secrets)])
  return { text, headers: (headers) => loggedHeaders(headers, (_, value) => text(value)) }
}

type Sent = Pick<Progress, 'target' | 'prepared' | 'headers' | 'caller'>

/** Takes out the credential that was sent, in whatever place it comes back, keys of ours, and what the caller called sensitive. */
export function redactionOf(progress: Sent): Redaction {
  const sensitive = sensitiveNames(progress)
  const secrets = secretsOf(progress, sensitive)
  const text = replacing(secrets)
  const { caller } = progress
  return {
    text,
    headers: (raw) =>
      loggedHeaders(raw, (name, value) => (sensitive?.has(name) || caller?.holdsOwnKey(value) === true ? removed : text(value))),
    answer({ capture, encoding }) {
      const plain = secrets.length === 0 ? null : capture.plain(encoding)
      if (plain === null || !secrets.some((secret) => plain.includes(secret, 'latin1'))) return capture.head()
      return fold(Buffer.from(text(plain.toString('latin1')), 'latin1'), encoding)
    },
  }
}

/** The headers that `x-service-sensitive-headers` names, in lower case. */
function sensitiveNames({ headers }: Sent): ReadonlySet<string> | null {
  const named = headers?.service.get('sensitive-headers')
  return named === undefined ? null : new Set(named.split(',').map((name) => name.trim().toLowerCase()))
}

/** The secrets of an exchange, as latin1 has their bytes. */
function secretsOf({ target, prepared, headers }: Sent, sensitive: ReadonlySet<string> | null): readonly string[] {
  const found = [
    target?.credential.key,
    ...Object.values(target?.customHeaders ?? {}),
    ...sentCredentials(prepared?.request.headers ?? none),
  ]
  for (const name of sensitive ?? none) found.push(headerValue(known(headers).forward, name))
  const secrets = new Set<string>()
  for (const secret of found) if (typeof secret === 'string' && secret.length >= shortestSecret) secrets.add(latin1(secret))
  return secrets.size === 0 ? none : [...secrets, ...encoded(secrets)]
}

/** What stands behind the scheme in the headers that hold credentials. */
function sentCredentials(sent: readonly string[]): (string | undefined)[] {
  const found: (string | undefined)[] = []
  for (let i = 0; i < sent.length; i += 2) if (isCredentialHeader(sent[i] ?? '')) found.push(sent[i + 1]?.split(' ').at(-1))
  return found
}

const replacing = (secrets: readonly string[]) => (value: string) =>
  secrets.reduce((rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, removed) : rest), value)

const none: readonly string[] = []

/** As they stand in a URL, where that is another text. */
const encoded = (secrets: ReadonlySet<string>): readonly string[] =>
  [...secrets].map(encodeURIComponent).filter((text) => !secrets.has(text))

const beyondAscii = /[\u0080-\uffff]/
const latin1 = (text: string): string => (beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text)
