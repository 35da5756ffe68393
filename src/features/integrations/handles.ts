import type { EntityManager } from '@mikro-orm/postgresql'
import { flushUnique, holdSlug } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { freeSlug, toSlug } from '../../lib/slug.ts'
import { toExpiry, type RateLimit, type UsageLimits } from '../limits/index.ts'
import { ProviderEntity } from '../providers/provider.entity.ts'

/** What a caller may say of a provider or a virtual key. Undefined: nothing said. */
export interface ProviderFields {
  readonly name?: string | undefined
  readonly note?: string | null | undefined
  readonly usage_limits?: UsageLimits | null | undefined
  readonly rate_limits?: readonly RateLimit[] | null | undefined
  readonly expires_at?: string | null | undefined
  readonly reset_usage?: boolean | undefined
}

export interface NewProvider extends ProviderFields {
  readonly name: string
  readonly slug?: string | undefined
  readonly kind: ProviderEntity['kind']
  readonly isDefault?: boolean
  readonly workspaceId: string
  readonly integrationId: string
}

/** Stores a provider under the slug asked for, or under one made from its name. The row is written when it returns. */
export async function addProvider(
  em: EntityManager,
  wanted: NewProvider,
  { actor, nowMs }: { actor: Actor; nowMs: number },
): Promise<ProviderEntity> {
  const { workspaceId } = wanted
  const slug = await chooseSlug(em, wanted)
  const row = em.create(ProviderEntity, {
    organisationId: actor.organisationId,
    workspaceId,
    integrationId: wanted.integrationId,
    kind: wanted.kind,
    isDefault: wanted.isDefault ?? false,
    slug,
    name: wanted.name,
    note: wanted.note ?? null,
    usageLimits: wanted.usage_limits ?? null,
    rateLimits: wanted.rate_limits ?? null,
    expiresAt: toExpiry(wanted.expires_at, nowMs) ?? null,
    createdBy: actor.id,
  })
  const param = wanted.isDefault === true ? 'default_provider_slug' : 'slug'
  await flushUnique(em, `This workspace already has a provider or virtual key with the slug "${slug}".`, param)
  return row
}

async function chooseSlug(em: EntityManager, { slug, name, workspaceId }: NewProvider): Promise<string> {
  const wanted = slug ?? toSlug(name, 'provider')
  await holdSlug(em, `providers:${workspaceId}`, wanted)
  if (slug !== undefined) return slug
  return freeSlug(
    wanted,
    async (candidate) => (await em.count(ProviderEntity, { workspaceId, slug: candidate, status: { $ne: 'archived' } })) > 0,
  )
}
