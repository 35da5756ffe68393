import type { EntityManager } from '@mikro-orm/postgresql'
import type { RowChange } from '../../app/audit/changes.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import type { CapabilityKind } from '../../lib/mcp-definition.ts'
import { type PinStanding, standingOf } from '../../gateway/ports/mcp.ts'
import { keyOf, type KnownCapability, presentDefinition, presentSeen, readKnown, settingsByKey } from '../mcp-integrations/index.ts'
import { fromAmount, toAmount } from '../limits/index.ts'
import { McpCapability } from '../mcp-integrations/mcp-capability.entity.ts'
import type { McpServerEntity } from './mcp-server.entity.ts'
import { McpServerCapability } from './mcp-server-rights.entity.ts'
import type { CapabilitySetting } from './rights.schema.ts'

/** A setting of a server, without the definition that was approved. */
export type KnownRule = Pick<
  McpServerCapability,
  'id' | 'type' | 'name' | 'enabled' | 'price' | 'pinnedHash' | 'pinnedInputHash' | 'rejectedHash' | 'toldHash'
>

/** A capability of a server: the findings of syncs, and the setting of the server. */
export interface ServerCapability {
  readonly type: CapabilityKind
  readonly name: string
  readonly known: KnownCapability | null
  readonly rule: KnownRule | null
  readonly standing: PinStanding
}

const hashesOf = (hash: string | null | undefined, inputHash: string | null | undefined) =>
  hash ? { hash, inputHash: inputHash ?? '' } : null

/** Returns how a capability stands on a server. */
export const standingOn = (
  { pinning }: Pick<McpServerEntity, 'pinning'>,
  known: Pick<KnownCapability, 'hash' | 'inputHash'> | null,
  rule: Pick<KnownRule, 'pinnedHash' | 'pinnedInputHash' | 'rejectedHash'> | null,
): PinStanding =>
  standingOf(pinning, {
    seen: known,
    pinned: hashesOf(rule?.pinnedHash, rule?.pinnedInputHash),
    rejectedHash: rule?.rejectedHash ?? null,
  })

/** Reads the settings of a server, without approved definitions. */
export const readRules = (em: EntityManager, serverId: string): Promise<KnownRule[]> =>
  em.find(McpServerCapability, { serverId }, { exclude: ['pinnedDefinition'] })

