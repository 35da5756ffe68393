import type { Fields } from '../../lib/json/fields.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { type CapabilityKind, capabilityName, type DefinitionHashes, hashesOf } from '../../lib/mcp-definition.ts'
import type { KeyView } from '../callers/key.ts'
import type { McpGrants } from './oauth/grants.ts'
import { longestName } from '../../lib/text/likenesses.ts'
import { fitsTemplate, readTemplate, type UriTemplate } from '../../lib/text/uri-template.ts'
import { countedNameFinder } from './counted-names.ts'
import { priceFinder } from './tool-prices.ts'
import { mostPlaces, withdrawalFinder, type WithdrawnThing } from './withdrawn-things.ts'

export type { CapabilityKind } from '../../lib/mcp-definition.ts'

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
  /** By the last sync; null: not known. */
  readonly era: 'modern' | 'legacy' | null
  readonly status: 'active'
  /** `search`: clients list two tools, which find and call the others. */
  readonly discovery: 'full' | 'search'
  /** The guardrails of its calls, by slug or id, before those of the workspace and the organisation. */
  readonly inputGuardrails: readonly string[]
  readonly outputGuardrails: readonly string[]
  /** Returns whether a caller may use the server at all: its workspace, its scope, and the access of its user. */
  admits(caller: McpCaller): boolean
  /** The decision for lists and calls alike; a resource is named by its URI, a template by its URI template. */
  decide(kind: CapabilityKind, name: string, caller: McpCaller): McpDecision
  /** Returns the tokens of the tools that the last sync found and a caller may use. */
  toolTokens(caller: McpCaller): number
  /** Returns the price of one call of a tool in pico-US-dollars; 0: it is free. */
  priceOf(tool: string): bigint
  /** Returns the name under which policies count a thing, the same for all spellings that the server may take for it. */
  countedName(kind: CapabilityKind, name: string): string
  /**
   * The same for an item of a list as it came from the server, with the definition to show: null unless it is allowed. The approved definition stands in
   * for one that is held while the input is unchanged.
   */
  judge(kind: CapabilityKind, told: Fields, caller: McpCaller): { readonly decision: McpDecision; readonly definition: Fields | null }
}

/** The place in which servers are looked for. */
export interface McpScope {
  readonly organisationId: string
  /** Id or slug; null: the default workspace. */
  readonly workspace: string | null
}

/** A program that a person let in at one server. */
export interface McpSignInView {
  readonly id: string
  /** The rights of the person, as a key of theirs has them. All sign-ins of a person at a server have the same id there. */
  readonly key: KeyView
  /** The server for which it was let in. */
  readonly serverId: string
  /** The host that vouches for the program. */
  readonly client: string
}

/** The port to the stored servers, and to the programs that people let in. See `Snapshot` for the synchronous methods, and for errors. */
export interface McpRegistry extends McpGrants {
  /** The server with this slug or id. Null: there is none, or its workspace may not use its integration any more. */
  mcpServer(scope: McpScope, reference: string): MaybePromise<McpServer | null>
  /** The program with this token. Null: there is none, its sign-in has ended, or as with unknown keys. */
  mcpSignIn(token: string, address?: string): MaybePromise<McpSignInView | null>
}

/** The treatment of definitions that are new or changed. */
export type PinningMode = 'off' | 'flag' | 'hold'

/** The right on one tool, prompt, resource or template, and its definitions. */
export interface CapabilityRule {
  readonly kind: CapabilityKind
  readonly name: string
  /** False: switched off for all workspaces of the integration. */
  readonly integrationEnabled: boolean
  /** Null: by the default of the server. */
  readonly enabled: boolean | null
  /** The definition that the last sync found; null: it has never found it. */
  readonly seen: DefinitionHashes | null
  /** The definition that was approved; null: none. */
  readonly pinned: DefinitionHashes | null
  readonly rejectedHash: string | null
  /** The approved definition, where another one may come; null: not kept. */
  readonly approved: Fields | null
  /** For one call of the tool, in pico-US-dollars; null: that of the server. */
  readonly price: bigint | null
  /** The size of its definition in the context of a model; 0: not known. */
  readonly tokens: number
}

/** The rights on a server. */
export interface McpRules {
  readonly defaultAccess: 'allow' | 'deny'
  readonly defaultUserAccess: 'allow' | 'deny'
  readonly pinning: PinningMode
  /** For one call of a tool without a price of its own, in pico-US-dollars; null: it is free. */
  readonly toolPrice: bigint | null
  readonly capabilities: readonly CapabilityRule[]
  /** The users with an access of their own. */
  readonly users: ReadonlyMap<string, boolean>
}

/**
 * How a definition stands to the approved one. `kept`: the approved one goes on, because the input is the same; `flagged`: it is used all the same,
 * and was announced.
 */
export type PinStanding = 'approved' | 'kept' | 'held' | 'flagged' | 'rejected'

/** Returns how the definition that was seen stands. */
export function standingOf(
  pinning: PinningMode,
  { seen, pinned, rejectedHash }: Pick<CapabilityRule, 'seen' | 'pinned' | 'rejectedHash'>,
): PinStanding {
  if (pinning === 'off') return 'approved'
  if (seen === null) return pinning === 'hold' ? 'held' : 'approved'
  if (pinned?.hash === seen.hash) return 'approved'
  const isRejected = rejectedHash === seen.hash
  if (pinning === 'flag' && !isRejected) return 'flagged'
  if (pinned?.inputHash === seen.inputHash) return 'kept'
  return isRejected ? 'rejected' : 'held'
}

