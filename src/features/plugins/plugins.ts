import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, flushUnique, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { type StoredCredentials, type Plugin, plugins } from '../../gateway/ports/checks.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { pathText } from '../../lib/json/json-path.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { refusedPart } from '../../lib/json/schema-faults.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { Level } from '../../release/level.ts'
import { PluginEntity, pluginPlace } from './plugin.entity.ts'
import { openPlugin } from './plugin.view.ts'
import type { CreatePlugin, UpdatePlugin } from './plugin.schema.ts'
import { credentialUrls, restoreCredentials } from './secrets.ts'

/** The caller of a write, and the services that check and seal the credentials. */
export interface WriteContext {
  readonly actor: Actor
  readonly vault: Vault
  readonly egress: Egress
  readonly level: Pick<Level, 'release' | 'atLeast'>
}

type NewPlugin = Omit<CreatePlugin, 'workspace_id'> & { readonly workspaceId: string | null }

/** Stores the credentials of a partner, once for the organisation and once for each workspace. The row is written when it returns. */
export async function addPlugin(em: EntityManager, wanted: NewPlugin, writing: WriteContext): Promise<PluginEntity> {
  const { actor } = writing
  const plugin = demandPlugin(wanted.plugin, writing.level)
  const owner = { id: uuidv7(), organisationId: actor.organisationId }
  const { credentials } = restoreCredentials(plugin, { base_url: wanted.base_url ?? null, credentials: wanted.credentials }, null)
  const row = em.create(PluginEntity, {
    ...owner,
    workspaceId: wanted.workspaceId,
    plugin: plugin.id,
    name: wanted.name ?? plugin.id,
    baseUrl: wanted.base_url ?? null,
    credentials: await accepted(plugin, { credentials, baseUrl: wanted.base_url ?? null, owner }, writing),
    createdBy: actor.userId ?? actor.id,
  })
  const whose = wanted.workspaceId === null ? 'the organisation' : 'this workspace'
  await flushUnique(
    em,
    `There are credentials of "${plugin.id}" for ${whose} already. Change them with PUT /v1/plugins/{pluginId}.`,
    'plugin',
  )
  return row
}

/** Changes the fields of the body. A stored secret stays only as long as the address that it goes to stays. */
export async function changePlugin(row: PluginEntity, body: UpdatePlugin, writing: WriteContext): Promise<void> {
  const plugin = demandPlugin(row.plugin, writing.level)
  if (body.credentials !== undefined || body.base_url !== undefined) {
    const before = await openRow(row, writing.vault)
    const stored = { base_url: before.baseUrl, credentials: before.fields }
    const baseUrl = body.base_url === undefined ? before.baseUrl : body.base_url
    const { credentials } = restoreCredentials(plugin, { base_url: baseUrl, credentials: body.credentials }, stored)
    assignDefined(row, { baseUrl, credentials: await accepted(plugin, { credentials, baseUrl, owner: row }, writing) })
  }
  assignDefined(row, { name: body.name, updatedBy: writing.actor.userId ?? writing.actor.id })
}

/** Deletes the credentials, the only copy. */
export function archivePlugin(row: PluginEntity, actor: Actor): void {
  assignDefined(row, { status: 'archived', credentials: null, updatedBy: actor.userId ?? actor.id })
}

function demandPlugin(id: string, level: WriteContext['level']): Plugin {
  const plugin = plugins.get(id)
  const param = 'plugin'
  if (plugin === undefined)
    throw new ApiError('AB01', `There is no plugin ${JSON.stringify(id)}. There are ${[...plugins.keys()].join(', ')}.`, { param })
  if (plugin.releases.some((release) => level.atLeast(release))) return plugin
  const said = `The plugin ${id} comes with release ${plugin.releases[0]}. The level of this installation is ${level.release}.`
  throw new ApiError('AB01', said, { param })
}

interface GivenCredentials {
  readonly credentials: Readonly<Record<string, unknown>>
  readonly baseUrl: string | null
  readonly owner: Pick<PluginEntity, 'id' | 'organisationId'>
}

/** Seals credentials once they have the fields of the partner, and go to allowed hosts. */
async function accepted(
  plugin: Plugin,
  { credentials, baseUrl, owner }: GivenCredentials,
  { vault, egress }: WriteContext,
): Promise<Buffer> {
  const parsed = parseGiven(plugin.schema, credentials)
  if (!parsed.success)
    throw refusedPart(parsed.error, { value: credentials, above: 'credentials', unknown: `is no credential of "${plugin.id}"` })
  if (Object.values(parsed.data).every((value) => value === undefined))
    throw fault([], `hold nothing. "${plugin.id}" needs ${Object.keys(plugin.schema.shape).join(' or ')}`)
  if (baseUrl !== null) await egress.origin(baseUrl, 'base_url')
  for (const { path, url } of credentialUrls(plugin, parsed.data)) await egress.origin(url, pathText(path))
  return Buffer.from(await vault.encrypt(pluginPlace(owner), JSON.stringify(parsed.data)))
}

const fault = (path: readonly PropertyKey[], text: string): ApiError => {
  const param = pathText(['credentials', ...path])
  return new ApiError('AB01', `${param} ${text}.`, { param })
}

/** Credentials that the caller may see, by their id, or the organisation's by the name of the partner; AB08 otherwise. */
export async function findPlugin(
  em: EntityManager,
  actor: Actor,
  { reference, forWrite = false }: { readonly reference: string; readonly forWrite?: boolean },
): Promise<PluginEntity> {
  const named = byIdOrSlug(reference)
  const wanted = 'id' in named ? named : { plugin: named.slug, workspaceId: null }
  const where = { ...wanted, organisationId: actor.organisationId, status: 'active' as const }
  const row = await em.findOne(PluginEntity, where, forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  return orNotFound(row, 'plugin', { reference, param: 'pluginId' })
}

export const openRow = ({ id, organisationId, baseUrl, credentials }: PluginEntity, vault: Vault): Promise<StoredCredentials> =>
  openPlugin({ id, organisationId, baseUrl: baseUrl ?? null, credentials: credentials ?? Buffer.alloc(0) }, vault)

interface Place {
  readonly organisationId: string
  readonly workspaceId: string | null
}

/** Opens the stored credentials of partners where guardrails run: those of the workspace, else those of the organisation. */
export async function storedCredentials(
  em: EntityManager,
  { organisationId, workspaceId }: Place,
  { names, vault }: { readonly names: readonly string[]; readonly vault: Vault },
): Promise<ReadonlyMap<string, StoredCredentials>> {
  if (names.length === 0) return new Map()
  const homes = [{ workspaceId: null }, ...(workspaceId === null ? [] : [{ workspaceId }])]
  const rows = await em.find(PluginEntity, { organisationId, plugin: { $in: [...names] }, status: 'active', $or: homes })
  // Those of the workspace come last, and so count.
  const inOrder = rows.toSorted((one, other) => Number(one.workspaceId !== null) - Number(other.workspaceId !== null))
  const opened = new Map<string, StoredCredentials>()
  for (const row of inOrder) opened.set(row.plugin, await openRow(row, vault))
  return opened
}

/** Credentials as lists show them. */
export const presentPlugin = (row: PluginEntity) => ({
  id: row.id,
  plugin: row.plugin,
  name: row.name,
  organisation_id: row.organisationId,
  workspace_id: row.workspaceId ?? null,
  base_url: row.baseUrl ?? null,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  created_by: row.createdBy ?? null,
  updated_by: row.updatedBy ?? null,
  object: 'plugin' as const,
})
