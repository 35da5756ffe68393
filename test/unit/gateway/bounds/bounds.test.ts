import test from 'ava'
import { validateBody, validateQuery } from '../../../../src/gateway/bounds/validate.ts'
import { matchOperation } from '../../../../src/gateway/operations/match.ts'
import type { Operation } from '../../../../src/gateway/operations/operations.ts'
import { ApiError } from '../../../../src/lib/errors.ts'

const completion = { model: 'm', prompt: 'p' }
const job = { model: 'm', training_file: 'f', suffix: 's', method: { type: 'supervised' } }

const refuses = test.macro({
  exec(t, operation: Operation, input: string | object, param: string, message: RegExp) {
    const run = () => (typeof input === 'string' ? validateQuery(operation, input) : validateBody(operation, input, 'strict'))
    const error = t.throws(run, { instanceOf: ApiError })
    t.is(error.code, 'invalid_request')
    t.is(error.param, param)
    t.regex(error.message, message)
  },
  title: (name = '') => `refused: ${name}`,
})

test('best_of not above n', refuses, 'complete', { ...completion, best_of: 2, n: 2 }, 'best_of', /greater than n \(2\).*is 2/)
test('best_of too high', refuses, 'complete', { ...completion, best_of: 21 }, 'best_of', /at most 20.*Got 21/)
test('best_of with stream', refuses, 'complete', { ...completion, best_of: 2, stream: true }, 'best_of', /stream/)
test('n of 0', refuses, 'complete', { ...completion, n: 0 }, 'n', /at least 1.*Got 0/)
test('n of 129', refuses, 'complete', { ...completion, n: 129 }, 'n', /at most 128/)
test('n of 1.5', refuses, 'complete', { ...completion, n: 1.5 }, 'n', /1\.5/)
test('a seed of 1.5', refuses, 'complete', { ...completion, seed: 1.5 }, 'seed', /whole number/)
test('logprobs of 6', refuses, 'complete', { ...completion, logprobs: 6 }, 'logprobs', /at most 5/)
test('temperature of 2.1', refuses, 'complete', { ...completion, temperature: 2.1 }, 'temperature', /at most 2.*Got 2\.1/)
test('top_p below 0', refuses, 'complete', { ...completion, top_p: -0.1 }, 'top_p', /at least 0/)
test('frequency_penalty of 3', refuses, 'complete', { ...completion, frequency_penalty: 3 }, 'frequency_penalty', /at most 2/)
test('presence_penalty of -3', refuses, 'complete', { ...completion, presence_penalty: -3 }, 'presence_penalty', /at least -2/)
test('logit_bias of 101', refuses, 'complete', { ...completion, logit_bias: { '50256': 101 } }, 'logit_bias.50256', /at most 100/)
test('five stop sequences', refuses, 'complete', { ...completion, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', /at most 4 items/)
test('a stop that is a number', refuses, 'complete', { ...completion, stop: 7 }, 'stop', /expected a string or a list.*Got 7/)
test('an empty list of prompts', refuses, 'complete', { ...completion, prompt: [] }, 'prompt', /at least 1 item\./)
test(
  'a token that is no whole number',
  refuses,
  'complete',
  { ...completion, prompt: [1.5] },
  'prompt[0]',
  /expected a whole number\. Got 1\.5/,
)
test('an empty model', refuses, 'complete', { ...completion, model: '' }, 'model', /at least 1 character\./)
test('what is missing is said once', refuses, 'complete', { prompt: 'p' }, 'model', /^model is missing: expected a string\.$/)
test('a huge limit is told once', refuses, 'listBatches', `limit=${'9'.repeat(20)}`, 'limit', /^limit: must be at most 100\. Got "9+"\.$/)
test('max_tokens below 0', refuses, 'complete', { ...completion, max_tokens: -1 }, 'max_tokens', /at least 0/)
test(
  'stream_options without stream',
  refuses,
  'complete',
  { ...completion, stream_options: { include_usage: true } },
  'stream_options',
  /stream is true/,
)
test(
  'a huge n is told once',
  refuses,
  'complete',
  { ...completion, n: 1e20 },
  'n',
  /^n: must be at most 128\. Got 100000000000000000000\.$/,
)
test('no model', refuses, 'complete', { prompt: 'p' }, 'model', /missing/)
test('no prompt', refuses, 'complete', { model: 'm' }, 'prompt', /missing/)
test('fine-tuning without a suffix', refuses, 'createFinetune', { ...job, suffix: undefined }, 'suffix', /missing/)
test('fine-tuning without a method', refuses, 'createFinetune', { ...job, method: undefined }, 'method', /missing/)
test(
  'six integrations',
  refuses,
  'createFinetune',
  { ...job, integrations: Array.from({ length: 6 }, () => ({ type: 'wandb' })) },
  'integrations',
  /at most 5/,
)
test('limit 0', refuses, 'listBatches', 'limit=0', 'limit', /at least 1/)
test('limit 101', refuses, 'listThreadMessages', 'limit=101', 'limit', /at most 100.*101/)
test('limit twice', refuses, 'listBatches', 'limit=500&limit=5', 'limit', /twice/)
test('limit abc', refuses, 'listBatches', 'limit=abc', 'limit', /whole number.*abc/)
test('order up', refuses, 'listThreadMessages', 'order=up', 'order', /asc, desc.*up/)
test('include of something else', refuses, 'getModelResponse', 'include[]=nothing', 'include[0]', /file_search_call\.results/)

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']))
for (const operation of ['createModelResponse', 'createBatch'] as const) {
  test(`17 pairs: ${operation}`, refuses, operation, { metadata: pairs(17) }, 'metadata', /at most 16 pairs, but has 17/)
  test(`a key of 65: ${operation}`, refuses, operation, { metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata', /at most 64.*one of 65/)
  test(`a value of 513: ${operation}`, refuses, operation, { metadata: { k: 'v'.repeat(513) } }, 'metadata.k', /at most 512.*has 513/)
}
test('a response with 2.1', refuses, 'createModelResponse', { temperature: 2.1 }, 'temperature', /at most 2.*Got 2\.1/)
test('a response with -0.1', refuses, 'createModelResponse', { top_p: -0.1 }, 'top_p', /at least 0.*Got -0\.1/)
test('a bias of 101', refuses, 'complete', { ...completion, logit_bias: { 50256: 101 } }, 'logit_bias.50256', /at most 100/)
test('a prompt in pieces', refuses, 'createFinetune', { ...job, integrations: [{}] }, 'integrations[0].type', /string/)

test('what public clients leave out may be absent where the demands are lenient', (t) => {
  const { suffix: _, method: __, ...bare } = job
  t.throws(() => validateBody('createFinetune', bare, 'strict'))
  t.notThrows(() => validateBody('createFinetune', bare, 'lenient'))
  t.throws(() => validateBody('createFinetune', { ...bare, training_file: '' }, 'lenient'))
})

const accepts = test.macro({
  exec(t, operation: Operation, input: string | object) {
    t.notThrows(() => (typeof input === 'string' ? validateQuery(operation, input) : validateBody(operation, input, 'strict')))
  },
  title: (name = '') => `accepted: ${name}`,
})

test('every bound of a response', accepts, 'createModelResponse', {
  temperature: 2,
  top_p: 0,
  metadata: { ...pairs(15), ['k'.repeat(64)]: 'v'.repeat(512) },
  input: 1,
})
test('every bound of a completion', accepts, 'complete', {
  ...completion,
  best_of: 20,
  n: 19,
  logprobs: 5,
  temperature: 2,
  top_p: 1,
  presence_penalty: -2,
  frequency_penalty: 2,
  max_tokens: 0,
  stop: ['a', 'b', 'c', 'd'],
  seed: -9223372036854775808,
  logit_bias: { a: -100 },
  user: 'u',
})
test('nulls where the specification allows them', accepts, 'complete', {
  ...completion,
  best_of: null,
  echo: null,
  n: null,
  logprobs: null,
  max_tokens: null,
  seed: null,
  stream: null,
  suffix: null,
  temperature: null,
  top_p: null,
})
test('token prompts and unknown parameters', accepts, 'complete', { model: 'm', prompt: [[1, 2], [3]], some_new_parameter: { a: 1 } })
test('a fine-tuning job', accepts, 'createFinetune', job)
test('a page', accepts, 'listBatches', 'limit=100&after=batch_1&custom=1&custom=2')
test(
  'includes in each spelling',
  accepts,
  'getModelResponse',
  'include=file_search_call.results&include[]=message.input_image.image_url&include[0]=computer_call_output.output.image_url',
)

const matches = test.macro<[string, string, Operation | 'proxy', Readonly<Record<string, string>>?]>({
  exec(t, method, path, name, params = {}) {
    const operation = matchOperation(method, path)
    t.is(operation.name, name)
    t.deepEqual({ ...operation.params }, { ...params })
  },
  title: (_, method, path) => `operation: ${method} ${path}`,
})

test(matches, 'POST', '/completions', 'complete')
test(matches, 'GET', '/completions', 'proxy')
test(matches, 'GET', '/threads/thread_1/messages', 'listThreadMessages', { thread_id: 'thread_1' })
test(matches, 'POST', '/threads/thread_1/messages', 'proxy')
test(matches, 'POST', '/batches/b%2F1/cancel', 'cancelBatch', { batch_id: 'b%2F1' })
test(matches, 'GET', '/batches//cancel', 'proxy')
test(matches, 'GET', '/responses/r', 'getModelResponse', { response_id: 'r' })
test(matches, 'PATCH', '/responses/r', 'proxy')
test(matches, 'POST', '/rerank', 'proxy')