/** Reads the capabilities of a server by name. */
export async function readCapabilities(em: EntityManager, server: McpServerEntity): Promise<readonly ServerCapability[]> {
  const rules = new Map((await readRules(em, server.id)).map((rule) => [keyOf(rule), rule]))
  const known = await readKnown(em, server.integrationId)
  const seen = known.map((one) => {
    const rule = rules.get(keyOf(one)) ?? null
    rules.delete(keyOf(one))
    return { type: one.type, name: one.name, known: one, rule, standing: standingOn(server, one, rule) }
  })
  const unseen = [...rules.values()]
    .filter(({ enabled }) => enabled !== null)
    .map((rule) => ({ type: rule.type, name: rule.name, known: null, rule, standing: standingOn(server, null, rule) }))
  return [...seen, ...unseen].toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

/** The status of a capability in the API. */
export function statusOf({ known, standing }: ServerCapability): 'approved' | 'held' | 'flagged' | 'rejected' | 'removed' | 'unseen' {
  if (known === null) return 'unseen'
  if (known.isRemoved) return 'removed'
  return standing === 'kept' ? 'held' : standing
}

/** Returns whether callers may use it, as far as settings go. */
export const isEnabled = ({ defaultAccess }: Pick<McpServerEntity, 'defaultAccess'>, { rule }: Pick<ServerCapability, 'rule'>): boolean =>
  rule?.enabled ?? defaultAccess === 'allow'

/** Returns the names of the tools that callers may use by the settings of a server, in order. */
export async function usableTools(em: EntityManager, server: McpServerEntity): Promise<readonly string[]> {
  const held: ReadonlySet<string> = new Set(['held', 'rejected'])
  return (await readCapabilities(em, server))
    .filter((one) => one.type === 'tool' && one.known !== null && !one.known.isRemoved && one.known.enabled && isEnabled(server, one))
    .filter((one) => one.standing === 'kept' || !held.has(one.standing))
    .map(({ name }) => name)
}

/** Reads the definitions of capabilities, and returns how each is answered. */
export async function presentCapabilities(em: EntityManager, server: McpServerEntity, rows: readonly ServerCapability[]) {
  const ids = rows.flatMap(({ known }) => (known === null ? [] : [known.id]))
  const found = new Map((await em.find(McpCapability, { id: { $in: ids } })).map((row) => [row.id, row]))
  return rows.map((one) => {
    const row = one.known === null ? undefined : found.get(one.known.id)
    const unseen = { hash: null, tokens: null, first_seen_at: null, changed_at: null }
    return {
      ...presentDefinition(one.type, one.name, row?.definition ?? {}),
      ...(row === undefined ? unseen : presentSeen(row)),
      enabled: isEnabled(server, one),
      has_override: (one.rule?.enabled ?? null) !== null,
      integration_enabled: one.known?.enabled ?? true,
      price: fromAmount(one.rule?.price),
      status: statusOf(one),
      serves_approved: one.standing === 'kept',
      approved_hash: one.rule?.pinnedHash ?? null,
    }
  })
}

/** The most settings of one server. */
const mostRules = 5000

interface Decider {
  /** Null: the first sync, which has no author. */
  readonly by: string | null
  readonly at: Date
}

/** Changes the settings of a server. AB01, AB07 and AB08 name the field. */
export async function changeSettings(
  em: EntityManager,
  server: McpServerEntity,
  { settings, decider }: { readonly settings: readonly CapabilitySetting[]; readonly decider: Decider },
): Promise<readonly RowChange[]> {
  const named = settingsByKey(settings)
  const rules = new Map((await readRules(em, server.id)).map((rule) => [keyOf(rule), rule]))
  const known = new Map((await readKnown(em, server.integrationId)).map((row) => [keyOf(row), row]))
  if (new Set([...rules.keys(), ...named.keys()]).size > mostRules)
    throw new ApiError('AB07', `A server has at most ${mostRules} settings of tools, prompts and resources.`, { param: 'capabilities' })
  const approvals: Approval[] = []
  for (const [key, { name, type, enabled, price, hash, at }] of named) {
    const rule = rules.get(key)
    if (rule === undefined)
      em.create(McpServerCapability, {
        organisationId: server.organisationId,
        serverId: server.id,
        type,
        name,
        enabled,
        price: toAmount(price ?? null),
      })
    else assignDefined(rule, { enabled, price: toAmount(price) })
    if (hash !== undefined) {
      demandSeen(known.get(key), { hash, name, param: `capabilities[${at}].hash` })
      approvals.push({ type, name, hash, param: `capabilities[${at}].hash` })
    }
  }
  await em.flush()
  return approve(em, server, { approvals, decider })
}

interface SeenHash {
  readonly hash: string
  readonly name: string
  readonly param: string
}

/** AB08 for a thing that no sync has found, AB07 for a definition that has moved on since it was seen. */
export function demandSeen(
  known: Pick<KnownCapability, 'hash'> | undefined,
  { hash, name, param }: SeenHash,
): asserts known is NonNullable<typeof known> {
  if (known === undefined) throw new ApiError('AB08', `The server is not known to offer "${name.slice(0, 255)}".`, { param })
  if (known.hash !== hash) throw movedOn(param, { hash: known.hash })
}

const movedOn = (param: string, details: Readonly<Record<string, unknown>>): ApiError =>
  new ApiError('AB07', 'The definition has moved on since it was seen. Read it again, and decide on what it is now.', { param, details })

/** A capability whose definition is approved. */
export interface Approval {
  readonly type: CapabilityKind
  readonly name: string
  /** The definition that was seen. */
  readonly hash: string
  readonly param: string
}

/** By SQL, so that the trail has hashes and not whole definitions. */
const approveStatement = `
  INSERT INTO mcp_server_capabilities AS r (id, organisation_id, server_id, type, name, pinned_hash, pinned_input_hash, pinned_definition, decided_by, decided_at)
  SELECT gen_random_uuid(), c.organisation_id, ?, c.type, c.name, c.hash, c.input_hash, c.definition, ?, ?
    FROM mcp_capabilities c
   WHERE c.integration_id = ? AND (?::jsonb IS NULL OR (c.type, c.name, c.hash) IN (SELECT a.type, a.name, a.hash FROM jsonb_to_recordset(?) AS a (type text, name text, hash text)))
  ON CONFLICT (server_id, type, name) DO UPDATE
     SET pinned_hash = EXCLUDED.pinned_hash, pinned_input_hash = EXCLUDED.pinned_input_hash, pinned_definition = EXCLUDED.pinned_definition,
         rejected_hash = NULL, decided_by = EXCLUDED.decided_by, decided_at = EXCLUDED.decided_at, last_updated_at = EXCLUDED.decided_at
  RETURNING r.id, r.type, r.name, r.pinned_hash AS hash`

/** Approves the definitions of capabilities; without a list those of all as they are. AB07 for one that a sync has just changed. */
export async function approve(
  em: EntityManager,
  { id, integrationId }: Pick<McpServerEntity, 'id' | 'integrationId'>,
  { approvals, decider }: { readonly approvals: readonly Approval[] | null; readonly decider: Decider },
): Promise<readonly RowChange[]> {
  if (approvals?.length === 0) return []
  const named = approvals === null ? null : JSON.stringify(approvals.map(({ type, name, hash }) => ({ type, name, hash })))
  const values = [id, decider.by, decider.at, integrationId, named, named ?? '[]']
  const rows = await em.execute<{ id: string; type: string; name: string; hash: string }[]>(approveStatement, values)
  const missing = approvals?.find((one) => !rows.some(({ type, name }) => type === one.type && name === one.name))
  if (missing !== undefined) throw movedOn(missing.param, {})
  return rows.map(({ id: rule, type, name, hash }) => ({
    table: 'mcp_server_capabilities',
    id: rule,
    before: null,
    after: { type, name, pinned_hash: hash },
  }))
}
