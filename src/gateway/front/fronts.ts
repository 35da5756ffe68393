import type { ClientDialectId } from '../dialects/dialect.ts'
import type { Inbound } from '../exchange/exchange.ts'

/** A prefix below which clients call the data plane. */
export interface Front {
  readonly prefix: string
  /** True if the prefix is ours and no part of the provider's path; what the control plane claims of it is not the data plane's. */
  readonly own: boolean
  /** The dialect of clients that call below it. */
  readonly dialect: ClientDialectId
  /** The paths below it whose clients speak another dialect, by their first segment. */
  readonly segments: readonly (readonly [segment: string, dialect: ClientDialectId])[]
  /** A header that only clients of another dialect send. */
  readonly header: readonly [name: string, dialect: ClientDialectId] | null
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
    header: ['anthropic-version', 'anthropic'],
  },
  // The version is a part of Google's own paths.
  { prefix: '/v1beta/', own: false, dialect: 'google', segments: [], header: null },
]

/** Returns the front of a path; null: it is not the data plane's. */
export function frontOf(url: string): Front | null {
  for (const front of fronts) if (url.startsWith(front.prefix)) return front
  return null
}

/** Returns a path with its query as the provider knows it: without our own version. */
export const pathBehind = (url: string): string => (frontOf(url)?.own === true ? url.slice(ownVersion.length) : url)

/** Returns true for a path, with its version, of clients of Google's. */
export const isGooglePath = (path: string): boolean => frontOf(path)?.dialect === 'google'

/** Returns the dialect of the client, and so of our own answers. A header goes before the path: it names the client's library. */
export function clientDialect(asked: Pick<Inbound, 'url' | 'header'>): ClientDialectId {
  const { url } = asked
  const { prefix, dialect, segments, header } = frontOf(url) ?? fronts[0]
  if (header !== null && asked.header(header[0]) !== undefined) return header[1]
  for (const [segment, spoken] of segments)
    if (url.startsWith(segment, prefix.length) && endsSegment(url, prefix.length + segment.length)) return spoken
  return dialect
}

const endsSegment = (url: string, at: number): boolean => at === url.length || url[at] === '/' || url[at] === '?'
