import type { Fields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { numberIn, textIn, unreadable } from '../reading.ts'
import type { EmbeddingClient, EmbeddingRequest, Purpose } from './neutral.ts'

/** `input_type`, which OpenAI has not, is Cohere's and Voyage's word for the purpose. */
const known = new Set(['model', 'input', 'dimensions', 'encoding_format', 'input_type'])

const purposes: Readonly<Record<string, Purpose>> = {
  search_query: 'query',
  query: 'query',
  search_document: 'document',
  document: 'document',
  classification: 'classification',
  clustering: 'clustering',
}

function decode(body: Fields): EmbeddingRequest {
  const asked = textIn(body, 'input_type')
  const purpose = asked === null ? null : ((Object.hasOwn(purposes, asked) ? purposes[asked] : undefined) ?? null)
  return {
    inputs: inputsOf(body['input']),
    dimensions: numberIn(body, 'dimensions'),
    purpose,
    title: null,
    names: { inputs: 'input', dimensions: 'dimensions', purpose: 'input_type', title: 'title' },
    rest: { ...unread(body, known), ...(asked !== null && purpose === null && { input_type: asked }) },
  }
}

function inputsOf(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input) || input.length === 0) throw unreadable('input', 'a string or a list of strings')
  return typeof input[0] === 'number' ? [input] : input
}

/** OpenAI's format. Its own client asks for bytes by default, and reads no other form then. */
export const openaiClient: EmbeddingClient = {
  decode,
  encode({ vectors, tokens, estimated, model }, body) {
    const write = body['encoding_format'] === 'base64' ? bytesOf : (vector: readonly number[]) => vector
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: write(vector) })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens, ...(estimated && { estimated }) },
    }
  },
}

/** Returns numbers as little-endian floats in base64. */
export function bytesOf(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [at, number] of vector.entries()) bytes.writeFloatLE(number, at * 4)
  return bytes.toString('base64')
}
