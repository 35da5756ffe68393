import { isPriceEntry } from '../../gateway/ports/prices.ts'
import type { Fields } from '../../lib/json/fields.ts'

/** The list of one provider. */
export interface ListedModels {
  readonly provider: string
  readonly models: Readonly<Record<string, Fields>>
}

/** Some models in common prove more than one: by less than this no honest list is off as a whole. */
const [leastCommon, wrongForMany, wrongForFew] = [3, 8, 50]

/**
 * Compares a list with a catalogue whose unit is known, model by model. Returns how its unit is wrong, in words; null: it is the same, or no model
 * is in both. Lists in dollars and cents, for one, a thousand or a million tokens are off by a hundred or more.
 */
export function unitFault({ provider, models }: ListedModels, known: (model: string) => unknown): string | null {
  const pairs = Object.entries(models).flatMap(([name, model]) => pairOf(name, model, known(name)))
  const wrong = pairs.length < leastCommon ? wrongForFew : wrongForMany
  const off = pairs.filter(({ one, other }) => one >= other * wrong || other >= one * wrong)
  const [first] = off
  if (first === undefined || off.length * 2 <= pairs.length) return null
  return `${provider}: ${off.length} of ${pairs.length} models cost ${wrong} times more or less than in the catalogue, such as ${first.name} with ${first.one} for ${first.other}: the unit of the list is another`
}

interface Pair {
  readonly name: string
  readonly one: number
  readonly other: number
}

/** The rates by which models are sold; the first that both lists have is compared. */
const compared = ['input', 'output', 'image', 'search_unit', 'input_character', 'input_audio_second', 'page'] as const

function pairOf(name: string, model: Fields, other: unknown): readonly Pair[] {
  const [own, theirs] = [ratesOf(model), ratesOf(other)]
  for (const rate of compared) {
    const [one = 0, two = 0] = [own[rate], theirs[rate]]
    if (one > 0 && two > 0) return [{ name, one, other: two }]
  }
  return []
}

const ratesOf = (model: unknown): Readonly<Record<string, number>> => (isPriceEntry(model) ? (model.prices.at(-1)?.rates ?? {}) : {})
