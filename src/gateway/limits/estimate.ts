import type { RequestBody } from '../wire/body.ts'
import type { Needs } from './limit.ts'

/** Output of a request that names no bound of its own. */
const usualOutput = 1024
/** Bytes of a body for each token: prose has more, digits have fewer. */
const bytesPerToken = 3

const boundFields = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const

/** Estimates what a request uses before it is sent. */
export function estimateNeeds(body: RequestBody, countsTokens: boolean): Needs {
  if (!countsTokens || body.kind !== 'json' || body.bytes === null) return { requests: 1, tokens: 0 }
  return { requests: 1, tokens: Math.ceil(body.bytes.length / bytesPerToken) + outputOf(body.json) }
}

function outputOf(json: unknown): number {
  if (!isRecord(json)) return 0
  const answers = positive(json['n']) ?? 1
  for (const field of boundFields) {
    const bound = positive(json[field])
    if (bound !== null) return bound * answers
  }
  const { generationConfig } = json
  const bound = isRecord(generationConfig) ? positive(generationConfig['maxOutputTokens']) : null
  // Embeddings and the like have input alone.
  return (bound ?? ('input' in json && !('instructions' in json) && typeof json['stream'] !== 'boolean' ? 0 : usualOutput)) * answers
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
const positive = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : null