/** The scope that calls servers. */
export const invokeScope = 'mcp.invoke'

/** Returns a function that finds the templates that a URI may be made of; null: they cannot all be compared. */
function templateFinder(rules: readonly CapabilityRule[]): (uri: string) => readonly CapabilityRule[] | null {
  let read: readonly (readonly [rule: CapabilityRule, template: UriTemplate | null])[] | null = null
  return (uri) => {
    read ??= rules.map((rule) => [rule, readTemplate(rule.name)] as const)
    const budget = { places: mostPlaces }
    const found: CapabilityRule[] = []
    for (const [rule, template] of read) {
      const fits = template === null ? null : fitsTemplate(template, uri, budget)
      if (fits === null) return null
      if (fits) found.push(rule)
    }
    return found
  }
}

/** Returns the things that the rules of a server withdraw from all callers. */
const withdrawnThings = (rules: McpRules): readonly WithdrawnThing[] =>
  rules.capabilities.flatMap(({ kind, name, ...rule }): WithdrawnThing[] => {
    const decision = decisionOf(rules, rule)
    return decision === 'allowed' ? [] : [{ kind, name, decision }]
  })

/** Returns a server with the one decision that its rights are. */
export function toMcpServer(
  server: Omit<McpServer, 'admits' | 'countedName' | 'decide' | 'judge' | 'priceOf' | 'toolTokens'>,
  rules: McpRules,
): McpServer {
  const known = new Map(rules.capabilities.map((rule) => [keyOf(rule.kind, rule.name), rule]))
  const templatesOf = templateFinder(rules.capabilities.filter(({ kind }) => kind === 'resource_template'))
  const withdrawalOf = withdrawalFinder(withdrawnThings(rules), { isOpen: rules.defaultAccess === 'allow' })
  const admits = ({ workspaceId, userId, scopes }: McpCaller): boolean =>
    workspaceId === server.workspaceId && scopes.has(invokeScope) && (userId === null || mayUse(rules, userId))
  const decideByRule = (kind: CapabilityKind, name: string): McpDecision => {
    // A name that cannot be compared with all rules may be a form of one that is not allowed.
    if (name === '' || name.length > longestName) return 'not_allowed'
    const rule = known.get(keyOf(kind, name))
    if (rule !== undefined) return decisionOf(rules, rule)
    const made = kind === 'resource' ? templatesOf(name) : []
    if (made === null) return 'not_allowed'
    const own = strictest((made.length > 0 ? made : [unknownRule]).map((one) => decisionOf(rules, one)))
    // Likeness only shuts.
    return own === 'not_allowed' ? own : strictest([own, withdrawalOf(kind, name) ?? own])
  }
  const decide: McpServer['decide'] = (kind, name, caller) => (admits(caller) ? decideByRule(kind, name) : 'not_allowed')
  return {
    ...server,
    admits,
    decide,
    toolTokens: (caller) =>
      rules.capabilities.reduce(
        (sum, { kind, name, tokens }) => sum + (kind === 'tool' && tokens > 0 && decide(kind, name, caller) === 'allowed' ? tokens : 0),
        0,
      ),
    priceOf: priceFinder(rules.capabilities, rules.toolPrice),
    countedName: countedNameFinder(rules.capabilities),
    judge(kind, told, caller) {
      const name = capabilityName(kind, told)
      if (name === null) return { decision: 'not_allowed', definition: null }
      const byRule = decide(kind, name, caller)
      const rule = known.get(keyOf(kind, name))
      if (byRule === 'not_allowed' || rule === undefined || rules.pinning === 'off') return shown(byRule, told)
      const now = { ...rule, seen: hashesOf(kind, told) }
      const standing = standingOf(rules.pinning, now)
      if (standing === 'kept') return rule.approved === null ? shown('held', told) : shown('allowed', rule.approved)
      return shown(decisionOf(rules, now), told)
    },
  }
}

const shown = (decision: McpDecision, definition: Fields) => ({ decision, definition: decision === 'allowed' ? definition : null })

const keyOf = (kind: CapabilityKind, name: string): string => `${kind} ${name}`

/** The rule on a thing that has none. */
const unknownRule = { integrationEnabled: true, enabled: null, seen: null, pinned: null, rejectedHash: null } as const

const mayUse = ({ users, defaultUserAccess }: McpRules, userId: string): boolean => users.get(userId) ?? defaultUserAccess === 'allow'

type Right = Pick<CapabilityRule, 'integrationEnabled' | 'enabled' | 'seen' | 'pinned' | 'rejectedHash'>

function decisionOf({ defaultAccess, pinning }: McpRules, rule: Right): McpDecision {
  if (!rule.integrationEnabled || !(rule.enabled ?? defaultAccess === 'allow')) return 'not_allowed'
  return ['held', 'rejected'].includes(standingOf(pinning, rule)) ? 'held' : 'allowed'
}

/** Of several templates that a URI fits, no wide one opens a narrower one that is shut. */
const strictest = (decisions: readonly McpDecision[]): McpDecision =>
  decisions.find((decision) => decision === 'not_allowed') ?? decisions.find((decision) => decision === 'held') ?? 'allowed'
