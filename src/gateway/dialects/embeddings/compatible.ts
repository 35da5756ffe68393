import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList } from '../reading.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { EmbeddingProvider, Purpose } from './neutral.ts'
import { bytesOf } from './openai-client.ts'
import { purposeFor, vectorIn } from './reading.ts'

/** The differences of a provider from OpenAI's embeddings. */
interface Departure {
  /** The most texts of one call. */
  readonly most: number
  /** Its field for the length of vectors. */
  readonly dimensions: string
  /** Its field for the purpose, and its words; absent: it has none. */
  readonly purpose?: readonly [field: string, words: Readonly<Partial<Record<Purpose, string>>>]
}

/**
 * Providers that take OpenAI's embeddings with differences. They are asked for plain numbers, which all of them give: some refuse the format
 * for which OpenAI's client asks, and some pass it over. Fields of their own go on as the caller gave them.
 */
const compatible = ({ most, dimensions: length, purpose: by }: Departure): EmbeddingProvider => ({
  most,
  isCompatible: true,
  encode(request, context) {
    const { inputs, dimensions, rest, names, purpose, title } = request
    const { user, ...native } = rest
    if (user !== undefined) context.loss.dropAt('user')
    if (title !== null) context.loss.dropAt(names.title)
    const word = by === undefined ? null : purposeFor(request, by[1], context)
    if (by === undefined && purpose !== null) context.loss.dropAt(names.purpose)
    return {
      ...native,
      model: context.model,
      input: inputs,
      ...(dimensions !== null && { [length]: dimensions }),
      ...(by !== undefined && word !== null && { [by[0]]: word }),
    }
  },
  decode(json) {
    if (!isFields(json)) return null
    const items = inOrder(json)
    const vectors = items.map(({ embedding }) => vectorIn(embedding))
    const usage = saidFields(json, 'usage') ?? {}
    const tokens = countOf(usage['prompt_tokens']) ?? countOf(usage['total_tokens'])
    return items.length > 0 && vectors.every((one) => one !== null) ? { vectors, tokens } : null
  },
})

/** docs.voyageai.com, jina.ai/embeddings, docs.mistral.ai/api and developers.cloudflare.com/workers-ai. */
export const compatibleProviders: Readonly<Record<string, EmbeddingProvider>> = {
  'embeddings/plain': compatible({ most: 2048, dimensions: 'dimensions' }),
  'embeddings/mistral': compatible({ most: 2048, dimensions: 'output_dimension' }),
  'embeddings/voyage': compatible({
    most: 1000,
    dimensions: 'output_dimension',
    purpose: ['input_type', { query: 'query', document: 'document' }],
  }),
  'embeddings/jina': compatible({
    most: 2048,
    dimensions: 'dimensions',
    purpose: [
      'task',
      {
        query: 'retrieval.query',
        document: 'retrieval.passage',
        classification: 'classification',
        clustering: 'separation',
        similarity: 'text-matching',
      },
    ],
  }),
}

/** Returns the items of an answer in the order of the request: some providers send them as they get ready. */
const inOrder = (json: Fields): readonly Fields[] =>
  saidList(json, 'data').toSorted((one, other) => Number(one['index'] ?? 0) - Number(other['index'] ?? 0))

/** Returns an answer of such a provider as OpenAI's client reads it: bytes where it asked for them, and both counts of tokens. */
export function asOpenai(json: Fields, asked: Fields): Fields {
  const usage = saidFields(json, 'usage')
  const tokens = usage === null ? null : (countOf(usage['prompt_tokens']) ?? countOf(usage['total_tokens']))
  const turned = asked['encoding_format'] === 'base64' ? withBytes : withNumbers
  return {
    ...json,
    ...(Array.isArray(json['data']) && { data: inOrder(json).map(turned) }),
    ...(tokens !== null && { usage: { prompt_tokens: tokens, total_tokens: tokens, ...usage } }),
  }
}

function withNumbers(item: Fields): Fields {
  const vector = typeof item['embedding'] === 'string' ? vectorIn(item['embedding']) : null
  return vector === null ? item : { ...item, embedding: vector }
}

function withBytes(item: Fields): Fields {
  const vector = Array.isArray(item['embedding']) ? vectorIn(item['embedding']) : null
  return vector === null ? item : { ...item, embedding: bytesOf(vector) }
}
