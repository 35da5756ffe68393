import { operations } from '../../gateway/ports/operations.ts'
import type { Feature } from '../feature.ts'
import { firstSegment } from '../../lib/text/first-segment.ts'
import { levelAdvice, type MountOptions, type Unavailable } from './mount.ts'

/** Paths of the control plane that a release brings, whether this build has them or not. */
interface Reservation {
  readonly feature: string
  /** Null: known of other control planes, and in no release of the table. */
  readonly since: string | null
  /** Koa style, below `/v1`. Paths below them are reserved with them (see `sharedSegments`). */
  readonly paths: readonly string[]
}

/**
 * Every path of the control plane that no module may have yet. A request to one is ours, even if it names a provider: it holds secrets of the control
 * plane (a Vault token, an OIDC secret) that no provider may see and no request log may keep. Only paths that no module serves are answered from
 * here, and the paths of the modules are reserved by themselves.
 */
export const reservations: readonly Reservation[] = [
  { feature: 'analytics', since: '1.3.0', paths: ['/analytics'] },
  { feature: 'grouped-analytics', since: '1.11.2', paths: ['/logs/groups'] },
  { feature: 'logs', since: '1.3.0', paths: ['/logs'] },
  { feature: 'log-exports', since: '1.3.0', paths: ['/logs/exports', '/logs/exports/:exportId', '/logs/exports/:exportId/:action'] },
  { feature: 'saved-filters', since: '1.3.0', paths: ['/saved-filters'] },
  { feature: 'feedback', since: '1.3.0', paths: ['/feedback'] },
  { feature: 'audit', since: '1.3.0', paths: ['/audit-logs'] },
  { feature: 'alerts', since: '1.3.0', paths: ['/alerts', '/alert-webhooks'] },
  { feature: 'limit-list', since: '1.3.0', paths: ['/limits'] },
  { feature: 'organisations', since: '1.3.0', paths: ['/admin', '/organisation', '/organisations'] },
  { feature: 'workspaces', since: '1.3.0', paths: ['/workspaces'] },
  { feature: 'users', since: '1.3.0', paths: ['/users', '/invites', '/owner'] },
  { feature: 'api-keys', since: '1.3.0', paths: ['/api-keys'] },
  { feature: 'integrations', since: '1.3.0', paths: ['/integrations'] },
  { feature: 'providers', since: '1.3.0', paths: ['/providers'] },
  { feature: 'virtual-keys', since: '1.3.0', paths: ['/virtual-keys'] },
  { feature: 'configs', since: '1.3.0', paths: ['/configs'] },
  { feature: 'breakers', since: '1.3.0', paths: ['/breakers'] },
  { feature: 'cache', since: '1.3.0', paths: ['/cache'] },
  { feature: 'events', since: '1.3.0', paths: ['/events'] },
  { feature: 'explain', since: '1.3.0', paths: ['/explain'] },
  { feature: 'collections', since: '1.3.0', paths: ['/collections'] },
  { feature: 'labels', since: '1.3.0', paths: ['/labels'] },
  { feature: 'prompts', since: '1.3.0', paths: ['/prompts'] },
  { feature: 'guardrails', since: '1.3.0', paths: ['/guardrails', '/catalogue', '/plugins'] },
  { feature: 'policies', since: '1.5.0', paths: ['/policies'] },
  { feature: 'deployments', since: '1.4.0', paths: ['/deployments', '/deployments/:deploymentId'] },
  { feature: 'secret-references', since: '1.12.0', paths: ['/secret-references'] },
  { feature: 'mcp', since: '1.3.0', paths: ['/mcp-integrations', '/mcp-servers', '/mcp'] },
  { feature: 'mcp', since: '1.3.0', paths: ['/oauth/register', '/oauth/authorize', '/oauth/token', '/oauth/revoke'] },
  { feature: 'mcp-sign-ins', since: '1.3.0', paths: ['/mcp-sign-ins'] },
  { feature: 'mcp-metadata', since: '1.9.0', paths: ['/mcp-integrations/:id/metadata', '/mcp-servers/:id/metadata'] },
  { feature: 'scim', since: '1.3.0', paths: ['/scim'] },
  { feature: 'scim-group-mapping', since: '1.6.0', paths: ['/scim/workspaces', '/scim/workspaces/:scimWorkspaceGroupId'] },
  { feature: 'sso', since: '1.3.0', paths: ['/auth', '/sso', '/saml'] },
  { feature: 'token-introspection', since: '1.3.0', paths: ['/oauth'] },
  { feature: 'model-catalog', since: '1.3.0', paths: ['/model-configs', '/prices'] },
  { feature: 'costs', since: '1.3.0', paths: ['/costs'] },
  { feature: 'agents', since: null, paths: ['/agent-integrations', '/agent-servers'] },
  { feature: 'guardrail-exclusions', since: null, paths: ['/workspace-exclusions'] },
  { feature: 'prompt-sharing', since: null, paths: ['/prompts/:promptId/share', '/prompts/:promptId/fork', '/prompts/:promptId/unshare'] },
  { feature: 'traces', since: '1.3.0', paths: ['/otel', '/logs/otel', '/traces'] },
  { feature: 'verify-ping', since: null, paths: ['/verify-ping'] },
]

/** Segments below which providers have paths too (`/deployments/gpt-4o/chat/completions`): ours are those with a row, and no deeper ones. */
export const sharedSegments: ReadonlyMap<string, number> = new Map([['deployments', 2]])

/** A reserved path without a route, with the answer to a request for it. */
export interface ReservedPath {
  readonly path: string
  readonly unavailable: Unavailable
}

/** Names of parameters do not distinguish paths. */
const shape = (path: string) => path.replaceAll(/\{\w+\}|:\w+/g, '{}')

/** The reserved paths that no module has a route for; whole segments only where no module has anything. */
export function reservedPaths(features: readonly Feature[], options: MountOptions): readonly ReservedPath[] {
  const versioned = features.flatMap(({ routes }) => routes.filter(({ below }) => below === undefined))
  const routed = [...versioned, ...Object.values(operations)].map(({ path }) => shape(path))
  const own = new Set([...routed, ...versioned.map(({ path }) => `/${firstSegment(path)}`)])
  const atRoot = rootSegments(features)
  return reservations.flatMap(({ feature, since, paths }) =>
    paths
      .filter((path) => !own.has(shape(path)))
      .map((path) => ({
        path,
        unavailable: {
          feature,
          flag: null,
          release: since,
          message: atRoot.has(firstSegment(path)) ? sayRoot(path) : say(path, since, options),
        },
      })),
  )
}

/** First segments of paths that the product serves without `/v1`, such as `/auth/me` and `/scim/v2/Users`. */
const rootSegments = (features: readonly Feature[]): ReadonlySet<string> =>
  new Set(
    features.flatMap(({ routes, protocols = [] }) => [
      ...routes.filter(({ below }) => below === '/').map(({ path }) => firstSegment(path)),
      ...protocols.flatMap(({ prefixes }) => prefixes.map((prefix) => firstSegment(prefix))),
    ]),
  )

const sayRoot = (path: string) =>
  `There is no path below /v1${path}. Its paths begin with ${path}, without /v1, as in the API description at /docs.`

function say(path: string, release: string | null, { config, level }: MountOptions): string {
  if (release === null) return `/v1${path} is a path of the control plane that no release has yet. It is never sent to a provider.`
  return level.atLeast(release)
    ? `/v1${path} is announced for release ${release}, and this build does not implement it yet.`
    : `/v1${path} comes with release ${release}. ${levelAdvice(release, config, level)}`
}
