import type { IncomingMessage } from 'node:http'
import { fronts, matchOperation, plainPath } from '../../gateway/ports/operations.ts'
import { firstSegment } from '../../lib/text/first-segment.ts'

/** The claims of the control plane on paths below `/v1`. */
export interface Claims {
  /** First segments of its paths, also of those that are off and those that no module serves yet. */
  readonly segments: ReadonlySet<string>
  /** Segments below which only paths of up to so many segments are claimed, since providers have deeper ones. */
  readonly shared: ReadonlyMap<string, number>
  /** First segments that only a provider has. */
  readonly foreign: ReadonlySet<string>
}

/** The plane that a request belongs to. */
export type Owner = 'control' | 'data'
export type OwnerOf = (req: Pick<IncomingMessage, 'url' | 'method'>) => Owner

/**
 * Returns the plane of a request below `/v1` by its method and path alone: a provider in a header, a config or a key must not lead a secret of the
 * control plane to that provider. A path is taken as the most lenient of servers would take it, so that no spelling slips through. Paths that the
 * data plane names below a claimed segment (`/prompts/{promptId}/completions`) are its own.
 */
export function ownership(claims: Claims): OwnerOf {
  const { shared } = claims
  return ({ url = '/', method = 'GET' }) => {
    if (!isClaimed(claims, url)) return 'data'
    const path = claimedForm(url)
    const segment = nameOf(firstSegment(path))
    if (matchOperation(method, path).name !== 'proxy') return 'data'
    return path.split('/').length - 1 > (shared.get(segment) ?? Infinity) ? 'data' : 'control'
  }
}

/** Returns true for an address below a segment of the control plane, whichever plane serves it. */
export const isClaimed = ({ segments, foreign }: Claims, url: string): boolean =>
  !foreign.has(firstSegment(url, fronts[0].prefix.length)) && segments.has(nameOf(firstSegment(claimedForm(url))))

/** The path below `/v1`, in the form in which it is compared; a base URL with the version twice is the same path, and so is one that is escaped twice. */
function claimedForm(url: string): string {
  const path = (url.split('?', 1)[0] ?? url).replaceAll(/%(?:25)+/g, '%').replaceAll(/(?:;|%3b)(?:(?!%2f|%5c)[^/\\])*/gi, '')
  return plainPath(path)
    .replace(/^(?:\/v1)+(?=\/)/i, '')
    .toLowerCase()
}

/** The part of a segment that may be a name of ours: `secret-references` of `secret-references%20` and `secret-references.json`. */
const nameOf = (segment: string): string => /^[\w-]*/.exec(segment)?.[0] ?? ''
