import test from 'ava'
import { dialects } from '../../../../src/gateway/dialects/registry.ts'
import { plainTraits } from '../../../../src/gateway/dialects/traits.ts'
import { operationParams } from '../../../../src/gateway/operations/operation-params.ts'
import { type Operation, operations } from '../../../../src/gateway/operations/operations.ts'
import { listPathOf } from '../../../../src/gateway/models/list-path.ts'
import { findProvider, providers } from '../../../../src/gateway/providers/catalog.ts'
import { withDefaults } from '../../../../src/gateway/providers/endpoint.ts'
import { offersAt, servingOf, speakersOf } from '../../../../src/gateway/providers/serving.ts'
import type { Provider } from '../../../../src/gateway/providers/provider.ts'

const rowOf = (id: string): Provider => {
  const row = findProvider(id)
  if (row === null) throw new Error(id)
  return row
}

const plainModel = (model: string) => servingOf(rowOf('vertex-ai'), { operation: 'messages', model })?.model
const traitsOf = (id: string, model: string) => servingOf(rowOf(id), { operation: 'chatComplete', model })?.traits
const projectOf = (fields: Record<string, string>) => withDefaults(rowOf('vertex-ai'), fields)['vertex_project_id']

const served = test.macro({
  exec(t, id: string, operation: Operation, model: string, expected: readonly [dialect: string, path: string, stream?: string]) {
    const serving = servingOf(rowOf(id), { operation, model })
    const [dialect, path, stream = path] = expected
    t.like(serving, { dialect, path, streamPath: stream })
  },
  title: (_, id: string, operation: Operation, model: string) => `${id} serves ${operation} of ${model}`,
})

const vertex = '/v1/projects/{vertex_project_id}/locations/{vertex_region}'
const onVertex = (publisher: string, method: string) => `${vertex}/publishers/${publisher}/models/{model}:${method}`

test(served, 'openai', 'chatComplete', 'gpt-4o', ['openai-chat', '/chat/completions'])
test(served, 'openai', 'messages', 'gpt-4o', ['openai-chat', '/chat/completions'])
test(served, 'openai', 'createModelResponse', 'gpt-4o', ['openai-responses', '/responses'])
test(served, 'groq', 'createModelResponse', 'x', ['openai-chat', '/chat/completions'])
test(served, 'anthropic', 'chatComplete', 'claude-opus-4-6', ['anthropic', '/messages'])
test(served, 'cohere', 'embed', 'embed-v4', ['cohere', '/v2/embed'])
test(served, 'google', 'chatComplete', 'gemini-2.5-flash', [
  'google',
  '/v1beta/models/{+model}:generateContent',
  '/v1beta/models/{+model}:streamGenerateContent?alt=sse',
])
test(served, 'google', 'countTokens', 'gemini-2.5-flash', ['google', '/v1beta/models/{+model}:countTokens'])
test(served, 'bedrock', 'messages', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', [
  'anthropic',
  '/model/{model}/invoke',
  '/model/{model}/invoke-with-response-stream',
])
test(served, 'bedrock', 'chatComplete', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', [
  'bedrock',
  '/model/{model}/converse',
  '/model/{model}/converse-stream',
])
test(served, 'bedrock', 'messages', 'amazon.nova-pro-v1:0', ['bedrock', '/model/{model}/converse', '/model/{model}/converse-stream'])
test(served, 'vertex-ai', 'chatComplete', 'claude-sonnet-4-5@20250929', [
  'anthropic',
  onVertex('anthropic', 'rawPredict'),
  onVertex('anthropic', 'streamRawPredict'),
])
test(served, 'vertex-ai', 'chatComplete', 'google/gemini-2.5-pro', [
  'google',
  onVertex('google', 'generateContent'),
  onVertex('google', 'streamGenerateContent?alt=sse'),
])
test(served, 'vertex-ai', 'chatComplete', 'meta/llama-4', ['openai-chat', `${vertex}/endpoints/openapi/chat/completions`])

