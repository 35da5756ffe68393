import type { RequestBody } from '../wire/body.ts'

/** Output of a request that names no bound of its own. */
export const usualOutput = 1024
/** Bytes of a body for each token: prose has more, digits have fewer. */
const bytesPerToken = 3

const boundFields = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const

/** Estimates the tokens of a request before it is sent. */
export const estimateTokens = (body: RequestBody): number =>
  body.kind !== 'json' || body.bytes === null ? 0 : inputTokens(body.bytes.length) + outputTokens(body.json, usualOutput)

/** Estimates the tokens of a body of so many bytes. */
export const inputTokens = (bytes: number): number => Math.ceil(bytes / bytesPerToken)

/** Returns the most tokens of all answers together; `unbounded`: of one answer for which the request names no bound. */
export function outputTokens(json: unknown, unbounded: number): number {
  if (!isRecord(json)) return 0
  const answers = positive(json['n']) ?? 1
  for (const field of boundFields) {
    const bound = positive(json[field])
    if (bound !== null) return bound * answers
  }
  const { generationConfig } = json
  const bound = isRecord(generationConfig) ? positive(generationConfig['maxOutputTokens']) : null
  // Embeddings and the like have input alone.
  return (bound ?? ('input' in json && !('instructions' in json) && typeof json['stream'] !== 'boolean' ? 0 : unbounded)) * answers
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
const positive = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : null
