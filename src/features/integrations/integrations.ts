import type { EntityManager } from '@mikro-orm/postgresql'
import { flushUnique, holdSlug } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { Level } from '../../release/level.ts'
import { addressOf, checkUrls, parseConfigurations, splitSecrets, type Configurations } from './configurations.ts'
import { openConfigurations, sealConfigurations, sealKey } from './credential.ts'
import { demandPrices, type PriceChange } from './price-fields.ts'
import { skipPtuField } from '../../gateway/ports/providers.ts'
import { keyField } from '../../gateway/ports/secrets.ts'
import { demandDestinationNotBoundFromAbove } from '../references/index.ts'
import { type GivenMapping, presentMappings, resolveMappings, type StoredMapping } from '../secret-references/index.ts'
import { Integration } from './integration.entity.ts'

interface Guards {
  readonly vault: Vault
  readonly egress: Egress
  readonly level: Pick<Level, 'atLeast'>
}

export interface NewIntegration {
  readonly name: string
  readonly slug?: string | undefined
  readonly kind: Integration['kind']
  readonly workspaceId: string | null
  readonly aiProviderId: string
  readonly key: string | null
  readonly configurations: Configurations
  readonly description: string | null
  readonly pricingAdjustments: Configurations | null
  readonly tags?: Readonly<Record<string, string>>
  readonly secretMappings: readonly GivenMapping[]
}

/** Stores an integration with its credential sealed. The row is written when it returns. */
export async function addIntegration(
  em: EntityManager,
  wanted: NewIntegration,
  { actor, vault, egress, level }: Guards & { actor: Actor },
): Promise<Integration> {
  const { aiProviderId, workspaceId } = wanted
  const mappings = await resolveMappings(em, actor, { given: wanted.secretMappings, aiProviderId, workspaceId })
  const configurations = parseConfigurations(wanted.configurations, { aiProviderId, level, ...keysOf(wanted.key !== null, mappings) })
  await checkUrls(configurations, egress)
  await demandPrices(em, actor, {
    integration: wanted,
    changes: [{ param: 'pricing_adjustments', before: null, after: wanted.pricingAdjustments }, skipChange({}, configurations)],
  })
  const owner = { id: uuidv7(), organisationId: actor.organisationId }
  const slug = await chooseSlug(em, actor, wanted)
  const row = em.create(Integration, {
    ...owner,
    workspaceId: wanted.workspaceId,
    kind: wanted.kind,
    slug,
    name: wanted.name,
    description: wanted.description,
    aiProviderId: wanted.aiProviderId,
    pricingAdjustments: wanted.pricingAdjustments,
    tags: wanted.tags ?? {},
    secretMappings: mappings,
    createdBy: actor.id,
    ...(await sealKey(owner, wanted.key, vault)),
    ...(await sealConfigurations(owner, configurations, vault)),
  })
  await flushUnique(em, `There is already an integration with the slug "${slug}".`, 'slug')
  return row
}

/** Returns the change of the field by which provisioned throughput is not charged. */
const skipChange = (before: Configurations, after: Configurations): PriceChange => ({
  param: `configurations.${skipPtuField}`,
  before: before[skipPtuField],
  after: after[skipPtuField] ?? null,
})

async function chooseSlug(em: EntityManager, { organisationId }: Actor, { slug, name }: NewIntegration): Promise<string> {
  const wanted = slug ?? toSlug(name, 'integration')
  await holdSlug(em, `integrations:${organisationId}`, wanted)
  if (slug !== undefined) {
    await demandFree(em, organisationId, slug)
    return slug
  }
  return freeSlug(wanted, async (candidate) => (await em.count(Integration, { organisationId, slug: candidate, status: 'active' })) > 0)
}

/** AB07 with the owner of the slug: an integration of any workspace, or the account that a virtual key keeps for itself. */
async function demandFree(em: EntityManager, organisationId: string, slug: string): Promise<void> {
  const holder = await em.findOne(Integration, { organisationId, slug, status: 'active' })
  if (holder === null) return
  const owner = holder.kind === 'integration' ? `the integration "${holder.name}"` : `the account of the virtual key "${holder.name}"`
  const where = holder.workspaceId ? 'of a workspace' : 'of the organisation'
  throw new ApiError('AB07', `The slug "${slug}" is that of ${owner} ${where}: integrations share one set of slugs. Choose another slug.`, {
    param: 'slug',
  })
}

/** Returns the fields for which mappings stand. AB01 for a key that is given and mapped. */
function keysOf(hasKey: boolean, mappings: readonly StoredMapping[]) {
  const mapped = mappings.map(({ target_field: field }) => field)
  const mapsKey = mapped.includes(keyField)
  if (hasKey && mapsKey) throw new ApiError('AB01', 'key is given, and mapped to a secret too: leave one of them out.', { param: 'key' })
  return { hasKey: hasKey || mapsKey, mapped }
}

