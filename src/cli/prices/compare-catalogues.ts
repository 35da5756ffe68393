import type { ListedProvider } from './catalogue-files.ts'

/** A model that differs between two catalogues. */
export interface Difference {
  readonly provider: string
  readonly model: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** The prices before and after, as JSON; null: there is none. */
  readonly before: string | null
  readonly after: string | null
}

/** Returns the models whose prices differ, by provider and name. */
export function differencesOf(before: readonly ListedProvider[], after: readonly ListedProvider[]): readonly Difference[] {
  const [old, young] = [pricesOf(before), pricesOf(after)]
  return [...new Set([...old.keys(), ...young.keys()])].toSorted().flatMap((key): readonly Difference[] => {
    const [one = null, other = null] = [old.get(key), young.get(key)]
    if (one === other) return []
    const [provider = '', model = ''] = key.split('\n')
    return [{ provider, model, kind: one === null ? 'added' : other === null ? 'removed' : 'changed', before: one, after: other }]
  })
}

const pricesOf = (lists: readonly ListedProvider[]): ReadonlyMap<string, string> =>
  new Map(
    lists.flatMap(({ provider, models }) =>
      Object.entries(models).map(
        ([name, { prices, uplift, free }]) => [`${provider}\n${name}`, JSON.stringify({ prices, uplift, free })] as const,
      ),
    ),
  )

/** Returns a catalogue's lists with those of others over them, model by model. */
export function overlaid(base: readonly ListedProvider[], over: readonly ListedProvider[]): readonly ListedProvider[] {
  const lists = new Map(base.map(({ provider, models }) => [provider, models]))
  for (const { provider, models } of over) lists.set(provider, { ...lists.get(provider), ...models })
  return [...lists].map(([provider, models]) => ({ provider, models }))
}
