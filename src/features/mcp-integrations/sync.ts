import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { inTenant } from '../../app/database/orm.ts'
import type { Actor } from '../../app/route.ts'
import { inTrial } from '../../app/trial-limit.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import type { UpstreamSignIn } from '../../gateway/ports/mcp.ts'
import { ApiError } from '../../lib/errors.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { findMcpIntegration } from './access.ts'
import { askAll, type ServerOutcome, type AskedServer, type SeenCapability, type SeenFacts } from './ask-server.ts'
import { keyOf, readKnown } from './capabilities.ts'
import type { McpIntegration } from './mcp-integration.entity.ts'
import { openHeaders } from './mcp-integrations.ts'

/** Finds the sign-in by OAuth with which a server is asked; null: it needs none. */
export type SignInFinder = (em: EntityManager, integration: McpIntegration) => Promise<UpstreamSignIn | null>

interface AskingMeans extends Pick<Deps, 'vault'> {
  readonly signIn: SignInFinder
}

/** Reads how a server is asked. */
export async function toAsked(em: EntityManager, integration: McpIntegration, { vault, signIn }: AskingMeans): Promise<AskedServer> {
  const { settings } = await em.findOneOrFail(Organisation, { id: integration.organisationId })
  const { allowed_custom_hosts: allowedHosts = null }: { readonly allowed_custom_hosts?: unknown } = Object(settings)
  return { integration, headers: await openHeaders(integration, vault), signIn: await signIn(em, integration), allowedHosts }
}

/** The answer of a server, and the address that was asked. */
export interface SyncAnswer {
  readonly url: string
  readonly outcome: ServerOutcome<SeenFacts & { readonly capabilities: readonly SeenCapability[] }>
}

/** Asks the server of an integration that the caller may change; no transaction is open meanwhile. */
export async function askForSync(actor: Actor, reference: string, deps: Deps & { readonly signIn: SignInFinder }): Promise<SyncAnswer> {
  const asked = await inTenant(deps.orm, actor.organisationId, async (em) =>
    toAsked(em, await findMcpIntegration(em, actor, { reference, verb: 'update' }), deps),
  )
  const outcome = await inTrial(deps.egress, actor.organisationId, () => askAll(deps, asked))
  return { url: asked.integration.url, outcome }
}

/** The names of additions, changes and removals that a sync found. */
export interface SyncChanges {
  readonly isFirst: boolean
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

const nothing: SyncChanges = { isFirst: false, added: [], changed: [], removed: [] }

/** Stores the outcome of a sync. A failed one leaves all capabilities as they are. */
export async function storeSync(
  em: EntityManager,
  integration: McpIntegration,
  { synced, now }: { synced: SyncAnswer; now: Date },
): Promise<SyncChanges> {
  if (synced.url !== integration.url)
    throw new ApiError('AB07', 'The address of the integration was changed meanwhile. Sync it again.', { param: 'mcpIntegrationId' })
  const { outcome } = synced
  if ('fault' in outcome) {
    assignDefined(integration, { syncStatus: 'failed', syncError: outcome.fault, lastSyncAt: now })
    return nothing
  }
  const { info, flags, era, revision, capabilities } = outcome.found
  assignDefined(integration, {
    serverInfo: info,
    capabilityFlags: flags,
    era,
    protocolVersions: [revision],
    syncStatus: 'synced',
    lastSyncAt: now,
  })
  integration.syncError = null
  return storeCapabilities(em, integration, { capabilities, now })
}

const upsert = `
  INSERT INTO mcp_capabilities AS c (id, organisation_id, integration_id, type, name, definition, hash, input_hash, tokens, first_seen_at, changed_at)
  SELECT gen_random_uuid(), ?, ?, s.type, s.name, s.definition, s.hash, s."inputHash", s.tokens, ?, ?
    FROM jsonb_to_recordset(?) AS s (type text, name text, definition jsonb, hash text, "inputHash" text, tokens integer)
  ON CONFLICT (integration_id, type, name) DO UPDATE
     SET definition = EXCLUDED.definition, hash = EXCLUDED.hash, input_hash = EXCLUDED.input_hash, tokens = EXCLUDED.tokens,
         is_removed = false, changed_at = EXCLUDED.changed_at, last_updated_at = EXCLUDED.changed_at
   WHERE c.hash <> EXCLUDED.hash OR c.is_removed
  RETURNING id, type, name`

const remove = `
  UPDATE mcp_capabilities SET is_removed = true, changed_at = ?, last_updated_at = ? WHERE id = ANY (?::uuid[])`

const addVersions = `
  INSERT INTO mcp_capability_versions (id, organisation_id, capability_id, definition, hash, seen_at)
  SELECT gen_random_uuid(), organisation_id, id, definition, hash, ? FROM mcp_capabilities WHERE id = ANY (?::uuid[])`

/** A server that changes at every sync fills no table. */
const [mostVersions, mostRemoved] = [50, 1000]

const pruneVersions = `
  DELETE FROM mcp_capability_versions WHERE id IN (
    SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY capability_id ORDER BY seen_at DESC, id DESC) AS place
                      FROM mcp_capability_versions WHERE capability_id = ANY (?::uuid[])) v
     WHERE v.place > ${mostVersions})`

const forgotten = `SELECT id FROM mcp_capabilities WHERE integration_id = ? AND is_removed ORDER BY changed_at DESC, id OFFSET ${mostRemoved}`
const forgetVersions = `DELETE FROM mcp_capability_versions WHERE capability_id = ANY (?::uuid[])`
const forget = `DELETE FROM mcp_capabilities WHERE id = ANY (?::uuid[])`

const ids = (rows: readonly { readonly id: string }[]): string => `{${rows.map(({ id }) => id).join(',')}}`

const namesOf = (rows: readonly { readonly name: string }[]): string[] => rows.map(({ name }) => name)

interface Store {
  readonly capabilities: readonly SeenCapability[]
  readonly now: Date
}

async function storeCapabilities(
  em: EntityManager,
  { id, organisationId }: McpIntegration,
  { capabilities, now }: Store,
): Promise<SyncChanges> {
  const before = new Map((await readKnown(em, id)).map((row) => [keyOf(row), row]))
  const seen = new Set(capabilities.map(keyOf))
  const written = await em.execute<{ id: string; type: SeenCapability['type']; name: string }[]>(upsert, [
    organisationId,
    id,
    now,
    now,
    JSON.stringify(capabilities),
  ])
  const gone = [...before.values()].filter((row) => !row.isRemoved && !seen.has(keyOf(row)))
  if (gone.length > 0) await em.execute(remove, [now, now, ids(gone)])
  if (written.length > 0) {
    await em.execute(addVersions, [now, ids(written)])
    await em.execute(pruneVersions, [ids(written)])
  }
  const old = await em.execute<{ id: string }[]>(forgotten, [id])
  if (old.length > 0) {
    await em.execute(forgetVersions, [ids(old)])
    await em.execute(forget, [ids(old)])
  }
  return {
    isFirst: before.size === 0,
    added: namesOf(written.filter((row) => !before.has(keyOf(row)))),
    changed: namesOf(written.filter((row) => before.has(keyOf(row)))),
    removed: namesOf(gone),
  }
}
