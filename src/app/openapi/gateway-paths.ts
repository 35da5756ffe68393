import { z } from 'zod'
import {
  bodySchemas,
  querySchemas,
  modelOperations,
  operations,
  type Operation,
  type OperationSpec,
} from '../../gateway/ports/operations.ts'
import { answerShapes, bodyShapes } from './answers/index.ts'
import { formatPaths } from './format-paths.ts'
import type { SchemaWriter } from './schemas.ts'

type Json = Readonly<Record<string, unknown>>

/** The summary of each operation of the data plane; bodies are the provider's own. */
const summaries: Readonly<Record<Operation, string>> = {
  chatComplete: 'Create a chat completion',
  promptComplete: 'Fill a prompt with variables and create a chat completion of it',
  complete: 'Create a text completion',
  embed: 'Create embeddings',
  messages: 'Create a message (Anthropic shape)',
  countTokens: 'Count the tokens of a message (Anthropic shape)',
  createModelResponse: 'Create a model response',
  connectResponses: 'Open a WebSocket for model responses',
  connectRealtime: 'Open a WebSocket for a realtime session',
  getModelResponse: 'Get a model response',
  deleteModelResponse: 'Delete a model response',
  cancelModelResponse: 'Cancel a model response that runs in the background',
  countResponseTokens: 'Count the tokens of the input of a model response',
  compactResponse: 'Compact a conversation of model responses',
  listResponseInputItems: 'List the input items of a response',
  imageGenerate: 'Create images',
  imageEdit: 'Edit an image',
  imageVary: 'Vary an image',
  moderate: 'Check texts against content rules',
  createSpeech: 'Speak a text',
  createTranscription: 'Transcribe audio',
  createTranslation: 'Translate audio into English',
  uploadFile: 'Upload a file',
  listFiles: 'List files',
  retrieveFile: 'Get a file',
  deleteFile: 'Delete a file',
  retrieveFileContent: 'Get the content of a file',
  createMessageBatch: 'Create a batch of messages',
  createBatch: 'Create a batch',
  listBatches: 'List batches',
  retrieveBatch: 'Get a batch',
  cancelBatch: 'Cancel a batch',
  createFinetune: 'Create a fine-tuning job',
  listFinetunes: 'List fine-tuning jobs',
  retrieveFinetune: 'Get a fine-tuning job',
  cancelFinetune: 'Cancel a fine-tuning job',
  listThreadMessages: 'List the messages of a thread',
}

const header = (name: string, description: string): Json => ({
  in: 'header',
  name,
  required: false,
  description,
  schema: { type: 'string' },
})

/** The headers that any request to the gateway may have beside those of its target; `test/house/examples.test.ts` keeps the list complete. */
const commonHeaders: readonly Json[] = [
  header(
    'x-service-api-key',
    'A Gatehouse API key or token. A bearer token in `authorization` does as well, where it is not for the provider.',
  ),
  header(
    'x-service-config',
    'The slug of a stored config, or a config as JSON: target, parameters, timeout and guardrails of this request.',
  ),
  header('x-service-sensitive-headers', 'The names of at most 32 headers, separated by commas, whose values the log does not keep.'),
  header('x-service-metadata', 'A flat JSON object, e.g. `{"team":"search","_user":"u-42"}`: kept in the log, and used by policies.'),
  header('x-service-trace-id', 'The trace that the request belongs to, in the log.'),
  header('x-service-span-id', 'Its span in the trace.'),
  header('x-service-parent-span-id', 'The span above it.'),
  header('x-service-span-name', 'What to call the span.'),
  header(
    'x-service-request-timeout',
    'Milliseconds after which the provider is given up, if that is sooner than the installation, or a config that the key is bound to, would.',
  ),
  header('x-service-cache-namespace', 'Separates cached answers: a request gets those of its own namespace only.'),
  header('x-service-cache-force-refresh', '`true` asks the provider although an answer is cached, and caches the new one.'),
  header('x-service-forward-headers', 'Names of headers, comma-separated, that the provider gets although they usually hold credentials.'),
  header('x-service-strict-open-ai-compliance', '`false` adds `hook_results`, what guardrails found, to the answer.'),
  header(
    'x-service-strict-translation',
    '`true` refuses a request of which a translation to the format of the provider would drop a field, with a 400 that names it.',
  ),
  header(
    'x-service-explain',
    '`true`: no provider is called, and the answer shows the request for each target, and the reasons. The key needs the scope `configs.read`.',
  ),
  header(
    'x-service-job-mode',
    'For files and batches: `managed` lets Gatehouse keep and run them, `provider` passes them on. Without it, those that name no provider are of Gatehouse.',
  ),
  header(
    'x-service-debug',
    '`false`, in any case, keeps the bodies of request and answer out of the log; any value but that and `true` is refused.',
  ),
]

const targetHeaders: readonly Json[] = [
  header('x-service-provider', 'A provider name, whose own key is then in `authorization`, or `@slug` of a stored provider.'),
  header('x-service-virtual-key', 'The slug of a virtual key.'),
  header('x-service-custom-host', "The provider's base URL, when it is not the usual one."),
  ...commonHeaders,
]

