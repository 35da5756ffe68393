import type { Fields } from '../../../lib/json/fields.ts'
import { servingFields } from '../oracle/serving-mode.ts'
import { saidFields, saidList } from '../reading.ts'
import type { RankedDocument, RerankProvider, RerankRequest } from './neutral.ts'

/** How a format differs from Cohere's. */
interface Departure {
  /** True if the body names the model. */
  readonly namesModel: boolean
  readonly topN: string
  readonly keeps: readonly string[]
  /** Fields that every request has. */
  readonly fixed: Fields
  readonly chunkOf?: (model: string) => number
  readonly seesPictures?: boolean
}

/** docs.cohere.com/docs/reranking-best-practices: a document is cut into chunks as long as the window of the model. */
const chunkOf = (model: string): number => (/v4/.test(model) ? 32_768 : /v[12](?!\d)/.test(model) ? 512 : 4096)

const likeCohere = ({ namesModel, topN: top, fixed, ...rest }: Departure): RerankProvider => ({
  ...rest,
  encode: ({ query, documents, topN }, { model }) => ({
    ...fixed,
    ...(namesModel && { model }),
    query,
    documents,
    ...(topN !== null && { [top]: topN }),
  }),
  // Some have the order in the list of OpenAI's lists.
  decode: (json) =>
    ranked(json, Array.isArray(json['results']) ? 'results' : 'data', { index: ['index'], score: ['relevance_score', 'relevanceScore'] }),
  tells: (json) => json,
})

/** The fields of an item of an order for its place and its score. */
interface Names {
  readonly index: readonly string[]
  readonly score: readonly string[]
}

function ranked(json: Fields, results: string, { index, score }: Names): readonly RankedDocument[] | null {
  if (!Array.isArray(json[results])) return null
  return saidList(json, results).map((one) => ({ index: numberAt(one, index), score: numberAt(one, score) }))
}

const numberAt = (one: Fields, names: readonly string[]): number =>
  Number(names.map((name) => one[name]).find((value) => value !== undefined))

const topOf = ({ topN }: RerankRequest, name: string): Fields => (topN === null ? {} : { [name]: topN })

/** Returns texts as objects that have them in a field. */
const inField = (documents: readonly unknown[], field: string): readonly Fields[] => documents.map((text) => ({ [field]: text }))

/** developers.cloudflare.com/workers-ai/models/bge-reranker-base. */
const workers: RerankProvider = {
  keeps: [],
  encode: (request) => ({ query: request.query, contexts: inField(request.documents, 'text'), ...topOf(request, 'top_k') }),
  decode: (json) => ranked(saidFields(json, 'result') ?? json, 'response', { index: ['id'], score: ['score'] }),
  tells: (json) => pick(saidFields(json, 'result') ?? {}, ['usage']),
}

/** docs.oracle.com/iaas/api: RerankTextDetails. */
const oracle: RerankProvider = {
  keeps: [],
  encode: (request, { model, traits }) => ({
    ...servingFields(model, traits),
    input: request.query,
    documents: request.documents,
    ...topOf(request, 'topN'),
  }),
  decode: (json) => ranked(json, 'documentRanks', { index: ['index'], score: ['relevanceScore'] }),
  tells: (json) => pick(json, ['id']),
}

/** cloud.google.com/generative-ai-app-builder/docs/ranking: records have names, which are their places here. */
const vertexRanking: RerankProvider = {
  keeps: [],
  encode: (request, { model }) => ({
    model,
    query: request.query,
    records: request.documents.map((content, at) => ({ id: String(at), content })),
    ignoreRecordDetailsInResponse: true,
    ...topOf(request, 'topN'),
  }),
  decode: (json) => ranked(json, 'records', { index: ['id'], score: ['score'] }),
  tells: () => ({}),
}

const pick = (json: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.flatMap((name) => (json[name] === undefined ? [] : [[name, json[name]]])))

/** docs.cohere.com/reference/rerank, docs.voyageai.com/reference/reranker-api, jina.ai/reranker, docs.aws.amazon.com/bedrock: models are invoked as Cohere's. */
export const rerankProviders: Readonly<Record<string, RerankProvider>> = {
  cohere: likeCohere({ namesModel: true, topN: 'top_n', keeps: ['max_tokens_per_doc', 'priority'], fixed: {}, chunkOf }),
  'cohere/voyage': likeCohere({ namesModel: true, topN: 'top_k', keeps: ['top_k', 'truncation'], fixed: {} }),
  'cohere/jina': likeCohere({
    namesModel: true,
    topN: 'top_n',
    keeps: [],
    fixed: { return_documents: false },
    seesPictures: true,
  }),
  'cohere/plain': likeCohere({
    namesModel: true,
    topN: 'top_n',
    keeps: ['max_chunks_per_doc', 'overlap_tokens', 'instruction'],
    fixed: { return_documents: false },
  }),
  'cohere/bedrock': likeCohere({
    namesModel: false,
    topN: 'top_n',
    keeps: ['max_tokens_per_doc'],
    fixed: { api_version: 2 },
  }),
  'cohere/bedrock-amazon': likeCohere({ namesModel: false, topN: 'top_n', keeps: [], fixed: {} }),
  'workers-ai': workers,
  oracle,
  'google/ranking': vertexRanking,
}
