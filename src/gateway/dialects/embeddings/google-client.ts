import type { Fields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { fieldsAt, fieldsIn, listIn, numberIn, textIn, unreadable } from '../reading.ts'
import type { EmbeddingClient, EmbeddingRequest, Purpose } from './neutral.ts'

/** Google's words for the purposes. */
export const googlePurposes = {
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
  similarity: 'SEMANTIC_SIMILARITY',
  'code-query': 'CODE_RETRIEVAL_QUERY',
  question: 'QUESTION_ANSWERING',
  fact: 'FACT_VERIFICATION',
} as const satisfies Readonly<Record<Purpose, string>>

const known = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality'])

/** Every item of a list must ask for the same: other formats have one set of fields for all. */
function decodeList(requests: readonly unknown[]): EmbeddingRequest {
  const read = requests.map((one, at) => decodeOne(fieldsAt(one, `requests[${at}]`), `requests[${at}].`))
  const [first] = read
  if (first === undefined) throw unreadable('requests', 'a list with at least one request')
  for (const [at, one] of read.entries())
    if (one.dimensions !== first.dimensions || one.purpose !== first.purpose || one.title !== first.title)
      throw unreadable(`requests[${at}]`, 'like requests[0] in taskType, title and outputDimensionality for this provider')
  return { ...first, inputs: read.flatMap(({ inputs }) => inputs) }
}

function decodeOne(body: Fields, at: string): EmbeddingRequest {
  const { content: _, ...fields } = body
  const asked = textIn(body, 'taskType', at)
  const purpose = Object.entries(googlePurposes).find(([, word]) => word === asked)?.[0]
  return {
    inputs: [textOf(body, at)],
    dimensions: numberIn(body, 'outputDimensionality', at),
    purpose: isPurpose(purpose) ? purpose : null,
    title: textIn(body, 'title', at),
    names: { inputs: 'content', dimensions: `${at}outputDimensionality`, purpose: `${at}taskType`, title: `${at}title` },
    rest: unread(fields, known),
  }
}

const isPurpose = (word: string | undefined): word is Purpose => word !== undefined && Object.hasOwn(googlePurposes, word)

/** Returns the text of a content. */
function textOf(body: Fields, at: string): string {
  const content = fieldsIn(body, 'content', at)
  if (content === null) throw unreadable(`${at}content`, 'an object with parts')
  const parts = listIn(content, 'parts', `${at}content.`).map((part, index) => {
    const place = `${at}content.parts[${index}]`
    const text = textIn(fieldsAt(part, place), 'text', `${place}.`)
    if (text === null) throw unreadable(place, 'a text for this provider')
    return text
  })
  return parts.join('')
}

/** Google's `embedContent` and `batchEmbedContents`. */
export const googleClient: EmbeddingClient = {
  decode: (body) => (Array.isArray(body['requests']) ? decodeList(body['requests']) : decodeOne(body, '')),
  encode({ vectors, tokens, estimated }, body) {
    const usageMetadata = { promptTokenCount: tokens, ...(estimated && { estimated }) }
    const embeddings = vectors.map((values) => ({ values }))
    return Array.isArray(body['requests']) ? { embeddings, usageMetadata } : { embedding: embeddings[0], usageMetadata }
  },
}
