import type { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import type { ModelCatalogue } from '../../app/prices/model-catalogue.ts'
import { route } from '../../app/route.ts'
import { allowedHostsOf } from '../../app/snapshot/allowed-hosts.ts'
import { type OfferedModel, writePrices } from '../../gateway/ports/models.ts'
import { namesOf } from '../../gateway/ports/prices.ts'
import { pageOf, toList } from '../../lib/paging.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { offeredFilter, offeredList } from './model-configs.schema.ts'
import { ageSeconds, sourceOf } from './source.ts'

export const listOffered = route({
  method: 'GET',
  path: '/catalogue/models',
  summary: 'List the models that a workspace may use, with their abilities and prices',
  permission: 'providers.list',
  query: offeredFilter,
  response: offeredList,
  // Some providers are asked for their own lists.
  async before({ actor, query, offered }, { orm }) {
    const asked = await inTenant(orm, actor.organisationId, async (em) => {
      const { id } = await resolveWorkspace(em, actor, query.workspace_id)
      const { settings } = await em.findOneOrFail(Organisation, { id: actor.organisationId })
      return { workspaceId: id, allowedHosts: allowedHostsOf(settings) }
    })
    return offered(asked)
  },
})(async ({ deps: { catalogue, clock }, query, found }) => {
  const models = found.filter((model) => isAsked(model, query))
  const page = pageOf(models, query, ({ id }) => id)
  return toList(
    page.rows.map((model) => present(model, { catalogue, now: clock.now() })),
    page,
  )
})

function isAsked({ id, name, details }: OfferedModel, { provider, kind, ability, search }: z.output<typeof offeredFilter>): boolean {
  const wanted = search?.toLowerCase() ?? ''
  return (
    (provider === undefined || slugOf(id) === provider.replace(/^@/, '')) &&
    (kind === undefined || details.kind === kind) &&
    (ability === undefined || (details.abilities?.includes(ability) ?? false)) &&
    (id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted))
  )
}

interface Prices {
  readonly catalogue: ModelCatalogue
  readonly now: number
}

function present(model: OfferedModel, prices: Prices) {
  const { id, name, created, provider, listedBy, details } = model
  return {
    id,
    object: 'offered_model' as const,
    name,
    created,
    provider: slugOf(id),
    ai_provider_id: provider,
    listed_by: listedBy,
    kind: details.kind,
    context_window: details.contextWindow,
    max_input_tokens: details.maxInput,
    max_output_tokens: details.maxOutput,
    input_modalities: copied(details.input),
    output_modalities: copied(details.output),
    capabilities: copied(details.abilities),
    pricing: presentPrice(model, prices),
  }
}

function presentPrice({ provider, details: { prices, pricedAs } }: OfferedModel, { catalogue, now }: Prices) {
  if (prices === null || pricedAs === null) return null
  const { name, lists } = listsOf(provider, pricedAs, catalogue)
  const [counts, below] = prices.source === 'integration' ? [null, lists] : [lists[0] ?? null, lists.slice(1)]
  return {
    ...prices,
    source: counts === null ? ('integration' as const) : sourceOf(counts.source),
    catalogue: counts?.catalogue ?? null,
    as_of: counts?.source === 'built_in' ? catalogue.asOf : null,
    age_seconds: counts === null ? null : ageSeconds(catalogue.ageMs('pricing', counts.source, name)),
    overrides: below.map(({ entry, source, catalogue: digest }) =>
      Object.assign(writePrices(entry, now), { source: sourceOf(source), catalogue: digest }),
    ),
  }
}

/** Returns the lists that have a model, in the order in which they count, and the provider whose lists they are. */
function listsOf(provider: string, model: string, { prices }: ModelCatalogue) {
  for (const name of namesOf(provider, model)) {
    const lists = prices.all(name.provider, name.model)
    if (lists.length > 0) return { name: name.provider, lists }
  }
  return { name: provider, lists: [] }
}

const slugOf = (id: string): string => id.slice(1, id.indexOf('/'))
const copied = (texts: readonly string[] | null): string[] | null => (texts === null ? null : [...texts])
