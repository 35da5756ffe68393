import type { TargetFields } from '../config/compile.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { ProviderScope } from '../callers/key.ts'
import type { ProviderSource } from '../targets/provider-view.ts'
import { modelReference } from '../targets/addressing.ts'

/** The port to prices, by which `least-cost` chooses. */
export interface TargetPrices {
  /**
   * Returns a figure by which models are ranked, the cheaper the lower; null when their price is not known. `provider` is a row of the catalogue, and
   * `model` the provider's name of the model.
   */
  rank(provider: string, model: string): number | null
}

export interface CostFacts {
  readonly scope: ProviderScope
  /** The model that the request names. */
  readonly model: string | null
  readonly prices: TargetPrices
  readonly snapshot: Pick<ProviderSource, 'provider'>
}

/** Returns the figure of a target; null when its price is not known, or its provider is not in memory yet. */
export function costOf(target: TargetFields, { scope, model: asked, prices, snapshot }: CostFacts): number | null {
  const set: unknown = target.changes?.override['model'] ?? asked
  const named = typeof set === 'string' ? set : null
  const reference = modelReference(named)
  const model = reference?.model ?? named
  const provider = providerOf(target, reference?.slug ?? null, (slug) => snapshot.provider(scope, slug))
  return model === null || provider === null ? null : prices.rank(provider, model)
}

type FindProvider = (slug: string) => MaybePromise<{ readonly provider: string } | null>

/** Returns the row of the catalogue. The choice never waits: a provider that must be read first has no price yet. */
function providerOf({ provider, virtualKey }: TargetFields, ofModel: string | null, find: FindProvider): string | null {
  const named = virtualKey ?? (provider === null ? ofModel : null)
  const slug = named ?? (provider?.startsWith('@') === true ? provider : null)
  if (slug === null) return provider
  const view = find(slug.replace(/^@/, ''))
  return view === null || view instanceof Promise ? null : view.provider
}
