type Json = Readonly<Record<string, unknown>>

/** A path that clients of another format call, which is no operation of OpenAI's or Anthropic's. */
interface FormatPath {
  readonly path: string
  readonly method: 'get' | 'post'
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  /** True: it stands beside `/v1`. */
  readonly atRoot?: true
  readonly query?: readonly Json[]
  readonly body?: Json
}

const text: Json = { type: 'string' }
const object = (required: readonly string[], properties: Json): Json => ({ type: 'object', required, properties })
const list = (items: Json): Json => ({ type: 'array', items })

const content = object(['parts'], { role: { enum: ['user', 'model', 'function'] }, parts: list({ type: 'object' }) })
const generation = object(['contents'], {
  contents: list(content),
  systemInstruction: content,
  generationConfig: { type: 'object' },
  tools: list({ type: 'object' }),
  toolConfig: { type: 'object' },
  safetySettings: list({ type: 'object' }),
  cachedContent: text,
})
const embedding = object(['content'], {
  content,
  taskType: text,
  title: text,
  outputDimensionality: { type: 'integer', minimum: 1 },
})

const anyProvider =
  'In the format of Google’s API, so that its own clients only need another base URL. The model may be `@slug/model`; a provider of another format is asked in its own words.'

const framing: readonly Json[] = [
  {
    in: 'query',
    name: 'alt',
    description: '`sse`: as server-sent events; else as one JSON array that arrives in pieces.',
    schema: text,
  },
]

const formatPathList: readonly FormatPath[] = [
  {
    path: '/rerank',
    method: 'post',
    operationId: 'rerank',
    summary: 'Order documents by how well they answer a query (Cohere shape)',
    description:
      'A provider of another format is asked in its own words; one of the catalogue that has no such work is a 400, which lists who does it. To a host of your own the path goes on as it is.',
    body: object(['model', 'query', 'documents'], {
      model: text,
      query: text,
      documents: list({ oneOf: [text, { type: 'object' }] }),
      top_n: { type: 'integer', minimum: 1 },
      rank_fields: list(text),
      return_documents: { type: 'boolean' },
      max_tokens_per_doc: { type: 'integer', minimum: 1 },
    }),
  },
  ...(
    [
      ['generateContent', 'Create content (Google shape)', generation],
      ['streamGenerateContent', 'Create content as it is made (Google shape)', generation],
      ['countTokens', 'Count the tokens of contents (Google shape)', { type: 'object', properties: { contents: list(content) } }],
      ['embedContent', 'Create an embedding (Google shape)', embedding],
      ['batchEmbedContents', 'Create embeddings (Google shape)', object(['requests'], { requests: list(embedding) })],
    ] as const
  ).map(([name, summary, body]): FormatPath => ({
    path: `/v1beta/models/{model}:${name}`,
    method: 'post',
    operationId: `google${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary,
    description: anyProvider,
    atRoot: true,
    query: name === 'streamGenerateContent' ? framing : [],
    body,
  })),
  {
    path: '/v1beta/models',
    method: 'get',
    operationId: 'listGoogleModels',
    summary: 'List the models that the key can call (Google shape)',
    atRoot: true,
    query: [
      { in: 'query', name: 'pageSize', schema: { type: 'integer' } },
      { in: 'query', name: 'pageToken', schema: text },
    ],
  },
  {
    path: '/v1beta/models/{model}',
    method: 'get',
    operationId: 'getGoogleModel',
    summary: 'Get a model (Google shape)',
    atRoot: true,
  },
]

/** Their methods and paths, as OpenAPI writes them. */
export const formatOperations: readonly Pick<FormatPath, 'method' | 'path'>[] = formatPathList

interface SharedParts {
  readonly headers: readonly Json[]
  readonly responses: Json
  readonly publicUrl: string | null
}

/** Returns the paths of other formats, with the parts that all paths of the data plane share. */
export const formatPaths = ({ headers, responses, publicUrl }: SharedParts): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    formatPathList.map(({ path, method, atRoot, query = [], body, ...about }) => [
      path,
      {
        [method]: {
          ...about,
          tags: ['gateway'],
          ...(atRoot === true && { servers: [{ url: publicUrl ?? '/' }] }),
          parameters: [
            ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ in: 'path', name, required: true, schema: text })),
            ...query,
            ...headers,
          ],
          ...(body !== undefined && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
          responses,
        },
      },
    ]),
  )
