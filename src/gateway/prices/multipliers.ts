import type { Dimension } from '../dialects/neutral/counts.ts'
import { type Factor, parseFactor } from './whole.ts'

/** A factor of an integration, with the text that its author wrote. */
export interface WrittenFactor extends Factor {
  readonly text: string
}

/** The factors of an integration's `pricing_adjustments`, by the names that the API has for them. */
export interface Multipliers {
  readonly named: ReadonlyMap<string, WrittenFactor>
  /** For every dimension that has no factor of its own. */
  readonly usual: WrittenFactor | null
}

/** The names in `pricing_adjustments.multiplier` that a dimension goes by, the nearest first. */
const names: { readonly [Name in Dimension]?: readonly string[] } = {
  input: ['request_token', 'request_text_token'],
  output: ['response_token', 'response_text_token'],
  cache_read: ['cache_read_input_token', 'cache_read_text_input_token'],
  cache_read_explicit: ['cache_read_input_token'],
  cache_write: ['cache_write_input_token', 'cache_write_text_input_token'],
  cache_write_1h: ['additional_units.cache_write_1h', 'cache_write_input_token'],
  cache_write_12h: ['cache_write_input_token'],
  reasoning: ['reasoning_token', 'response_token'],
  input_audio: ['request_audio_token'],
  output_audio: ['response_audio_token'],
  cache_read_audio: ['cache_read_audio_input_token', 'cache_read_input_token'],
  input_image: ['request_image_token'],
  output_image: ['response_image_token'],
  cache_read_image: ['cache_read_image_input_token', 'cache_read_input_token'],
  cache_write_audio: ['cache_write_input_token'],
  image: ['image.default'],
}

/** Returns the factor for a dimension: its own, then one of `additional_units`, then the usual one. Null: none. */
export function factorOf({ named, usual }: Multipliers, dimension: Dimension): WrittenFactor | null {
  for (const name of names[dimension] ?? []) {
    const factor = named.get(name)
    if (factor !== undefined) return factor
  }
  return named.get(`additional_units.${dimension}`) ?? usual
}

/** Reads the multipliers of an integration; null when there are none. Numbers were written by people: their shortest decimal form is meant. */
export function readMultipliers(adjustments: unknown): Multipliers | null {
  const multiplier = fieldOf(adjustments, 'multiplier')
  if (multiplier === undefined) return null
  const named = new Map<string, WrittenFactor>()
  collect(multiplier, '', named)
  const usual = named.get('default') ?? null
  named.delete('default')
  return named.size === 0 && usual === null ? null : { named, usual }
}

function collect(values: unknown, prefix: string, into: Map<string, WrittenFactor>): void {
  if (typeof values !== 'object' || values === null) return
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'number') into.set(prefix + name, { ...parseFactor(String(value)), text: String(value) })
    else collect(value, `${prefix}${name}.`, into)
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
