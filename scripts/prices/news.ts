import type { ListedProvider } from '../../src/cli/prices/catalogue-files.ts'
import type { Fields } from '../../src/lib/json/fields.ts'

type Models = Readonly<Record<string, Fields>>

/** Splits a list into the models whose prices it had before, and those with new prices. */
export function splitNews(
  before: readonly ListedProvider[],
  now: readonly ListedProvider[],
): { readonly repeated: readonly ListedProvider[]; readonly news: readonly ListedProvider[] } {
  const old = new Map(before.map(({ provider, models }) => [provider, models]))
  const pick = (wanted: boolean): readonly ListedProvider[] =>
    now.map(({ provider, models }) => ({
      provider,
      models: chosen(models, (name, model) => isNews(old.get(provider)?.[name], model) === wanted),
    }))
  return { repeated: pick(false), news: pick(true) }
}

const isNews = (before: Fields | undefined, now: Fields): boolean => JSON.stringify(before?.['prices']) !== JSON.stringify(now['prices'])

const chosen = (models: Models, wanted: (name: string, model: Fields) => boolean): Models =>
  Object.fromEntries(Object.entries(models).filter(([name, model]) => wanted(name, model)))

/** Adds the models of a maker under the providers that sell them too, as far as these are known to. */
export function withResold(
  lists: readonly ListedProvider[],
  resold: Readonly<Record<string, readonly string[]>>,
  known: readonly ListedProvider[],
): readonly ListedProvider[] {
  const names = new Map(known.map(({ provider, models }) => [provider, new Set(Object.keys(models).map((name) => name.toLowerCase()))]))
  const added = lists.flatMap(({ provider, models }) =>
    (resold[provider] ?? []).map((seller) => ({
      provider: seller,
      models: chosen(models, (name) => names.get(seller)?.has(name.toLowerCase()) === true),
    })),
  )
  return lists.concat(added)
}
