import type { EntityManager } from '@mikro-orm/postgresql'
import { notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { findPage } from '../../app/database/list.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { searching, type ListQuery } from '../../lib/paging.ts'
import { demandPrices, type PriceChange } from './price-fields.ts'
import { addressOf } from './configurations.ts'
import { IntegrationModel } from './integration-model.entity.ts'
import type { Integration } from './integration.entity.ts'
import { maxModels, sorts, type ModelUpdate } from './models.schema.ts'

/** Adds and changes settings of models. */
export async function updateModels(
  em: EntityManager,
  integration: Integration,
  { actor, models, egress }: { actor: Actor; models: readonly ModelUpdate[]; egress: Egress },
) {
  const rows = await em.find(IntegrationModel, ownedBy(integration))
  const bySlug = new Map(rows.map((row) => [row.slug, row]))
  const changes = models.flatMap((given, at) => priceChanges(bySlug.get(given.slug), given, (field) => `models[${at}].${field}`))
  await demandPrices(em, actor, { integration, changes })
  for (const [at, given] of models.entries()) {
    await checkHost(integration, egress, { url: given.configurations?.custom_host, param: `models[${at}].configurations.custom_host` })
    const row =
      bySlug.get(given.slug) ??
      em.create(IntegrationModel, { ...ownedBy(integration), slug: given.slug, enabled: given.enabled, configurations: {} })
    bySlug.set(given.slug, row)
    assignDefined(row, {
      enabled: given.enabled,
      name: given.name,
      isCustom: given.is_custom === null ? false : given.is_custom,
      isFinetune: given.is_finetune === null ? false : given.is_finetune,
      baseModelSlug: given.base_model_slug,
      configurations: given.configurations === undefined ? undefined : withoutNulls(given.configurations ?? {}),
      pricingConfig: given.pricing_config,
    })
  }
  if (bySlug.size > maxModels) throw new ApiError('AB01', `An integration has at most ${maxModels} models.`, { param: 'models' })
  await em.flush()
}

/** Returns the fields of a model that decide what its requests cost; nothing given: none of them any longer. */
const priceChanges = (
  row: IntegrationModel | undefined,
  given: Pick<ModelUpdate, 'pricing_config' | 'base_model_slug'>,
  paramOf: (field: string) => string,
): readonly PriceChange[] => [
  { param: paramOf('pricing_config'), before: row?.pricingConfig, after: given.pricing_config },
  { param: paramOf('base_model_slug'), before: row?.baseModelSlug, after: given.base_model_slug },
]

const ownedBy = ({ id, organisationId }: Integration) => ({ integrationId: id, organisationId })

const withoutNulls = ({ custom_host: host }: { readonly custom_host?: string | null | undefined }) =>
  host === null || host === undefined ? {} : { custom_host: host }

interface NamedHost {
  readonly url: string | null | undefined
  readonly param: string
}

async function checkHost(integration: Integration, egress: Egress, { url, param }: NamedHost): Promise<void> {
  if (url === null || url === undefined) return
  if (hasSecret(integration) && originOf(url) !== ownOrigin(integration))
    throw new ApiError('AB01', 'A stored credential only goes to the host it was stored with. Make another integration for this host.', {
      param,
    })
  await egress.origin(url, param)
}

/** A mapped secret is the owner's of its reference, and goes no further than a stored one. */
const hasSecret = ({ credential, secretConfigurations, secretMappings }: Integration): boolean =>
  Boolean(credential) || Boolean(secretConfigurations) || (secretMappings ?? []).length > 0

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)

function ownOrigin({ aiProviderId, configurations }: Integration): string | null {
  const address = addressOf(aiProviderId, configurations)
  return address === null ? null : originOf(address)
}

/** Refuses a credential that requests for one of the models would carry to another host. */
export async function demandOneHost(em: EntityManager, integration: Integration): Promise<void> {
  if (!hasSecret(integration)) return
  const rows = await em.find(IntegrationModel, ownedBy(integration))
  const elsewhere = rows.filter(({ configurations: { custom_host: host } }) => host && originOf(host) !== ownOrigin(integration))
  if (elsewhere.length === 0) return
  const names = elsewhere.map(({ slug }) => slug).join(', ')
  throw new ApiError('AB07', `Requests for these models go to other hosts, which must not see a stored credential: ${names}.`, {
    param: 'key',
  })
}

/** Deletes settings of models; AB08 when a model has none. */
export async function deleteModels(
  em: EntityManager,
  integration: Integration,
  { actor, slugs, param }: { readonly actor: Actor; readonly slugs: readonly string[]; readonly param: string },
): Promise<void> {
  const rows = await em.find(IntegrationModel, { ...ownedBy(integration), slug: { $in: [...slugs] } })
  const unknown = slugs.find((slug) => rows.every((row) => row.slug !== slug))
  if (unknown !== undefined) throw notFound('model', unknown, param)
  const gone = { pricing_config: null, base_model_slug: null }
  await demandPrices(em, actor, {
    integration,
    changes: rows.flatMap((row) => priceChanges(row, gone, () => param)),
  })
  em.remove(rows)
  await em.flush()
}

/** A page of the settings of models. */
export const findModels = (em: EntityManager, integration: Integration, query: ListQuery & { readonly search?: string | undefined }) =>
  findPage(em, IntegrationModel, { where: { ...ownedBy(integration), ...searching(query.search, 'slug', 'name') }, query, sorts })

/** Returns the wire view of a model. */
export const presentModel = (row: IntegrationModel) => ({
  slug: row.slug,
  name: row.name ?? row.slug,
  enabled: row.enabled,
  is_custom: row.isCustom,
  is_finetune: row.isFinetune,
  base_model_slug: row.baseModelSlug ?? null,
  configurations: { ...row.configurations },
  pricing_config: row.pricingConfig ? { ...row.pricingConfig } : null,
})
