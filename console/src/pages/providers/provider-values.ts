import type { Answer, Asked } from '../../api/client.ts'
import { budgetOfFields, typedBudget, type TypedBudget } from '../../parts/form/budget-field.tsx'
import { expiryOf, keptExpiry, type TypedExpiry } from '../../parts/form/expiry-field.tsx'
import { objectOf, pairsOf, type Pair } from '../../parts/form/pairs-field.tsx'
import { ratesOf, typedRates, type TypedRate } from '../../parts/form/rates-field.tsx'

export type Provider = Answer<'GET /providers/{slug}'>
type Change = Asked<'PUT /providers/{slug}'>['body']

/** The values of the form of a provider. */
export type ProviderValues = {
  readonly name: string
  readonly note: string
  readonly budget: TypedBudget
  readonly rates: readonly TypedRate[]
  readonly expiry: TypedExpiry
  readonly tags: readonly Pair[]
}

export const valuesOf = (provider: Provider): ProviderValues => ({
  name: provider.name,
  note: provider.note ?? '',
  budget: typedBudget(provider.usage_limits),
  rates: typedRates(provider.rate_limits),
  expiry: keptExpiry(provider.expires_at),
  tags: pairsOf(provider.tags ?? {}),
})

type Rate = { readonly type: 'requests' | 'tokens'; readonly unit: 'rpm' | 'rph' | 'rpd'; readonly value: number }

/** Returns the fields of the API for those values that were typed. */
export function bodyOf({ name, note, budget, rates, expiry, tags }: Partial<ProviderValues>): Change {
  const expires = expiry && expiryOf(expiry)
  return {
    ...(name !== undefined && { name }),
    ...(note !== undefined && { note: note.trim() === '' ? null : note }),
    ...(budget !== undefined && { usage_limits: budgetOfFields(budget) }),
    ...(rates !== undefined && { rate_limits: ratesOf<Rate>(rates) }),
    ...(expires !== undefined && { expires_at: expires }),
    ...(tags !== undefined && { tags: objectOf(tags) }),
  }
}
