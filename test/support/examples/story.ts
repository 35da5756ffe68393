/** A request of the API's description with its answer; examples run in an order in which each can be done. */
export interface Example {
  /** `POST /configs` */
  readonly operation: string
  /** Absent: the organisation's admin below `/admin` and `/organisations`, else a workspace. */
  readonly as?: 'admin' | 'nobody'
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The fields of a form; `@name` is a file. */
  readonly form?: Readonly<Record<string, string>>
  /** The answer: JSON, or the text or `(bytes)` of another type. */
  readonly answer?: unknown
  /** The type of the answer, when it is not JSON. */
  readonly type?: string
}

/** A value in an example, and its counterpart in this run. */
export type Names = Map<string, string>

/** The address of the examples' provider. */
export const providerUrl = 'https://provider.example/v1'

/** The address of the examples' secret manager. */
export const vaultUrl = 'https://vault.example'

const recent = /20(?:2[5-9]|[3-8]\d)-\d\d-\d\dT[\d:.]+Z/g

/**
 * Values that no example shows as they are: moments of the run, machines, digests, secrets of webhooks. `hosts` are addresses with their
 * replacements.
 */
export const neutral = (text: string, hosts: Readonly<Record<string, string>>): string =>
  Object.entries(hosts)
    .reduce((changed, [host, name]) => changed.replaceAll(host, name), text)
    .replaceAll(recent, '2026-01-15T09:30:00.000Z')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, 'Thu, 15 Jan 2026 09:30:00 GMT')
    .replaceAll(/[0-9a-f]{64}/g, '0'.repeat(64))
    .replaceAll(/whsec_[\w+/]{43}=/g, `whsec_${'A'.repeat(43)}=`)
    .replace(/^127\.0\.0\.1$/, '203.0.113.7')

/** Values that each run makes anew: ids, keys and their ends, tokens, alone and at the end of a link, ids of providers, cursors. */
const kinds = [
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  /^gh-\w{40,}$/,
  /^gh-\.{3}\w{4}$/,
  /^default-[0-9a-f]{16}$/,
  /^https:\/\/.+?([\w-]{30,})$/,
  /^[\w-]{43}$/,
  // A cursor: "-created_at " and the id of the last row, in base64url.
  /^LWNyZWF0ZWRfYXQg[\w-]+$/,
  /^(?:chatcmpl|cmpl|resp|msg|file|batch|ftjob|fp|req|call)[-_]\w+$/,
]

/** Notes that one text stands for another of its kind, with the token at its end; false when they are of different kinds. */
function bind(expected: string, actual: string, names: Names): boolean {
  for (const kind of kinds) {
    const [one, other] = [kind.exec(expected), kind.exec(actual)]
    if (one === null || other === null) continue
    for (const [at, text] of one.entries()) names.set(text, other[at] ?? '')
    return true
  }
  return false
}

/** Numbers that are measured. */
const measured = /time|duration|^response|^seq$/i

/** Where an answer differs from its example in more than the values that each run makes anew; that is noted under its name in the example. */
export function differences(expected: unknown, actual: unknown, names: Names, at = ''): readonly string[] {
  if (typeof expected === 'string' && typeof actual === 'string') {
    const known = names.get(expected)
    if (expected === actual || known === actual) return []
    return known === undefined && bind(expected, actual, names) ? [] : [`${at}: ${expected} is ${actual}`]
  }
  if (isObject(expected) && isObject(actual))
    // Further fields of an answer make no example wrong: answers grow.
    return Object.entries(expected).flatMap(([key, value]) =>
      key in actual ? differences(value, actual[key], names, `${at}.${key}`) : [`${at}.${key} is missing`],
    )
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length)
    return expected.flatMap((value: unknown, index) => differences(value, actual[index], names, `${at}[${index}]`))
  if (typeof expected === 'number' && typeof actual === 'number' && measured.test(at.split('.').at(-1) ?? '')) return []
  return expected === actual ? [] : [`${at}: ${JSON.stringify(expected)} is ${JSON.stringify(actual)}`]
}

/** A value with every text that stands for something replaced by it. */
export const replaced = (value: unknown, names: ReadonlyMap<string, string>): unknown => mapTexts(value, (text) => names.get(text) ?? text)

/** A value with every text changed. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)]))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
