import { z } from 'zod'
import type { Behaviour } from '../emulator/behaviour.ts'
import type { Received } from '../emulator/emulator.ts'
import { firstFault, json } from './strict.ts'

const text = z.string()
const texts = (most: number) => z.array(text).min(1).max(most)
const length = z.number().int().positive().optional()
const task = z
  .enum(['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'SEMANTIC_SIMILARITY', 'CLASSIFICATION', 'CLUSTERING', 'CODE_RETRIEVAL_QUERY'])
  .optional()
const cohere = {
  texts: texts(96),
  input_type: z.enum(['search_document', 'search_query', 'classification', 'clustering', 'image']),
  embedding_types: z.array(z.enum(['float', 'int8', 'base64'])),
  output_dimension: length,
  truncate: text.optional(),
}
const plain = { model: text, input: z.union([text, z.array(z.unknown()).min(1)]) }
const content = z.strictObject({ role: text.optional(), parts: z.array(z.strictObject({ text })).min(1) })
const ofGoogle = { taskType: task, title: text.optional(), outputDimensionality: length }

/** A vector that encodes its text: its length in characters, and numbers that floats of 32 bits hold. */
export const vectorOf = (said: unknown): readonly number[] => [String(said).length, 0.5, -0.25]
const counted = (said: readonly unknown[]): number => said.length * 2
const listed = (input: unknown): readonly unknown[] => (Array.isArray(input) ? input : [input])
const bytesOf = (vector: readonly number[]): string => Buffer.from(Float32Array.from(vector).buffer).toString('base64')
const openaiAnswer = (input: unknown, usage: (tokens: number) => object, inBytes = false) => ({
  object: 'list',
  model: 'answered',
  data: listed(input)
    .map((said, index) => ({ object: 'embedding', index, embedding: inBytes ? bytesOf(vectorOf(said)) : vectorOf(said) }))
    // An order that is none but in the format that the caller reads itself.
    .toSorted((one, other) => (inBytes ? 0 : other.index - one.index)),
  usage: usage(counted(listed(input))),
})

interface Spoken<T> {
  readonly path: RegExp
  /** The body that it takes, and no other. */
  readonly body: z.ZodType<T>
  readonly answer: (body: T) => object
  readonly headers?: (body: T) => Readonly<Record<string, string>>
}

interface Endpoint {
  readonly path: RegExp
  readonly serve: (body: unknown) => Behaviour
}

const endpoint = <T>({ path, body, answer, headers }: Spoken<T>): Endpoint => ({
  path,
  serve(sent) {
    const read = body.safeParse(sent)
    return read.success ? json(answer(read.data), 200, headers?.(read.data) ?? {}) : json({ message: firstFault(read.error) }, 400)
  },
})

const both = (tokens: number) => ({ prompt_tokens: tokens, total_tokens: tokens })
const total = (tokens: number) => ({ total_tokens: tokens })

/** The endpoints at which vendors make vectors: the fields of each, and its answers. Host names differ in the first segment. */
const endpoints: readonly Endpoint[] = [
  endpoint({
    path: /^\/cohere\/v2\/embed$/,
    body: z.strictObject({ model: text, ...cohere }),
    answer: (body) => ({
      id: 'e',
      embeddings: { float: body.texts.map(vectorOf) },
      texts: body.texts,
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: counted(body.texts) } },
    }),
  }),
  endpoint({
    path: /^\/google\/v1beta\/models\/[^/]+:batchEmbedContents(?:\?|$)/,
    body: z.strictObject({
      requests: z
        .array(z.strictObject({ model: z.string().startsWith('models/'), content, ...ofGoogle }))
        .min(1)
        .max(100),
    }),
    answer: (body) => ({ embeddings: body.requests.map((one) => ({ values: vectorOf(one.content.parts[0]?.text) })) }),
  }),
  endpoint({
    path: /^\/vertex\/.*\/models\/(?:text-|gemini-embedding-001)[^/]*:predict$/,
    body: z.strictObject({
      instances: z
        .array(z.strictObject({ content: text, task_type: task, title: text.optional() }))
        .min(1)
        .max(5),
      parameters: z.strictObject({ outputDimensionality: length, autoTruncate: z.boolean().optional() }).optional(),
    }),
    answer: (body) => ({
      predictions: body.instances.map((one) => ({
        embeddings: { values: vectorOf(one.content), statistics: { token_count: 2, truncated: false } },
      })),
    }),
  }),
  endpoint({
    path: /^\/vertex\/.*\/models\/gemini-embedding-2[^/]*:embedContent$/,
    body: z.strictObject({ content, embedContentConfig: z.strictObject(ofGoogle).optional() }),
    answer: (body) => ({ embedding: { values: vectorOf(body.content.parts[0]?.text) }, usageMetadata: { promptTokenCount: 2 } }),
  }),
  endpoint({
    path: /^\/bedrock\/model\/(?:[a-z]+\.)?amazon\.titan[^/]*\/invoke$/,
    body: z.strictObject({ inputText: text, dimensions: z.literal([256, 512, 1024]).optional(), normalize: z.boolean().optional() }),
    answer: (body) => ({ embedding: vectorOf(body.inputText), inputTextTokenCount: 2 }),
  }),
  endpoint({
    path: /^\/bedrock\/model\/amazon\.nova[^/]*\/invoke$/,
    body: z.strictObject({
      taskType: z.literal('SINGLE_EMBEDDING'),
      singleEmbeddingParams: z.strictObject({
        embeddingPurpose: z.enum(['GENERIC_INDEX', 'GENERIC_RETRIEVAL', 'TEXT_RETRIEVAL', 'CLASSIFICATION', 'CLUSTERING']),
        embeddingDimension: length,
        text: z.strictObject({ truncationMode: z.enum(['START', 'END', 'NONE']), value: text }),
      }),
    }),
    answer: (body) => ({ embeddings: [{ embeddingType: 'TEXT', embedding: vectorOf(body.singleEmbeddingParams.text.value) }] }),
    headers: () => ({ 'x-amzn-bedrock-input-token-count': '2' }),
  }),
  endpoint({
    path: /^\/bedrock\/model\/cohere\.embed[^/]*\/invoke$/,
    body: z.strictObject(cohere),
    answer: (body) => ({
      id: 'e',
      response_type: 'embeddings_by_type',
      texts: body.texts,
      embeddings: { float: body.texts.map(vectorOf) },
    }),
    headers: (body) => ({ 'x-amzn-bedrock-input-token-count': String(counted(body.texts)) }),
  }),
  endpoint({
    path: /^\/openai\/embeddings$/,
    body: z.strictObject({ ...plain, dimensions: length, encoding_format: z.enum(['float', 'base64']).optional(), user: text.optional() }),
    answer: (body) => openaiAnswer(body.input, both, body.encoding_format === 'base64'),
  }),
  endpoint({
    path: /^\/mistral(?:\/v1)?\/embeddings$/,
    body: z.strictObject({ ...plain, output_dimension: length, output_dtype: text.optional() }),
    answer: (body) => ({ id: 'e', ...openaiAnswer(body.input, both) }),
  }),
  endpoint({
    path: /^\/voyage\/embeddings$/,
    body: z.strictObject({
      ...plain,
      input_type: z.enum(['query', 'document']).nullish(),
      truncation: z.boolean().optional(),
      output_dimension: length,
      output_dtype: text.optional(),
      encoding_format: z.literal('base64').nullish(),
    }),
    answer: (body) => openaiAnswer(body.input, total),
  }),
  endpoint({
    path: /^\/jina\/embeddings$/,
    body: z.strictObject({
      ...plain,
      task: text.optional(),
      dimensions: length,
      embedding_type: text.optional(),
      late_chunking: z.boolean().optional(),
    }),
    answer: (body) => openaiAnswer(body.input, both),
  }),
  endpoint({
    path: /^\/client\/v4\/accounts\/account\/ai\/v1\/embeddings$/,
    body: z.strictObject(plain),
    answer: (body) => openaiAnswer(body.input, both),
  }),
  endpoint({
    path: /^\/client\/v4\/accounts\/account\/ai\/run\/%40cf\/baai\/bge-m3$/,
    body: z.strictObject({ text: texts(100), pooling: z.enum(['mean', 'cls']).optional() }),
    answer: (body) => ({
      result: {
        shape: [body.text.length, 3],
        data: body.text.map(vectorOf),
        usage: both(counted(body.text)),
      },
      success: true,
      errors: [],
      messages: [],
    }),
  }),
  endpoint({
    path: /^\/20231130\/actions\/embedText$/,
    body: z.strictObject({
      compartmentId: z.literal('ocid1.tenancy.oc1..t'),
      servingMode: z.strictObject({ servingType: z.literal('ON_DEMAND'), modelId: text }),
      inputs: texts(96),
      inputType: z.enum(['SEARCH_DOCUMENT', 'SEARCH_QUERY', 'CLASSIFICATION', 'CLUSTERING', 'IMAGE']).optional(),
      outputDimensions: length,
      truncate: z.enum(['NONE', 'START', 'END']).optional(),
    }),
    answer: (body) => ({
      id: 'e',
      modelId: body.servingMode.modelId,
      modelVersion: '1.0',
      embeddings: body.inputs.map(vectorOf),
      usage: { promptTokens: counted(body.inputs), completionTokens: 0, totalTokens: counted(body.inputs) },
    }),
  }),
  endpoint({
    path: /^\/nomic\/embedding\/text$/,
    body: z.strictObject({
      model: text,
      texts: texts(400),
      task_type: z.enum(['search_document', 'search_query', 'classification', 'clustering']),
      dimensionality: length,
    }),
    answer: (body) => ({ embeddings: body.texts.map(vectorOf), model: body.model, usage: both(counted(body.texts)) }),
  }),
  endpoint({
    path: /^\/ollama\/api\/embed$/,
    body: z.strictObject({
      model: text,
      input: z.union([text, texts(512)]),
      truncate: z.boolean().optional(),
      dimensions: length,
      keep_alive: text.optional(),
      options: z.strictObject({ num_ctx: length }).optional(),
    }),
    answer: (body) => ({
      model: body.model,
      embeddings: [body.input].flat().map(vectorOf),
      total_duration: 5,
      load_duration: 1,
      prompt_eval_count: counted([body.input].flat()),
    }),
  }),
  endpoint({
    path: /^\/hf\/hf-inference\/models\/sentence-transformers\/all-MiniLM-L6-v2\/pipeline\/feature-extraction$/,
    body: z.strictObject({ inputs: texts(128), normalize: z.boolean().optional(), truncate: z.boolean().optional() }),
    answer: (body) => body.inputs.map(vectorOf),
  }),
]

/** Answers as the vendor of the path does: it refuses unknown and missing fields. */
export function embedsStrictly({ url, json: body }: Received): Behaviour {
  return endpoints.find(({ path }) => path.test(url))?.serve(body) ?? json({ message: `no ${url}` }, 404)
}
