import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { flagIn, listIn, neededText, numberIn, saidList, unreadable } from '../reading.ts'
import type { TaskContext, TaskTranslation, WrittenAnswer } from '../tasks/task.ts'

/** A request to order texts by a question. */
interface RerankRequest {
  readonly query: string
  /** Texts; and pictures in the provider's own words, where it takes them. */
  readonly documents: readonly unknown[]
  readonly topN: number | null
  readonly returnsDocuments: boolean
  /** Fields that are not read. */
  readonly rest: Fields
}

/** The words of one provider's format. */
interface RerankProvider {
  /** True if the body names the model. */
  readonly namesModel: boolean
  readonly topN: string
  /** Native fields that go on as they are. */
  readonly keeps: readonly string[]
  /** Fields that every request has. */
  readonly fixed: Fields
  /** The field of an answer that holds the order. */
  readonly results: string
  /** True if it takes pictures too. */
  readonly seesPictures?: boolean
}

/** docs.cohere.com/reference/rerank, docs.voyageai.com/reference/reranker-api, jina.ai/reranker, docs.aws.amazon.com/bedrock: models are invoked as Cohere's. */
export const rerankProviders: Readonly<Record<string, RerankProvider>> = {
  cohere: { namesModel: true, topN: 'top_n', keeps: ['max_tokens_per_doc', 'priority'], fixed: {}, results: 'results' },
  'cohere/voyage': { namesModel: true, topN: 'top_k', keeps: ['top_k', 'truncation'], fixed: {}, results: 'data' },
  'cohere/jina': { namesModel: true, topN: 'top_n', keeps: [], fixed: { return_documents: false }, results: 'results', seesPictures: true },
  'cohere/bedrock': {
    namesModel: false,
    topN: 'top_n',
    keeps: ['max_tokens_per_doc'],
    fixed: { api_version: 2 },
    results: 'results',
  },
  'cohere/bedrock-amazon': { namesModel: false, topN: 'top_n', keeps: [], fixed: {}, results: 'results' },
}

/** Clients ask as Cohere is asked. */
export const rerankClients: Readonly<Record<string, true>> = { cohere: true }

const known = new Set(['model', 'query', 'documents', 'top_n', 'return_documents', 'rank_fields'])

function decode(body: Fields, { seesPictures = false }: Partial<RerankProvider>): RerankRequest {
  const fields = listIn(body, 'rank_fields').filter((name) => typeof name === 'string')
  return {
    query: neededText(body, 'query'),
    documents: listIn(body, 'documents').map((one, at) => (seesPictures && isPicture(one) ? one : textOf(one, fields, `documents[${at}]`))),
    topN: numberIn(body, 'top_n'),
    returnsDocuments: flagIn(body, 'return_documents') ?? false,
    rest: unread(body, known),
  }
}

const isPicture = (document: unknown): document is Fields => isFields(document) && 'image' in document

/** Returns a document as a text: the fields of an object are lines of it, those alone that the caller ranks by if it names some. */
function textOf(document: unknown, fields: readonly string[], at: string): string {
  if (typeof document === 'string') return document
  if (!isFields(document) || isPicture(document)) throw unreadable(at, 'a text, or an object of texts, for this provider')
  const names = Object.keys(document).filter((name) => fields.length === 0 || fields.includes(name))
  const [only] = names
  if (names.length === 1 && only === 'text') return String(document['text'])
  return names.map((name) => `${name}: ${lineOf(document[name])}`).join('\n')
}

const lineOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Translates a request. Throws `invalid_request`. */
export function translateRerank(
  { to, body }: { readonly to: string; readonly body: Fields },
  context: TaskContext,
): TaskTranslation | null {
  const provider = rerankProviders[to]
  if (provider === undefined) return null
  const request = decode(body, provider)
  return {
    bodies: [{ json: encode(request, provider, context) }],
    loss: context.loss,
    write: ([answer]) => write(answer?.json, request, provider),
  }
}

function encode({ query, documents, topN, rest }: RerankRequest, provider: RerankProvider, { model, loss }: TaskContext): Fields {
  const native: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(rest))
    if (provider.keeps.includes(name)) native[name] = value
    else loss.dropAt(name)
  return {
    ...provider.fixed,
    ...native,
    ...(provider.namesModel && { model }),
    query,
    documents,
    ...(topN !== null && { [provider.topN]: topN }),
  }
}

/** Returns the answer with its order as Cohere tells it, beside what the provider says. */
function write(json: unknown, { documents, returnsDocuments }: RerankRequest, provider: RerankProvider): WrittenAnswer | null {
  if (!isFields(json) || !Array.isArray(json[provider.results])) return null
  const results = saidList(json, provider.results).map((one): Fields => {
    const index = Number(one['index'])
    const ranked = { index, relevance_score: Number(one['relevance_score'] ?? one['relevanceScore']) }
    return returnsDocuments ? Object.assign(ranked, { document: shown(documents[index] ?? '') }) : ranked
  })
  const ordered = results.toSorted((one, other) => Number(other['relevance_score']) - Number(one['relevance_score']))
  return { body: { json: { ...json, results: ordered } }, usage: null }
}

const shown = (document: unknown): unknown => (typeof document === 'string' ? { text: document } : document)
