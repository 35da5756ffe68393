import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { fitsTemplate } from '../../lib/text/uri-template.ts'

/** The kinds of things that a server offers. */
export const capabilityKinds = ['tool', 'prompt', 'resource', 'resource_template'] as const
export type CapabilityKind = (typeof capabilityKinds)[number]

/** How the gateway signs in at a server. */
export type McpAuth =
  | { readonly type: 'none' }
  | { readonly type: 'headers'; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'oauth_auto' | 'oauth_client_credentials' }

/** The caller of a server, as far as its rights go. A `KeyView` is one. */
export interface McpCaller {
  readonly workspaceId: string | null
  /** Null: a service key, for which no user access is asked. */
  readonly userId: string | null
  readonly scopes: ReadonlySet<string>
}

/** `held`: its definition changed, or is new, and waits for an approval. */
export type McpDecision = 'allowed' | 'not_allowed' | 'held'

/** A server of MCP, as a workspace sees it. */
export interface McpServer {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly organisationId: string
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly integrationId: string
  /** The endpoint: of streamable HTTP, or the stream of the older transport. */
  readonly url: string
  readonly transport: 'http' | 'sse'
  readonly auth: McpAuth
  /** Headers that every call carries beside `auth`, by name: those stored with a server that signs in by other means. */
  readonly headers: Readonly<Record<string, string>>
  /** The header of the server, and the header of the caller's request from which its value comes. */
  readonly passthroughHeaders: Readonly<Record<string, string>>
  /** What the last sync found; null: not known. */
  readonly era: 'modern' | 'legacy' | null
  readonly status: 'active'
  /** Returns whether a caller may use the server at all: its workspace, its scope, and the access of its user. */
  admits(caller: McpCaller): boolean
  /** The decision for lists and calls alike; a resource is named by its URI, a template by its URI template. */
  decide(kind: CapabilityKind, name: string, caller: McpCaller): McpDecision
}

/** Whose servers are looked for. */
export interface McpScope {
  readonly organisationId: string
  /** Id or slug; null: the default workspace. */
  readonly workspace: string | null
}

/** The port to the stored servers. See `Snapshot` for the synchronous methods, and for errors. */
export interface McpRegistry {
  /** The server with this slug or id. Null: there is none, or its workspace may not use its integration any more. */
  mcpServer(scope: McpScope, reference: string): MaybePromise<McpServer | null>
}

/** What is known of one tool, prompt, resource or template. */
export interface CapabilityRule {
  readonly kind: CapabilityKind
  readonly name: string
  /** False: switched off for all workspaces of the integration. */
  readonly integrationEnabled: boolean
  /** Null: by the default of the server. */
  readonly enabled: boolean | null
  readonly held: boolean
}

/** The rights on a server. */
export interface McpRules {
  readonly defaultAccess: 'allow' | 'deny'
  readonly defaultUserAccess: 'allow' | 'deny'
  /** True: a thing that the registry has not seen yet is held. */
  readonly holdsUnknown: boolean
  readonly capabilities: readonly CapabilityRule[]
  /** The users with an access of their own. */
  readonly users: ReadonlyMap<string, boolean>
}

/** The scope that calls servers. */
export const invokeScope = 'mcp.invoke'

/** Returns a server with the one decision that its rights are. */
export function toMcpServer(server: Omit<McpServer, 'admits' | 'decide'>, rules: McpRules): McpServer {
  const known = new Map(rules.capabilities.map((rule) => [keyOf(rule.kind, rule.name), rule]))
  const templates = rules.capabilities.filter(({ kind }) => kind === 'resource_template')
  const admits = ({ workspaceId, userId, scopes }: McpCaller): boolean =>
    workspaceId === server.workspaceId && scopes.has(invokeScope) && (userId === null || mayUse(rules, userId))
  const decideKnown = (kind: CapabilityKind, name: string): McpDecision => {
    const rule = known.get(keyOf(kind, name))
    if (rule !== undefined) return decisionOf(rules, rule)
    const made = kind === 'resource' ? templates.filter((template) => fitsTemplate(template.name, name)) : []
    if (made.length > 0) return strictest(made.map((template) => decisionOf(rules, template)))
    if (rules.defaultAccess === 'deny') return 'not_allowed'
    return rules.holdsUnknown ? 'held' : 'allowed'
  }
  return { ...server, admits, decide: (kind, name, caller) => (admits(caller) ? decideKnown(kind, name) : 'not_allowed') }
}

const keyOf = (kind: CapabilityKind, name: string): string => `${kind} ${name}`

const mayUse = ({ users, defaultUserAccess }: McpRules, userId: string): boolean => users.get(userId) ?? defaultUserAccess === 'allow'

function decisionOf({ defaultAccess }: McpRules, { integrationEnabled, enabled, held }: CapabilityRule): McpDecision {
  if (!integrationEnabled || !(enabled ?? defaultAccess === 'allow')) return 'not_allowed'
  return held ? 'held' : 'allowed'
}

/** Of several templates that a URI fits, no wide one opens what a narrower one keeps shut. */
const strictest = (decisions: readonly McpDecision[]): McpDecision =>
  decisions.find((decision) => decision === 'not_allowed') ?? decisions.find((decision) => decision === 'held') ?? 'allowed'
