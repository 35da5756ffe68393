import type { IncomingMessage } from 'node:http'
import { matchOperation } from '../../gateway/operation.ts'

/** What the control plane claims of the paths below `/v1`. */
export interface Claims {
  /** First segments of the paths of all its routes, also of those that are off. */
  readonly segments: ReadonlySet<string>
  /** First segments that only a provider has. */
  readonly foreign: ReadonlySet<string>
  /** False: there may be more that the release records know and this process has not read. */
  readonly complete: boolean
  /** Whether a route that is on takes this. */
  serves(path: string, method: string): boolean
}

/** Whose a request is; `unknown`: ask again when the release records were read. */
export type Owner = 'control' | 'data' | 'unknown'

const targets = ['provider', 'virtual-key', 'custom-host', 'config']

/**
 * Tells whose a request below `/v1` is, cheaply for those that are the data plane's. Routes that are on are the control plane's.
 * Below their first segments, and those of what is off or pending, the rest is too, so that a mistyped path is a 404 and not sent
 * to a provider with our key; unless the request says which provider it means: any provider endpoint can be reached. What the
 * data plane knows by name (`/prompts/{promptId}/completions`) is its own there too.
 */
export function ownership(claims: Claims, aliases: readonly string[]): (req: IncomingMessage) => Owner {
  const targetHeaders = ['service', ...aliases].flatMap((prefix) => targets.map((name) => `x-${prefix}-${name}`))
  return ({ url = '/', method = 'GET', headers }) => {
    const segment = firstSegment(url, '/v1/'.length)
    const targeted = () => targetHeaders.some((name) => headers[name] !== undefined)
    if (!claims.segments.has(segment)) return isProviders(claims, segment) || targeted() ? 'data' : 'unknown'
    const path = url.split('?', 1)[0] ?? url
    if (isOperation(path, method)) return 'data'
    return !targeted() || path === '/v1/health' || claims.serves(path, method) ? 'control' : 'data'
  }
}

const isProviders = ({ complete, foreign }: Claims, segment: string): boolean => complete || foreign.has(segment)

const isOperation = (path: string, method: string): boolean => matchOperation(method, path.slice('/v1'.length)).name !== 'proxy'

/** `api-keys` of `/api-keys/:id?x=1`. */
export function firstSegment(path: string, from = 1): string {
  const slash = path.indexOf('/', from)
  const query = path.indexOf('?', from)
  const end = Math.min(slash === -1 ? path.length : slash, query === -1 ? path.length : query)
  return path.slice(from, end)
}
