import type { z } from 'zod'
import type { ListedAbilities, ModelCatalogue } from '../../app/prices/model-catalogue.ts'
import type { ListKind } from '../../app/prices/layer-sources.ts'
import { route } from '../../app/route.ts'
import { type ModelName, namesOf } from '../../gateway/ports/prices.ts'
import { ApiError } from '../../lib/errors.ts'
import { modelAbilities, modelParams, modelPricing, priceLayers } from './model-configs.schema.ts'
import { presentAbilities, presentPricing } from './present-model.ts'
import { ageSeconds, sourceOf } from './source.ts'

export const readPricing = route({
  method: 'GET',
  path: '/model-configs/pricing/:provider/:model',
  summary: 'Read the price of a model, and the list that it is from',
  permission: 'providers.list',
  params: modelParams,
  response: modelPricing,
})(async ({ params, deps: { catalogue, clock } }) => {
  const found = await lookUp('pricing', params, { catalogue, find: (name) => catalogue.prices.find(name.provider, name.model) })
  const [, ...overridden] = catalogue.prices.all(found.name.provider, found.name.model)
  return {
    ...presentPricing(found.listed.entry, clock.now()),
    ...listOf(found, { kind: 'pricing', catalogue }),
    overrides: overridden.map(({ entry, source, catalogue: digest }) => ({
      source: sourceOf(source),
      catalogue: digest,
      pay_as_you_go: presentPricing(entry, clock.now()).pay_as_you_go,
    })),
  }
})

export const readAbilities = route({
  method: 'GET',
  path: '/model-configs/general/:provider/:model',
  summary: 'Read the abilities of a model, and the list that they are from',
  permission: 'providers.list',
  params: modelParams,
  response: modelAbilities,
})(async ({ params, deps: { catalogue } }) => {
  const found = await lookUp('general', params, { catalogue, find: (name) => catalogue.abilities(name.provider, name.model) })
  return { ...presentAbilities(found.listed.abilities), ...listOf(found, { kind: 'general', catalogue }) }
})

export const listLayers = route({
  method: 'GET',
  path: '/prices/layers',
  summary: 'List the layers of price lists in their order, and how they are',
  permission: 'providers.list',
  response: priceLayers,
})(async ({ deps: { catalogue } }) => {
  const data = catalogue.layers().map(({ kind, name, held, failing, ageMs, fault }): z.input<typeof priceLayers>['data'][number] => ({
    object: 'price-layer',
    kind,
    name: sourceOf(name),
    state: failing > 0 ? 'failing' : 'ok',
    lists: held,
    failing,
    age_seconds: ageSeconds(ageMs),
    fault,
  }))
  return { object: 'price-layers' as const, total: data.length, data }
})

/** A list, whichever kind it has. */
type ListedModel = Pick<ListedAbilities, 'source' | 'catalogue'>

interface FoundModel<T extends ListedModel> {
  readonly name: ModelName
  readonly listed: T
}

interface LookUp<T extends ListedModel> {
  readonly catalogue: ModelCatalogue
  readonly find: (name: ModelName) => T | null
}

/** Finds a model as a request would, after the lists of its provider were read. Throws AB02 when no list has it. */
async function lookUp<T extends ListedModel>(
  kind: ListKind,
  { provider, model }: z.output<typeof modelParams>,
  { catalogue, find }: LookUp<T>,
): Promise<FoundModel<T>> {
  const names = namesOf(provider, model)
  await Promise.all([...new Set(names.map((name) => name.provider))].map((name) => catalogue.ready(kind, name)))
  for (const name of names) {
    const listed = find(name)
    if (listed !== null) return { name, listed }
  }
  throw new ApiError('AB02', `No price list has the model ${model} of ${provider}.`, { param: 'model' })
}

const listOf = <T extends ListedModel>(
  { name, listed: { source, catalogue: digest } }: FoundModel<T>,
  { kind, catalogue }: { readonly kind: ListKind; readonly catalogue: ModelCatalogue },
) => ({
  provider: name.provider,
  model: name.model,
  resolved: name.family ? ('family' as const) : ('exact' as const),
  source: sourceOf(source),
  catalogue: digest,
  as_of: source === 'built_in' ? catalogue.asOf : null,
  age_seconds: ageSeconds(catalogue.ageMs(kind, source, name.provider)),
})
