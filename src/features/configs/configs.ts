import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, flushUnique, holdSlug, onlySlugs, orMeant } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { gatewayConfig, type GatewayConfig } from '../../gateway/ports/configs.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import { pathText } from '../../lib/json/json-path.ts'
import { maskFault, maskSecrets, restoreSecrets } from '../../lib/text/masked-secrets.ts'
import { madeSlug } from '../../lib/text/slug.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { demandStartNotBoundFromAbove } from '../references/index.ts'
import { ConfigEntity, ConfigVersion, configPlace } from './config.entity.ts'
import type { Level } from '../../release/level.ts'
import { refuseLaterChecks } from './levels.ts'
import { guardrailsNamedIn, pluginsNamedIn, providersNamedIn, refuseUnusableGuardrails } from './references.ts'
import { configSecrets } from './secrets.ts'
import { demandUnbilled, refuseUnbilled } from './unbilled.ts'
import { refuseManyTargets } from './many-targets.ts'
import { checkUrls } from './urls.ts'

/** A config that the caller may see, AB08 otherwise. Locked when it is about to change. */
export async function findConfig(
  em: EntityManager,
  actor: Actor,
  { reference, forWrite = false }: { readonly reference: string; readonly forWrite?: boolean },
): Promise<ConfigEntity> {
  const where = { $and: [byIdOrSlug(reference), visibleConfigs(actor)] }
  const row = await em.findOne(ConfigEntity, where, forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  return orMeant(row, { noun: 'config', reference, param: 'slug' }, () => em.find(ConfigEntity, visibleConfigs(actor), onlySlugs))
}

/** A workspace key sees the configs of its workspace, an organisation key those of the organisation. */
export const visibleConfigs = (actor: Actor) => ({
  organisationId: actor.organisationId,
  ...(actor.workspaceId !== null && { workspaceId: actor.workspaceId }),
  status: 'active' as const,
})

export interface NewConfig {
  readonly name: string
  readonly slug?: string | undefined
  readonly config: GatewayConfig
  readonly workspaceId: string
  readonly isDefault: boolean
}

/** The actor of a write and the services that validate and seal it. */
export interface WriteContext {
  readonly actor: Actor
  readonly vault: Vault
  readonly egress: Egress
  readonly level: Pick<Level, 'release' | 'atLeast'>
  /** The most attempts of a request. */
  readonly maxAttempts: number
}

/** Stores a config with its first version. The rows are written when it returns. */
export async function addConfig(em: EntityManager, wanted: NewConfig, writing: WriteContext): Promise<ConfigEntity> {
  const { actor } = writing
  refuseMasks(wanted.config)
  const slug = wanted.slug ?? madeSlug('pc', wanted.name)
  await holdSlug(em, `configs:${actor.organisationId}`, slug)
  if (wanted.isDefault) await takeDefault(em, actor, wanted.workspaceId)
  const row = em.create(ConfigEntity, {
    organisationId: actor.organisationId,
    workspaceId: wanted.workspaceId,
    slug,
    name: wanted.name,
    isDefault: wanted.isDefault,
    versionId: uuidv7(),
    ownerId: actor.userId ?? actor.id,
  })
  await addVersion(em, row, { config: wanted.config, version: 1, ...writing })
  await flushUnique(em, `There is already a config with the slug "${slug}".`, 'slug')
  return row
}

interface NewVersion extends WriteContext {
  readonly config: GatewayConfig
  readonly version: number
}

async function addVersion(
  em: EntityManager,
  row: ConfigEntity,
  { config, version, actor, vault, egress, level, maxAttempts }: NewVersion,
): Promise<void> {
  refuseLaterChecks(config, level)
  refuseUnbilled(config, actor)
  await demandUnbilled(em, actor, { config, row })
  refuseManyTargets(config, maxAttempts)
  await checkUrls(config, egress)
  await refuseUnusableGuardrails(em, { row, vault }, config)
  const owned = { id: row.versionId, organisationId: row.organisationId }
  em.create(ConfigVersion, {
    ...owned,
    configId: row.id,
    version,
    config: Buffer.from(await vault.encrypt(configPlace(owned), JSON.stringify(config))),
    createdBy: actor.userId ?? actor.id,
  })
  row.guardrailReferences = [...guardrailsNamedIn(config)]
  row.pluginReferences = [...pluginsNamedIn(config)]
  row.providerReferences = [...providersNamedIn(config)]
}

/** Makes a new content effective. A masked credential stays unchanged, as long as its destination does. */
export async function replaceContent(em: EntityManager, row: ConfigEntity, change: Omit<NewVersion, 'version'>): Promise<void> {
  const latest = await em.findOneOrFail(ConfigVersion, { configId: row.id }, { orderBy: { version: 'desc' } })
  const current = await readVersion(em, row, change.vault)
  const outcome = restoreSecrets(change.config, current, configSecrets)
  if ('fault' in outcome) throw maskFault(`config.${pathText(outcome.fault.path)}`, outcome.fault.reason, moved)
  row.versionId = uuidv7()
  await addVersion(em, row, { ...change, config: gatewayConfig.parse(outcome.restored), version: latest.version + 1 })
}

export const moved = 'goes elsewhere than before, and a stored credential only goes where it was stored for'

function refuseMasks(config: GatewayConfig): void {
  const outcome = restoreSecrets(config, {}, configSecrets)
  if ('fault' in outcome) throw maskFault(`config.${pathText(outcome.fault.path)}`, outcome.fault.reason, moved)
}

/** Takes the place of the workspace's default away from whichever config has it. */
export async function takeDefault(em: EntityManager, actor: Actor, workspaceId: string): Promise<void> {
  await demandDefault(em, actor, { workspaceId, param: 'is_default' })
  await holdSlug(em, `default-config:${workspaceId}`, '')
  for (const row of await em.find(ConfigEntity, { workspaceId, isDefault: true, status: 'active' })) row.isDefault = false
  await em.flush()
}

/** Throws AB03 when a caller of higher rank bound a key to the default config of the workspace, which is about to be another one, or none. */
export const demandDefault = (
  em: EntityManager,
  actor: Actor,
  { workspaceId, param }: { readonly workspaceId: string; readonly param: string },
): Promise<void> => demandStartNotBoundFromAbove(em, actor, { of: 'all', organisationId: actor.organisationId, workspaceId, param })

/** The content that counts now, credentials in the clear. */
export async function readVersion(em: EntityManager, { versionId }: Pick<ConfigEntity, 'versionId'>, vault: Vault): Promise<unknown> {
  return openVersion(await em.findOneOrFail(ConfigVersion, { id: versionId }), vault)
}

/** The content of a version, credentials in the clear. */
async function openVersion(version: ConfigVersion, vault: Vault): Promise<unknown> {
  const content: unknown = JSON.parse(await vault.decrypt(configPlace(version), version.config))
  return content
}

/** A content as it is answered. */
export function shownContent(content: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(Object(maskSecrets(content, configSecrets))))
}

/** A config as it is answered, without its content. */
export const presentConfig = (row: ConfigEntity) => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  organisation_id: row.organisationId,
  workspace_id: row.workspaceId,
  is_default: Number(row.isDefault),
  status: row.status,
  owner_id: row.ownerId ?? null,
  updated_by: row.updatedBy ?? null,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'config' as const,
})

/** One version as it is answered: the config as it was then. */
export async function presentVersion(row: ConfigEntity, version: ConfigVersion, vault: Vault) {
  const at = version.createdAt.toISOString()
  return {
    ...presentConfig(row),
    id: version.id,
    version_id: version.id,
    version: version.version,
    updated_by: version.createdBy ?? null,
    created_at: at,
    last_updated_at: at,
    format: 'json' as const,
    type: 'ORG_CONFIG' as const,
    config: JSON.stringify(shownContent(await openVersion(version, vault))),
  }
}
