import type { Deps } from '../../app/deps.ts'
import { tenantEgress } from '../../app/tenant-egress.ts'
import {
  countedLength,
  countTokens,
  createUpstream,
  type ListKind,
  listKinds,
  McpFault,
  type ServerFacts,
  type UpstreamServer,
  type UpstreamSignIn,
} from '../../gateway/ports/mcp.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Fields } from '../../lib/json/fields.ts'
import { type CapabilityKind, capabilityName, type DefinitionHashes, hashesOf, keptFields } from '../../lib/mcp-definition.ts'
import { type Hide, hidingSecrets, hideWithinFields } from '../../lib/text/known-secrets.ts'
import { isStorableJson } from '../../lib/text/text.ts'
import type { McpIntegration, ServerInfo } from './mcp-integration.entity.ts'

/** A server, with all that a call of it carries. */
export interface AskedServer {
  readonly integration: Pick<McpIntegration, 'id' | 'organisationId' | 'url' | 'transport'>
  readonly headers: Readonly<Record<string, string>>
  /** Null: the server needs no sign-in by OAuth. */
  readonly signIn: UpstreamSignIn | null
  /** `settings.allowed_custom_hosts` of the organisation, as it is stored. */
  readonly allowedHosts: unknown
}

/** A thing that a server offers, as it is stored. */
export interface SeenCapability extends DefinitionHashes {
  readonly type: CapabilityKind
  readonly name: string
  readonly definition: Fields
  readonly tokens: number
}

/** The facts about a server, as they are stored. */
export interface SeenFacts {
  readonly info: ServerInfo
  readonly flags: Fields
  readonly era: ServerFacts['era']
  readonly revision: string
}

/** The outcome of a question. A fault is in our own words: texts of servers may repeat credentials. */
export type ServerOutcome<Found> =
  | { readonly found: Found; readonly durationMs: number }
  | { readonly fault: string; readonly durationMs: number }

const kinds = { tools: 'tool', prompts: 'prompt', resources: 'resource', resourceTemplates: 'resource_template' } as const satisfies Record<
  ListKind,
  CapabilityKind
>

const timeoutMs = 30_000
/** Room for one session with the longest facts. */
const mostPlaces = 64
const bounds = { idleMs: 15_000, totalMs: timeoutMs, resultBytes: 16 * 1024 * 1024 }

/** Asks a server for its facts. Never rejects. */
export const askFacts = (deps: Deps, asked: AskedServer): Promise<ServerOutcome<SeenFacts>> =>
  ask(deps, asked, async (upstream, { server, signal }) => factsOf(await upstream.discover(server, signal), hidingAll(asked)))

/** Asks a server for its facts and all its lists. Never rejects. */
export const askAll = (
  deps: Deps,
  asked: AskedServer,
): Promise<ServerOutcome<SeenFacts & { readonly capabilities: readonly SeenCapability[] }>> =>
  ask(deps, asked, async (upstream, { server, signal }) => {
    const hide = hidingAll(asked)
    const facts = factsOf(await upstream.discover(server, signal), hide)
    const capabilities: SeenCapability[] = []
    for (const kind of listKinds)
      for (const item of await upstream.listAll(server, kind, signal)) capabilities.push(...toCapability(kinds[kind], item, hide))
    return { ...facts, capabilities }
  })

const secretsOf = ({ headers }: AskedServer): readonly string[] =>
  Object.values(headers).flatMap((value) => [value].concat(value.split(' ').slice(1)))

/** Returns what takes the credentials out of a text: tokens also that came meanwhile. */
function hidingAll(asked: AskedServer): Hide {
  const hide = hidingSecrets(secretsOf(asked))
  return (text) => hide(asked.signIn === null ? text : asked.signIn.hide(text))
}

interface Exchange {
  readonly server: UpstreamServer
  readonly signal: AbortSignal
}

async function ask<Found>(
  deps: Deps,
  { integration, headers, signIn, allowedHosts }: AskedServer,
  work: (upstream: ReturnType<typeof createUpstream>, exchange: Exchange) => Promise<Found>,
): Promise<ServerOutcome<Found>> {
  const { id, organisationId, url, transport } = integration
  const egress = tenantEgress(deps.egress, { organisationId, allowedHosts })
  const upstream = createUpstream({ egress, bounds, sessions: { most: mostPlaces, idleMs: timeoutMs }, now: () => deps.clock.now() })
  const began = performance.now()
  const durationMs = (): number => Math.round(performance.now() - began)
  const server = { id, organisationId, url, transport, headers: Object.entries(headers).flat(), ...(signIn !== null && { signIn }) }
  try {
    return { found: await work(upstream, { server, signal: AbortSignal.timeout(timeoutMs) }), durationMs: durationMs() }
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof McpFault))
      deps.log.error({ err: error, integration: id }, 'an MCP server could not be asked')
    return { fault: faultOf(error), durationMs: durationMs() }
  } finally {
    await upstream.close()
  }
}

function faultOf(error: unknown): string {
  if (error instanceof McpFault) return `The MCP server answered with an error (code ${error.error.code}).`
  if (error instanceof ApiError) return error.code === 'client_closed' ? 'The MCP server took too long.' : error.message
  return 'The MCP server could not be asked.'
}

const text = (value: unknown, most: number): string | null =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '').slice(0, most) : null

/** Longer facts are cut or left out. */
const [mostText, mostIcons, mostJson] = [8192, 20, 64 * 1024]

function factsOf({ serverInfo, capabilities, era, revision }: ServerFacts, hide: Hide): SeenFacts {
  const told = isKept(serverInfo, mostJson) ? hideWithinFields(serverInfo, hide) : {}
  const { name, version, title, description, icons } = told
  return {
    info: {
      name: text(name, 255),
      version: text(version, 255),
      title: text(title, 255),
      description: text(description, mostText),
      icons: Array.isArray(icons) ? icons.slice(0, mostIcons) : null,
    },
    flags: isKept(capabilities, mostJson) ? hideWithinFields(capabilities, hide) : {},
    era,
    revision,
  }
}

/** Deeper values, larger ones, and names that no index takes, are left out, as if the server did not offer them. */
const [deepest, largest, longestName] = [40, 600 * 1024, 2000]

function toCapability(type: CapabilityKind, item: Fields, hide: Hide): readonly SeenCapability[] {
  const kept = keptFields(item)
  if (!isKept(kept, largest)) return []
  const definition = hideWithinFields(kept, hide)
  const name = capabilityName(type, definition)
  if (name === null || Buffer.byteLength(name) > longestName) return []
  return [{ type, name, definition, tokens: tokensOf(definition), ...hashesOf(type, definition) }]
}

function isKept(value: Fields, most: number): boolean {
  return !isDeeper(value, deepest) && JSON.stringify(value).length <= most && isStorableJson(value)
}

function isDeeper(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return left === 0 || Object.values(value).some((child) => isDeeper(child, left - 1))
}

/** Clients give a model the name, the description and the schema of the input. */
function tokensOf({ name, description, inputSchema }: Fields): number {
  const given = JSON.stringify({ name, description, inputSchema })
  return given.length > countedLength ? Math.ceil(given.length / 4) : countTokens(given)
}