const storedHeaders: readonly Json[] = [
  header('x-service-virtual-key', 'The slug of a virtual key. Required, unless `x-service-provider: @slug` names a stored provider.'),
  header('x-service-provider', '`@slug` of a stored provider, in place of a virtual key.'),
  ...commonHeaders,
]

const answers: Json = {
  default: {
    description: "The provider's answer, unchanged: status, headers and bytes. Gatehouse's own refusals have the shape of `Error`.",
  },
}

/** The answer of an operation whose shape is defined by its format. */
function answersOf(name: Operation, { write }: Pick<SchemaWriter, 'write'>): Json {
  const shape = answerShapes[name]
  const description = "The provider's answer, unchanged. This is the shape that the operation's own format has; providers may add fields."
  return shape === undefined
    ? answers
    : { 200: { description, content: { 'application/json': { schema: write(shape, 'output') } } }, ...answers }
}

/** The text of a request that goes on as a WebSocket, and its answers. */
const socketAnswers: Json = {
  description:
    'A request with `Connection: Upgrade` and `Upgrade: websocket`. Each `response.create` event that the client sends is a request of its own, with the headers of this one; its events come back as messages. The guide to WebSockets tells more.',
  responses: {
    101: { description: 'The connection goes on as a WebSocket.' },
    426: {
      description: 'The request is none for a WebSocket of version 13.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
    default: answers['default'],
  },
}

const describe = (name: Operation, spec: OperationSpec, writer: Pick<SchemaWriter, 'write'>): Json => ({
  operationId: name,
  tags: ['gateway'],
  summary: summaries[name],
  parameters: [...pathParameters(spec.path), ...queryParameters(name), ...(spec.virtualKey === true ? storedHeaders : targetHeaders)],
  ...(spec.method === 'POST' && { requestBody: requestBody(name) }),
  ...(spec.socket === true ? socketAnswers : { responses: answersOf(name, writer) }),
})

/** The bounds that the gateway checks before it asks a provider. */
function queryParameters(name: Operation): readonly Json[] {
  const schema = querySchemas[name]
  if (schema === undefined) return []
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' })
  return Object.entries(properties).map(([field, shape]) => ({ in: 'query', name: field, required: false, schema: plainType(shape) }))
}

/** Returns the schema of a number without the pattern of the text that it is in a query. */
function plainType(shape: unknown): Json {
  const { pattern, ...rest }: Json = Object.fromEntries(Object.entries(Object(shape)))
  return pattern === undefined || rest['type'] === 'integer' ? rest : { ...rest, pattern }
}

function requestBody(name: Operation): Json {
  const schema = bodySchemas[name] ?? bodyShapes[name]
  if (schema === undefined) return { content: { '*/*': { schema: {} } } }
  const { $schema: _, id: __, ...shape } = z.toJSONSchema(schema, { io: 'input' })
  return { required: true, content: { 'application/json': { schema: shape } } }
}

const pathParameters = (path: string): readonly Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ in: 'path', name, required: true, schema: { type: 'string' } }))

const ownModels =
  "Without a provider, Gatehouse answers what the workspace's stored providers offer, as `@slug/model`: in OpenAI's shape, or in Anthropic's for callers that send `anthropic-version`. A request that names a provider gets that provider's own answer."

const modelSummaries = { listModels: 'List the models that the key can call', getModel: 'Get a model' } as const

const integratedModels = header(
  'x-service-fetch-integrated-models',
  '`true` lists the models of the stored providers also when the request or its config names a provider.',
)

const modelPaths: Readonly<Record<string, Json>> = Object.fromEntries(
  (['listModels', 'getModel'] as const).map((operationId) => {
    const { path } = modelOperations[operationId]
    const summary = modelSummaries[operationId]
    const parameters = [...pathParameters(path), ...targetHeaders, integratedModels]
    return [path, { get: { operationId, tags: ['gateway'], summary, description: ownModels, parameters, responses: answers } }]
  }),
)

/** Any other path below `/v1` goes to the provider as it is. */
const passThrough: Json = Object.fromEntries(
  ['get', 'post', 'put', 'delete', 'patch', 'head', 'options'].map((method) => [
    method,
    {
      operationId: `passThrough_${method}`,
      tags: ['gateway'],
      summary: 'Call any endpoint of a provider',
      parameters: [
        { in: 'path', name: 'provider_endpoint', required: true, description: 'May hold slashes.', schema: { type: 'string' } },
        ...targetHeaders,
      ],
      ...(method !== 'get' && method !== 'head' && { requestBody: { content: { '*/*': { schema: {} } } } }),
      responses: answers,
    },
  ]),
)

/** Returns the data plane's part of the document. */
export function gatewayPaths(publicUrl: string | null, writer: Pick<SchemaWriter, 'write'>): Readonly<Record<string, Json>> {
  const paths: Record<string, Json> = {}
  for (const name of Object.keys(operations).filter((key): key is Operation => Object.hasOwn(operations, key))) {
    const spec = operations[name]
    paths[spec.path] = { ...paths[spec.path], [spec.method.toLowerCase()]: describe(name, spec, writer) }
  }
  const formats = formatPaths({ headers: targetHeaders, responses: answers, publicUrl })
  return { ...paths, ...modelPaths, ...formats, '/{provider_endpoint}': passThrough }
}
