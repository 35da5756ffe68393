import test from 'ava'
import { json, sse } from '../support/dialects/strict.ts'
import type { Behaviour } from '../support/emulator/behaviour.ts'
import { addressAt, type Product, startProduct } from './product.ts'
import { talkers } from './sides/index.ts'
import type { ClientId } from './talk.ts'

/** Failures that providers report in a success: each word stands for its status, in whole answers and at the beginning of streams. */
let product: Product
test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())
test.beforeEach(() => product.emulator.reset())

const response = (status: string, error: object | null) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status,
  error,
  incomplete_details: null,
  output: [],
  usage: null,
})
const responseFailed = (error: object): readonly [whole: Behaviour, streamed: Behaviour] => [
  json(response('failed', error)),
  sse([
    ['response.created', { type: 'response.created', sequence_number: 0, response: response('in_progress', null) }],
    ['response.failed', { type: 'response.failed', sequence_number: 1, response: response('failed', error) }],
  ]),
]
const inChat = (error: object): readonly [Behaviour, Behaviour] => [json({ error }), sse([[null, { error }]])]
const inContents = (error: object): readonly [Behaviour, Behaviour] => [json({ error }), sse([[null, { error }]])]
const inMessages = (error: object): readonly [Behaviour, Behaviour] => [
  json({ type: 'error', error }),
  sse([['error', { type: 'error', error }]]),
]

/** platform.openai.com/docs/api-reference/responses/object, and the words of the other vendors' errors. */
const codes: Readonly<Record<string, number>> = {
  server_error: 500,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  content_policy_violation: 400,
  bio_policy: 400,
  data_residency_mismatch: 400,
  vector_store_timeout: 504,
  invalid_image: 400,
  invalid_image_format: 400,
  invalid_base64_image: 400,
  invalid_image_url: 400,
  image_too_large: 400,
  image_too_small: 400,
  image_parse_error: 400,
  image_content_policy_violation: 400,
  invalid_image_mode: 400,
  image_file_too_large: 400,
  unsupported_image_media_type: 400,
  empty_image_file: 400,
  failed_to_download_image: 400,
  image_file_not_found: 400,
  'a word of tomorrow': 502,
}
const message = 'It went wrong.'
const cases = [
  ...Object.entries(codes).flatMap(([code, status]) => [
    { provider: 'openai-responses', word: code, status, answers: responseFailed({ code, message }) } as const,
    { provider: 'openai-chat', word: code, status, answers: inChat({ code, message, type: null, param: null }) } as const,
  ]),
  ...(
    [
      [{ type: 'server_error', code: 'rate_limit_exceeded' }, 429],
      [{ type: 'invalid_request_error', code: 'context_length_exceeded' }, 400],
      [{ code: 429 }, 429],
      [{ code: '503' }, 503],
    ] as const
  ).map(([error, status]) => ({
    provider: 'openai-chat' as const,
    word: JSON.stringify(error),
    status,
    answers: inChat({ message, ...error }),
  })),
  ...Object.entries({ overloaded_error: 503, rate_limit_error: 429, api_error: 500, invalid_request_error: 400, billing_error: 402 }).map(
    ([type, status]) => ({ provider: 'anthropic' as const, word: type, status, answers: inMessages({ type, message }) }),
  ),
  ...Object.entries({ RESOURCE_EXHAUSTED: 429, UNAVAILABLE: 503, FAILED_PRECONDITION: 400, DEADLINE_EXCEEDED: 504, INTERNAL: 500 }).map(
    ([status, told]) => ({ provider: 'google' as const, word: status, status: told, answers: inContents({ status, message }) }),
  ),
] as const

const clients: readonly ClientId[] = ['openai-chat', 'openai-responses', 'anthropic', 'google']
const ask = { turns: [{ role: 'user' as const, pieces: [{ text: 'Hi' }] }], maxTokens: 50 }

for (const client of clients)
  for (const { provider, word, status, answers } of cases) {
    if ((client as string) === provider) continue
    for (const [index, behaviour] of answers.entries())
      test.serial(`${client} at ${provider}: ${word}, ${index === 0 ? 'whole' : 'streamed'}`, async (t) => {
        product.emulator.script({ behaviour })
        const talk = talkers[client](addressAt(product.bed, { client, provider, name: 'plain' })).talk(ask, index === 1)
        const error: Error & { status?: number } = await t.throwsAsync(talk)
        // Anthropic's clients recognise the word by a status that no other has.
        t.is(error.status, status === 503 && word === 'overloaded_error' && client === 'anthropic' ? 529 : status)
        t.regex(error.message, /It went wrong/)
      })
  }
