import type { ClientDialectId } from '../dialects/dialect.ts'
import type { Inbound } from '../exchange/exchange.ts'
import { googleVersions } from './google-versions.ts'

/** A prefix below which clients call the data plane. */
export interface Front {
  readonly prefix: string
  /** True if the prefix is ours and no part of the provider's path; paths of it that the control plane claims are not the data plane's. */
  readonly own: boolean
  /** The dialect of clients that call below it. */
  readonly dialect: ClientDialectId
  /** The paths below it whose clients speak another dialect, by their first segment. */
  readonly segments: readonly (readonly [segment: string, dialect: ClientDialectId])[]
  /** Headers that only clients of another dialect send; below one segment alone, if one is named. */
  readonly headers: readonly (readonly [name: string, dialect: ClientDialectId, segment?: string])[]
}

/** The version in our own paths, of both planes. */
export const ownVersion = '/v1'

/** Every door of the data plane. */
export const fronts: readonly [own: Front, ...others: Front[]] = [
  {
    prefix: `${ownVersion}/`,
    own: true,
    dialect: 'openai-chat',
    segments: [
      ['messages', 'anthropic'],
      ['responses', 'openai-responses'],
    ],
    // Elsewhere the key of Google's may be one for a provider.
    headers: [
      ['anthropic-version', 'anthropic'],
      ['x-goog-api-key', 'google', 'models'],
    ],
  },
  // The version is a part of Google's own paths.
  ...googleVersions.map((version): Front => ({ prefix: `/${version}/`, own: false, dialect: 'google', segments: [], headers: [] })),
]

/** Returns the front of a path; null: it is not the data plane's. */
export function frontOf(url: string): Front | null {
  for (const front of fronts) if (url.startsWith(front.prefix)) return front
  return null
}

/** The methods that run a model by Google's API, whose clients ask for them below `/v1` too if they are told its version so. */
const methodOfGoogle = /^\/v1\/models\/[^?]+:(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents|countTokens)(?:\?|$)/

/** Returns a path with its query in the provider's form: without our own version. A method of Google's has the version that supports all of it. */
export function pathBehind(url: string): string {
  if (frontOf(url)?.own !== true) return url
  const path = url.slice(ownVersion.length)
  return methodOfGoogle.test(url) ? `/v1beta${path}` : path
}

/** Returns true for a path, with its version, of clients of Google's. */
export const isGooglePath = (path: string): boolean => frontOf(path)?.dialect === 'google'

/** Returns the dialect of the client, and so of our own answers. A header goes before the path: it names the client's library. */
export function clientDialect(asked: Pick<Inbound, 'url' | 'header'>): ClientDialectId {
  const { url } = asked
  const { prefix, dialect, segments, headers } = frontOf(url) ?? fronts[0]
  const isBelow = (segment: string): boolean => url.startsWith(segment, prefix.length) && endsSegment(url, prefix.length + segment.length)
  for (const [name, spoken, segment] of headers)
    if ((segment === undefined || isBelow(segment)) && asked.header(name) !== undefined) return spoken
  for (const [segment, spoken] of segments) if (isBelow(segment)) return spoken
  return methodOfGoogle.test(url) ? 'google' : dialect
}

const endsSegment = (url: string, at: number): boolean => at === url.length || url[at] === '/' || url[at] === '?'
