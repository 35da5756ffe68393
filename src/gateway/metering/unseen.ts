import { isFields, type Fields } from '../../lib/json/fields.ts'
import { asksSound } from '../dialects/asks-sound.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { factsByName } from '../prices/resolve.ts'

/** A request whose answer has no usage. */
interface UntoldRequest {
  readonly json: unknown
  readonly dialect: DialectId | null
  readonly provider: string
  /** Those that answered and that were asked. */
  readonly models: readonly (string | null)[]
}

/**
 * Returns true if a model may have used more tokens than the caller got: it thinks, or it gives sound. Claude thinks where a request asks for it.
 */
export function hidesOutput({ json, dialect, provider, models }: UntoldRequest, prices: PriceSource): boolean {
  if (asksSound(json)) return true
  if (dialect === 'anthropic' && provider === 'anthropic' && !asksThought(json)) return false
  return models.some((model) => model !== null && factsByName(prices, provider, model)?.can?.includes('reasoning') === true)
}

const asksThought = (json: unknown): boolean => isFields(json) && isFields(json['thinking']) && json['thinking']['type'] !== 'disabled'

/** The objects of a usage that hold the kinds of tokens of an answer. */
const kinds = ['completion_tokens_details', 'output_tokens_details', 'candidatesTokensDetails'] as const

/** Counts the tokens of an answer that may be sound as sound, where its usage does not separate them. */
export function soundCounts(counts: Counts, raw: Fields | null, json: unknown): Counts {
  const { output = 0, ...others } = counts
  if (output === 0 || (others.output_audio ?? 0) > 0 || !asksSound(json) || tellsKinds(raw)) return counts
  return { ...others, output_audio: output }
}

function tellsKinds(raw: Fields | null): boolean {
  const told = kinds.map((name) => raw?.[name]).find((details) => isFields(details) || Array.isArray(details))
  return Array.isArray(told) || (isFields(told) && typeof told['audio_tokens'] === 'number')
}
