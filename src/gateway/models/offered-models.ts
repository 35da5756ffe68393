import type { ProviderSource, ListedProvider, ProviderView } from '../targets/provider-view.ts'
import type { ProviderScope } from '../callers/key.ts'
import type { ListedModel, OfferedModel } from '../dialects/neutral/model.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { findProvider } from '../providers/catalog.ts'
import { mayUse } from '../targets/model-access.ts'
import type { ProviderAccess } from './ask-provider.ts'
import { listPathOf } from './list-path.ts'
import { liveModels } from './live-models.ts'
import { modelDetails } from './model-facts.ts'

export interface OfferedDeps extends ProviderAccess {
  readonly snapshot: ProviderSource
  readonly prices: PriceSource
  /** Resolves when the price lists of a provider were read; absent: they are taken as they are. */
  readonly ready?: (provider: string) => Promise<void>
}

/** So many providers are asked for their own lists; for the rest the models that are enabled by name are listed. */
const maxAsked = 50

/** All models of a workspace's providers, by their ids. */
export async function offeredModels(deps: OfferedDeps, scope: ProviderScope): Promise<readonly OfferedModel[]> {
  const listed = await deps.snapshot.providers(scope)
  const offers = await Promise.all(listed.map((one, at) => offerOf(deps, scope, { listed: one, asks: at < maxAsked })))
  return offers.flat().toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** Returns the models of the provider with this slug; none when the workspace has no such provider, or may not use it. */
export async function offerOfSlug(deps: OfferedDeps, scope: ProviderScope, slug: string): Promise<readonly OfferedModel[]> {
  const listed = (await deps.snapshot.providers(scope)).find((one) => one.slug === slug)
  return listed === undefined ? [] : offerOf(deps, scope, { listed, asks: true })
}

interface OfferRequest {
  readonly listed: ListedProvider
  readonly asks: boolean
}

async function offerOf(
  { snapshot, egress, signing, prices, ready }: OfferedDeps,
  scope: ProviderScope,
  { listed, asks }: OfferRequest,
): Promise<readonly OfferedModel[]> {
  const view = await snapshot.provider(scope, listed.slug)
  if (view === null || !isUsable(view)) return []
  const open = view.models?.allowAll ?? true
  const [live] = await Promise.all([open && asks ? liveModels(view, { egress, signing }) : [], ready?.(view.provider)])
  const { models: rules } = view
  const own: readonly ListedModel[] = (live ?? fromCatalogue(view, prices)).filter(({ id }) => rules === null || mayUse(rules, id))
  const known = new Set(own.map(({ id }) => id))
  const named = listed.models.filter((id) => !known.has(id)).map((id): ListedModel => ({ id, name: id, created: 0 }))
  return [...own, ...named].map((model) => ({
    id: `@${listed.slug}/${model.id}`,
    name: model.name,
    created: model.created,
    provider: view.provider,
    listedBy: live === null && known.has(model.id) ? 'catalogue' : 'provider',
    details: modelDetails(prices, view, model.id),
  }))
}

/**
 * Returns the models that the price catalogue has of a provider whose own list cannot be fetched, as in a network with no way out. A custom host may
 * have any models, and a cloud serves only the models that are deployed there.
 */
function fromCatalogue({ provider: id, customHost }: ProviderView, prices: PriceSource): readonly ListedModel[] {
  const provider = findProvider(id)
  if (provider === null || customHost !== null || listPathOf(provider) === null) return []
  return prices.models(id).map((name) => ({ id: name, name, created: 0 }))
}

const isUsable = ({ allowed, status, expiresAt }: ProviderView): boolean =>
  allowed && status === 'active' && (expiresAt === null || expiresAt > Date.now())
