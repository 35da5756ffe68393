import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, onlySlugs, orMeant } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { demandSetter } from '../../lib/access/set-from-above.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { settersOf, type ProviderFields } from '../integrations/index.ts'
import { Integration } from '../integrations/integration.entity.ts'
import { boundsAbove, ownGroups, revived, statusAt, toExpiry } from '../limits/index.ts'
import { resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
import { ProviderEntity } from './provider.entity.ts'

type Kind = ProviderEntity['kind']

export interface ProviderReference {
  /** UUID or slug; the `@` of a slug may stand before it. */
  readonly reference: string
  readonly workspace: string | undefined
  readonly kind: Kind
  readonly forWrite?: boolean
}

/** A live provider of that kind that the caller may see; a slug without a workspace is looked up in the default workspace. */
export async function findStoredProvider(em: EntityManager, actor: Actor, wanted: ProviderReference): Promise<ProviderEntity> {
  const reference = wanted.reference.replace(/^@/, '')
  const workspaceId = isUuid(reference)
    ? await workspaceFilter(em, actor, wanted.workspace)
    : (await resolveWorkspace(em, actor, wanted.workspace)).id
  const visible = {
    ...(workspaceId !== null && { workspaceId }),
    organisationId: actor.organisationId,
    kind: wanted.kind,
    status: { $ne: 'archived' as const },
  }
  const lock = wanted.forWrite === true ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {}
  const row = await em.findOne(ProviderEntity, { ...visible, ...byIdOrSlug(reference) }, lock)
  const noun = wanted.kind === 'provider' ? 'provider' : 'virtual key'
  return orMeant(row, { noun, reference: wanted.reference, param: 'slug' }, () => em.find(ProviderEntity, visible, onlySlugs))
}

/** Returns the limits above a provider. */
export async function boundsOf(
  em: EntityManager,
  actor: Actor,
  { row, off }: { row: ProviderEntity; off: ReadonlySet<string> | undefined },
) {
  const { organisationId, workspaceId, integrationId, slug, id } = row
  const integration = await em.findOne(Integration, { organisationId, id: integrationId })
  const names = { provider: [slug, `@${slug}`, integration?.aiProviderId ?? ''], virtual_key: [slug, id] }
  return boundsAbove(em, { organisationId, workspaceId, off, names, integrationId, own: await ownGroups(em, actor) })
}

/** Changes the fields of a provider. */
export function changeProvider(
  row: ProviderEntity,
  fields: ProviderFields,
  { actor, nowMs }: { readonly actor: Actor; readonly nowMs: number },
): void {
  const expiresAt = toExpiry(fields.expires_at, nowMs)
  row.setterRanks = settersOf(actor, { held: row, usageLimits: fields.usage_limits, rateLimits: fields.rate_limits, expiresAt })
  if (fields.reset_usage === true && row.usageLimits) demandSetter(actor, row.setterRanks, { field: 'usage_limits', param: 'reset_usage' })
  assignDefined(row, {
    name: fields.name,
    note: fields.note,
    usageLimits: fields.usage_limits,
    usageResetAt: fields.reset_usage === true ? new Date(nowMs) : undefined,
    rateLimits: fields.rate_limits,
    expiresAt,
    tags: fields.tags === null ? {} : fields.tags,
    status: revived(row.status, { expiresAt, resetUsage: fields.reset_usage }),
  })
}

/** Returns the answer fields that providers and virtual keys share. */
export const presentShared = (row: ProviderEntity, nowMs: number) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  workspace_id: row.workspaceId,
  note: row.note ?? null,
  status: statusAt(row, nowMs),
  usage_limits: row.usageLimits ?? null,
  rate_limits: row.rateLimits ? [...row.rateLimits] : null,
  reset_usage: null,
  expires_at: row.expiresAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
})

/** A provider as it is answered. */
export const presentProvider = (row: ProviderEntity, nowMs: number) => ({
  ...presentShared(row, nowMs),
  integration_id: row.integrationId,
  tags: { ...row.tags },
  object: 'provider' as const,
})
