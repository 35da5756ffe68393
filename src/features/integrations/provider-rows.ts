import type { EntityManager } from '@mikro-orm/postgresql'
import { flushUnique, holdSlug } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { changedLimits, type SetterRanks } from '../../lib/access/set-from-above.ts'
import { ApiError } from '../../lib/errors.ts'
import { freeSlug, suffixedSlug, toSlug } from '../../lib/text/slug.ts'
import { toExpiry, type RateLimit, type UsageLimits } from '../limits/index.ts'
import { ProviderEntity } from '../providers/provider.entity.ts'
import type { NeedsProvider } from './grants.ts'
import type { Integration } from './integration.entity.ts'

/** The fields of a provider or a virtual key that a caller may set. Undefined: not set. */
export interface ProviderFields {
  readonly name?: string | undefined
  readonly note?: string | null | undefined
  readonly usage_limits?: UsageLimits | null | undefined
  readonly rate_limits?: readonly RateLimit[] | null | undefined
  readonly expires_at?: string | null | undefined
  readonly reset_usage?: boolean | undefined
  readonly tags?: Readonly<Record<string, string>> | null | undefined
}

export interface NewProvider extends ProviderFields {
  readonly name: string
  readonly slug?: string | undefined
  /** The slug when none is asked for, with a suffix if it is taken; absent: one made from the name. */
  readonly slugLike?: string
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
  const expiresAt = toExpiry(wanted.expires_at, nowMs) ?? null
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
    expiresAt,
    tags: wanted.tags ?? {},
    setterRanks: settersOf(actor, { held: null, usageLimits: wanted.usage_limits, rateLimits: wanted.rate_limits, expiresAt }),
    createdBy: actor.id,
  })
  await flushUnique(em, `This workspace already has a provider or virtual key with the slug "${slug}".`, slugParam(wanted))
  return row
}

interface WantedLimits {
  /** Null: a new one. */
  readonly held: Pick<ProviderEntity, 'setterRanks' | 'usageLimits' | 'rateLimits' | 'expiresAt'> | null
  /** Undefined: as it is. */
  readonly usageLimits: UsageLimits | null | undefined
  readonly rateLimits: readonly RateLimit[] | null | undefined
  readonly expiresAt: Date | null | undefined
}

/** Returns the rank of the caller that set each limit of a provider, after a change. Throws AB03 when one was set from above. */
export const settersOf = (actor: Actor, { held, usageLimits, rateLimits, expiresAt }: WantedLimits): SetterRanks =>
  changedLimits(actor, held?.setterRanks ?? {}, [
    ...(usageLimits === undefined ? [] : [{ field: 'usage_limits', before: held?.usageLimits, after: usageLimits }]),
    ...(rateLimits === undefined ? [] : [{ field: 'rate_limits', before: held?.rateLimits, after: rateLimits }]),
    ...(expiresAt === undefined ? [] : [{ field: 'expires_at', before: held?.expiresAt?.getTime(), after: expiresAt?.getTime() }]),
  ])

const slugParam = ({ isDefault }: NewProvider): string => (isDefault === true ? 'default_provider_slug' : 'slug')

async function chooseSlug(em: EntityManager, asked: NewProvider): Promise<string> {
  const { slug, slugLike, name, workspaceId } = asked
  const wanted = slug ?? slugLike ?? toSlug(name, 'provider')
  await holdSlug(em, `providers:${workspaceId}`, wanted)
  if (slug !== undefined) {
    await demandFree(em, asked, slug)
    return slug
  }
  return freeSlug(
    wanted,
    async (candidate) => (await em.count(ProviderEntity, { workspaceId, slug: candidate, status: { $ne: 'archived' } })) > 0,
  )
}

/** AB07 with the owner of the slug. An integration brings a provider with its own slug, which is then taken from the start. */
async function demandFree(em: EntityManager, { workspaceId, ...wanted }: NewProvider, slug: string): Promise<void> {
  const holder = await em.findOne(ProviderEntity, { workspaceId, slug, status: { $ne: 'archived' } })
  if (holder === null) return
  const noun = holder.kind === 'provider' ? 'provider' : 'virtual key'
  const origin = holder.isDefault ? ', which came with its integration (`create_default_provider: false` makes none)' : ''
  throw new ApiError(
    'AB07',
    `The slug "${slug}" is that of the ${noun} "${holder.name}" of this workspace${origin}. Call models with it as @${slug}, or choose another slug.`,
    { param: slugParam({ workspaceId, ...wanted }) },
  )
}

interface DefaultProviders {
  readonly wanted: readonly NeedsProvider[]
  readonly actor: Actor
}

/** Gives each workspace that has no provider of the integration one that is archived with it; however many, in a few queries. */
export async function addDefaultProviders(em: EntityManager, integration: Integration, { wanted, actor }: DefaultProviders): Promise<void> {
  const { id: integrationId, organisationId, name, slug: made } = integration
  const there = await em.find(ProviderEntity, { organisationId, integrationId, status: { $ne: 'archived' } }, { fields: ['workspaceId'] })
  const served = new Set(there.map(({ workspaceId }) => workspaceId))
  const missing = wanted.filter(({ workspaceId }) => !served.has(workspaceId))
  if (missing.length === 0) return
  await holdSlug(em, `providers:${integrationId}`, made)
  const taken = await em.find(ProviderEntity, { organisationId, slug: made, status: { $ne: 'archived' } }, { fields: ['workspaceId'] })
  const takenIn = new Set(taken.map(({ workspaceId }) => workspaceId))
  for (const { workspaceId, slug } of missing)
    em.create(ProviderEntity, {
      organisationId,
      workspaceId,
      integrationId,
      kind: 'provider',
      isDefault: true,
      name,
      slug: slug ?? (takenIn.has(workspaceId) ? suffixedSlug(made) : made),
      tags: {},
      createdBy: actor.id,
    })
  await flushUnique(em, 'A workspace already has a provider or virtual key with the slug of the default provider.', 'default_provider_slug')
}