export interface CredentialChange {
  /** Undefined: stays; null: taken away. */
  readonly key: string | null | undefined
  /** Field by field; null clears a field, or all of them. */
  readonly configurations: Configurations | null | undefined
  /** Undefined: stay; null or empty: none any more. */
  readonly secretMappings: readonly GivenMapping[] | null | undefined
}

/** The caller of a change, and its transaction. */
interface ChangeContext extends Guards {
  readonly em: EntityManager
  readonly actor: Actor
}

/** Changes the key and the configurations. A credential that stays is never carried over to another host. */
export async function changeCredential(row: Integration, change: CredentialChange, changing: ChangeContext): Promise<void> {
  const { em, actor, vault, egress, level } = changing
  const { aiProviderId } = row
  if (change.secretMappings !== undefined) {
    const given = change.secretMappings ?? []
    row.secretMappings = await resolveMappings(em, actor, { given, aiProviderId, workspaceId: row.workspaceId ?? null })
  }
  if (change.configurations !== undefined || change.secretMappings !== undefined || change.key !== undefined) {
    const before = await openConfigurations(row, vault)
    const hasKey = change.key === undefined ? Boolean(row.credential) : change.key !== null
    const merged = change.configurations === undefined ? before : merge(before, change.configurations)
    const after = parseConfigurations(merged, { aiProviderId, level, ...keysOf(hasKey, row.secretMappings ?? []) })
    await demandPrices(em, actor, { integration: row, changes: [skipChange(before, after)] })
    if (hostOf(row, before) !== hostOf(row, after)) {
      await demandDestinationNotBoundFromAbove(em, actor, { row, param: 'configurations' })
      demandSecretsAgain(row, change, after)
    }
    await checkUrls(after, egress)
    assignDefined(row, await sealConfigurations(row, after, vault))
  }
  if (change.key !== undefined) assignDefined(row, await sealKey(row, change.key, vault))
}

function merge(before: Configurations, change: Configurations | null): Configurations {
  if (change === null) return {}
  return Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== null))
}

/** Scheme, host and port that the credential goes to; the text itself when it is no URL. */
function hostOf(row: Integration, configurations: Configurations): string | null {
  const address = addressOf(row.aiProviderId, configurations)
  return address !== null && URL.canParse(address) ? new URL(address).origin : address
}

function demandSecretsAgain(row: Integration, change: CredentialChange, after: Configurations): void {
  const kept = Object.keys(splitSecrets(after).secret).filter((name) => !Object.hasOwn(change.configurations ?? {}, name))
  const keptKey = row.credential && change.key === undefined ? 'key' : undefined
  const keptMappings = (row.secretMappings ?? []).length > 0 && change.secretMappings === undefined ? 'secret_mappings' : undefined
  const keptField = keptKey ?? kept.map((name) => `configurations.${name}`)[0] ?? keptMappings
  if (keptField === undefined) return
  throw new ApiError('AB01', `A stored credential only goes to the host it was stored with. To change the host, give ${keptField} again.`, {
    param: keptField,
  })
}

/** Deletes an integration, and with it the only copy of its credential. */
export function archiveIntegration(row: Integration): void {
  assignDefined(row, { status: 'archived', credential: null, secretConfigurations: null })
}

/** An integration as lists show it. */
export const presentIntegration = (row: Integration) => ({
  id: row.id,
  organisation_id: row.organisationId,
  workspace_id: row.workspaceId ?? null,
  type: row.workspaceId ? ('workspace' as const) : ('organisation' as const),
  ai_provider_id: row.aiProviderId,
  name: row.name,
  status: row.status,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  slug: row.slug,
  description: row.description ?? null,
  tags: { ...row.tags },
  object: 'integration' as const,
})

/** An integration in full, but for its secrets. */
export async function presentDetail(row: Integration, { workspaceCount, vault }: { workspaceCount: number; vault: Vault }) {
  const { secret } = splitSecrets(await openConfigurations(row, vault))
  return {
    ...presentIntegration(row),
    masked_key: row.maskedKey ?? null,
    configurations: { ...row.configurations },
    secret_fields: Object.keys(secret),
    global_workspace_access_settings: row.globalWorkspaceAccess ? { ...row.globalWorkspaceAccess } : null,
    allow_all_models: row.allowAllModels,
    workspace_count: workspaceCount,
    secret_mappings: presentMappings(row.secretMappings ?? []),
    pricing_adjustments: row.pricingAdjustments ? { ...row.pricingAdjustments } : null,
  }
}
