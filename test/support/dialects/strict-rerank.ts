import { z } from 'zod'
import type { Behaviour } from '../emulator/behaviour.ts'
import type { Received } from '../emulator/emulator.ts'
import { firstFault, json } from './strict.ts'

const text = z.string()
const shared = { query: text, documents: z.array(text).min(1) }
const top = z.number().int().positive().optional()
const results = [
  { index: 0, relevance_score: 0.1 },
  { index: 1, relevance_score: 0.9 },
]

/** The endpoints of the vendors: the fields of each, and its answers. */
const endpoints: readonly (readonly [path: RegExp, body: z.ZodType, answer: object])[] = [
  [
    /^\/(?:providers\/)?cohere\/v2\/rerank$/,
    z.strictObject({ ...shared, model: text, top_n: top, max_tokens_per_doc: top }),
    { id: 'r', results: results.toReversed(), meta: { billed_units: { search_units: 1 } } },
  ],
  [
    /^\/voyage\/rerank$/,
    z.strictObject({ ...shared, model: text, top_k: top, truncation: z.boolean().optional() }),
    { object: 'list', data: results.toReversed(), model: 'rerank-2.5', usage: { total_tokens: 26 } },
  ],
  [
    /^\/jina\/rerank$/,
    z.strictObject({
      model: text,
      query: text,
      documents: z.array(z.union([text, z.strictObject({ image: text })])).min(1),
      top_n: top,
      return_documents: z.literal(false),
    }),
    { model: 'jina-reranker-v3', results: results.toReversed(), usage: { total_tokens: 26 } },
  ],
  [
    /^\/(?:together\/v1|silicon|openai\/v1)\/rerank$/,
    z.strictObject({ ...shared, model: text, top_n: top, return_documents: z.literal(false), max_chunks_per_doc: top }),
    { id: 'r', results: results.toReversed(), meta: { tokens: { input_tokens: 26, output_tokens: 0 } } },
  ],
  [
    /^\/fireworks\/rerank$/,
    z.strictObject({ ...shared, model: text, top_n: top, return_documents: z.literal(false), max_chunks_per_doc: top }),
    { object: 'list', data: results.toReversed(), usage: { prompt_tokens: 26, total_tokens: 26, completion_tokens: 0 } },
  ],
  [
    /^\/client\/v4\/accounts\/account\/ai\/run\/%40cf\/baai\/bge-reranker-base$/,
    z.strictObject({ query: text, contexts: z.array(z.strictObject({ text })).min(1), top_k: top }),
    {
      result: {
        response: results.toReversed().map(({ index: id, relevance_score: score }) => ({ id, score })),
        usage: { prompt_tokens: 26 },
      },
      success: true,
      errors: [],
      messages: [],
    },
  ],
  [
    /^\/20231130\/actions\/rerankText$/,
    z.strictObject({
      compartmentId: z.literal('ocid1.tenancy.oc1..t'),
      servingMode: z.strictObject({ servingType: z.literal('ON_DEMAND'), modelId: text }),
      input: text,
      documents: z.array(text).min(1),
      topN: top,
    }),
    {
      id: 'r',
      modelId: 'cohere.rerank.v3-5',
      documentRanks: results.toReversed().map(({ index, relevance_score: relevanceScore }) => ({ index, relevanceScore })),
    },
  ],
  [
    /^\/v1\/projects\/project\/locations\/global\/rankingConfigs\/default_ranking_config:rank$/,
    z.strictObject({
      model: z.literal('semantic-ranker-default-004'),
      query: text,
      records: z.array(z.strictObject({ id: text, content: text })).min(1),
      topN: top,
      ignoreRecordDetailsInResponse: z.literal(true),
    }),
    { records: results.toReversed().map(({ index, relevance_score: score }) => ({ id: String(index), score })) },
  ],
  [/cohere\.rerank[^/]*\/invoke$/, z.strictObject({ ...shared, top_n: top, api_version: z.literal(2) }), { results }],
  [/amazon\.rerank[^/]*\/invoke$/, z.strictObject({ ...shared, top_n: top }), { results }],
]

/** Orders texts as strictly as the vendors do: the second is the best. */
export function ranksStrictly({ url, json: body }: Received): Behaviour {
  const [, shape, answer] = endpoints.find(([path]) => path.test(url)) ?? []
  if (shape === undefined || answer === undefined) return json({ message: `no ${url}` }, 404)
  const read = shape.safeParse(body)
  return read.success ? json(answer) : json({ message: firstFault(read.error) }, 400)
}
