import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { flagIn, listIn, neededText, numberIn, unreadable } from '../reading.ts'
import type { TaskContext, TaskTranslation, WrittenAnswer } from '../tasks/task.ts'
import type { RerankProvider, RerankRequest } from './neutral.ts'
import { rerankProviders } from './providers.ts'

/** Clients ask as Cohere is asked. */
export const rerankClients: Readonly<Record<string, true>> = { cohere: true }

const known = new Set(['model', 'query', 'documents', 'top_n', 'return_documents', 'rank_fields'])

function decode(body: Fields, { seesPictures = false }: Partial<RerankProvider>): RerankRequest {
  const fields = new Set(listIn(body, 'rank_fields').filter((name) => typeof name === 'string'))
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
function textOf(document: unknown, fields: ReadonlySet<string>, at: string): string {
  if (typeof document === 'string') return document
  if (!isFields(document) || isPicture(document)) throw unreadable(at, 'a text, or an object of texts, for this provider')
  const names = Object.keys(document).filter((name) => fields.size === 0 || fields.has(name))
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

function encode(request: RerankRequest, provider: RerankProvider, context: TaskContext): Fields {
  const native: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request.rest))
    if (provider.keeps.includes(name)) native[name] = value
    else if (name !== 'max_chunks_per_doc' || provider.chunkOf === undefined) context.loss.dropAt(name)
  return { ...tokensOfChunks(request, provider, context), ...native, ...provider.encode(request, context) }
}

/** The second version of Cohere's API bounds a document by tokens, where the first counted chunks. */
function tokensOfChunks({ rest }: RerankRequest, { chunkOf }: RerankProvider, { model, loss }: TaskContext): Fields {
  const chunks = numberIn(rest, 'max_chunks_per_doc')
  if (chunks === null || chunkOf === undefined || Object.hasOwn(rest, 'max_tokens_per_doc')) return {}
  const tokens = Math.max(1, Math.round(chunks)) * chunkOf(model)
  loss.note(`max_tokens_per_doc=${tokens}`)
  return { max_tokens_per_doc: tokens }
}

/** Returns the answer with its order in Cohere's form, beside the provider's other fields. */
function write(json: unknown, { documents, returnsDocuments, topN }: RerankRequest, provider: RerankProvider): WrittenAnswer | null {
  const read = isFields(json) ? provider.decode(json) : null
  if (read === null || !isFields(json)) return null
  const results = read.map(({ index, score }): Fields => {
    const ranked = { index, relevance_score: score }
    return returnsDocuments ? Object.assign(ranked, { document: shown(documents[index] ?? '') }) : ranked
  })
  const ordered = results.toSorted((one, other) => Number(other['relevance_score']) - Number(one['relevance_score']))
  return { body: { json: { ...provider.tells(json), results: topN === null ? ordered : ordered.slice(0, topN) } }, usage: null }
}

const shown = (document: unknown): unknown => (typeof document === 'string' ? { text: document } : document)