test('the model of a path is without the vendor that chose the path', (t) => {
  t.is(plainModel('anthropic.claude-sonnet-4-5'), 'claude-sonnet-4-5')
  t.is(plainModel('google/gemini-2.5-pro'), 'gemini-2.5-pro')
  t.is(plainModel('meta/llama-4'), 'meta/llama-4')
})

test('what is not there is not served', (t) => {
  t.is(servingOf(rowOf('cohere'), { operation: 'createSpeech', model: 'x' }), null)
  t.is(servingOf(rowOf('cohere'), { operation: 'listFiles', model: null }), null)
  t.is(servingOf(rowOf('jina'), { operation: 'chatComplete', model: 'x' }), null)
  t.is(servingOf(rowOf('vertex-ai'), { operation: 'embed', model: 'claude-sonnet-4-5' }), null)
})

test('traits are those of the row, with those of the offer', (t) => {
  t.deepEqual(traitsOf('jina', 'x'), undefined)
  t.deepEqual(traitsOf('krutrim', 'x'), plainTraits)
  t.like(traitsOf('openai', 'x'), { cap: 'max_completion_tokens', developerRole: true })
  t.like(traitsOf('mistral-ai', 'x'), { toolIds: 'nine-characters', streamUsage: false })
  t.like(traitsOf('vertex-ai', 'claude-x'), { host: 'vertex' })
})

test('who serves an operation is told by id', (t) => {
  t.true(speakersOf('messages').length > 40)
  t.false(speakersOf('embed').includes('anthropic'))
  t.true(speakersOf('chatComplete').length > 40)
})

test('a project is taken from the service account, unless one is given', (t) => {
  const account = JSON.stringify({ project_id: 'within', client_email: 'a@b' })
  t.is(projectOf({ vertex_service_account_json: account }), 'within')
  t.is(projectOf({ vertex_service_account_json: account, vertex_project_id: 'given' }), 'given')
  for (const odd of ['{', '[]', '{"project_id":7}', '']) t.is(projectOf({ vertex_service_account_json: odd }), '')
})

const named = /\{[+?]?([^}]+)\}/g

for (const id of Object.keys(providers))
  test(`${id}: what it offers makes sense`, (t) => {
    const row = rowOf(id)
    const known = new Set([...Object.keys(row.fields ?? {}), ...operationParams, 'model'])
    const seen = new Set<string>()
    t.truthy(row)
    for (const { task, dialect, path, streamPath = path, models } of offersAt(row)) {
      t.true(Object.hasOwn(dialects, dialect), `${dialect} is a dialect`)
      t.true(Object.values(operations).some((operation) => 'task' in operation && operation.task === task) || task === 'rerank', task)
      for (const template of [path, streamPath]) {
        t.regex(template, /^[~^]?\//)
        for (const [, names = ''] of template.matchAll(named))
          for (const name of names.split('|')) t.true(known.has(name), `${template} is filled with ${name}, which is no field`)
      }
      const key = `${task} ${dialect} ${String(models)}`
      t.false(seen.has(key), `${key} is offered twice, and only the first is taken`)
      seen.add(key)
    }
    for (const [field, [document]] of Object.entries(row.fieldsWithin ?? {})) t.true(known.has(field) && known.has(document))
  })

const listed = (id: string) => listPathOf(rowOf(id))

test('the list of models stands beside the operations, where there is one', (t) => {
  t.is(listed('openai'), '/models')
  t.is(listed('together-ai'), '/v1/models')
  t.is(listed('lepton'), '/api/v1/models')
  t.is(listed('anthropic'), '/models?limit=1000')
  t.is(listed('google'), '/v1beta/models?pageSize=1000')
  t.is(listed('replicate'), '/models')
  t.regex(listed('oracle') ?? '', /^\/\{oracle_api_version\}\/models\?/)
  for (const id of ['huggingface', 'azure-openai', 'predibase', 'vertex-ai', 'bedrock', 'qdrant']) t.is(listed(id), null, id)
})
