import test from 'ava'
import OpenAI from 'openai'
import { json, sse } from '../../support/dialects/strict.ts'
import { engineOf, refusalOfTriton } from '../../support/dialects/strict-triton.ts'
import { type Emulator, type Received, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Triton's frontend for OpenAI's clients is asked as they ask; a server whose engine is named completes texts by an endpoint of its own. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const at = (fields: Record<string, string>) => ({ provider: 'triton', customHost: cloud.origin, credential: { key: null, fields } })
  bed = await startGateway({
    providers: { triton: at({}), vllm: at({ triton_backend: 'vllm' }), tensors: at({ triton_backend: 'tensorrtllm' }) },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => {
  cloud.reset()
  cloud.script({ behaviour: completes })
})

const head = { model_name: 'm', model_version: '1' }
const pieces = ['Once', ' upon', ' a time']

/** Sends the pieces, of which each is a token; vLLM alone states their number, and why it ended. */
function answers({ url, json: body }: Received, cutsAt = pieces.length) {
  const ofVllm = (input: number, output: number, finish: string) =>
    engineOf(url) === 'vllm' ? { num_input_tokens: input, num_output_tokens: output, finish_reason: finish } : {}
  if (!url.endsWith('_stream')) return json({ ...head, text_output: pieces.join(''), ...ofVllm(5, 3, 'length') })
  if (Object(body['parameters']).stream !== true) return sse([[null, { ...head, text_output: pieces.join('') }]])
  return sse(
    pieces
      .slice(0, cutsAt)
      .map((piece, at) => [null, { ...head, text_output: piece, ...ofVllm(5, 1, at === pieces.length - 1 ? 'stop' : 'None') }] as const),
  )
}

function completes(received: Received) {
  const refusal = refusalOfTriton(received)
  return refusal === null ? answers(received) : json({ error: refusal }, 400)
}

const openai = () => new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 })
const asked = { prompt: 'Tell a tale.', max_tokens: 3 }

async function streamed(model: string) {
  let [said, finish, counted]: [string, string, OpenAI.CompletionUsage | null] = ['', '', null]
  const options = { ...asked, model, stream: true, stream_options: { include_usage: true } } as const
  for await (const { choices, usage } of await openai().completions.create(options)) {
    said += choices[0]?.text ?? ''
    finish = choices[0]?.finish_reason ?? finish
    counted = usage ?? counted
  }
  return { said, finish, counted }
}

test.serial('vLLM completes a text, and tells its tokens and why it ended', async (t) => {
  const entry = bed.nextLog()
  const steered = { temperature: 0.5, top_p: 0.9, seed: 7, stop: ['END', '###'], user: 'u', logit_bias: { 5: 1 } }
  const { data, response } = await openai()
    .completions.create({ ...asked, model: '@vllm/vllm_model', ...steered })
    .withResponse()
  t.like(data, { choices: [{ text: 'Once upon a time', finish_reason: 'length' }], usage: { prompt_tokens: 5, completion_tokens: 3 } })
  t.is(response.headers.get('x-service-dropped-params'), 'logit_bias, user')
  const sent = cloud.requests[0]?.json as { text_input: string; parameters: { sampling_parameters: string } }
  t.is(sent.text_input, 'Tell a tale.')
  const sampling = { max_tokens: 3, temperature: 0.5, top_p: 0.9, seed: 7, stop: ['END', '###'] }
  t.deepEqual(JSON.parse(sent.parameters.sampling_parameters), sampling)
  const told = { return_finish_reason: true, return_num_input_tokens: true, return_num_output_tokens: true }
  t.like(sent.parameters, told)
  t.deepEqual(Object.keys(sent.parameters).toSorted(), ['exclude_input_in_output', ...Object.keys(told), 'sampling_parameters', 'stream'])
  t.like((await entry).record.usage, { inputTokens: 5, outputTokens: 3 })
  const counted = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
  t.like(await streamed('@vllm/vllm_model'), { said: 'Once upon a time', finish: 'stop', counted })
})

test.serial('TensorRT-LLM gets the same under names of its own, and says less', async (t) => {
  const model = '@tensors/ensemble'
  const whole = await openai().completions.create({ ...asked, model, seed: 7, stop: ['END', '###'] })
  t.like(whole, { choices: [{ text: 'Once upon a time', finish_reason: 'stop' }] })
  const parameters = { stream: false, exclude_input_in_output: true, max_tokens: 3, random_seed: 7, stop_words: ['END', '###'] }
  t.deepEqual(cloud.requests[0]?.json, { text_input: 'Tell a tale.', parameters })
  t.like(await streamed(model), { said: 'Once upon a time', finish: 'stop', counted: null })
  const options = { provider_options: { triton: { bad_words: ['tale'] } } }
  const { response } = await openai()
    .completions.create({ prompt: asked.prompt, model, ...options })
    .withResponse()
  t.like(cloud.requests[2]?.json, { parameters: { max_tokens: 16, bad_words: ['tale'] } })
  t.is(response.headers.get('x-service-dropped-params'), 'max_tokens=16')
})

test.serial('what it cannot do is refused by name, and its errors are told', async (t) => {
  const refuse = async (more: object) =>
    (
      await t.throwsAsync(openai().completions.create({ ...asked, model: '@tensors/ensemble', ...more }), {
        instanceOf: OpenAI.BadRequestError,
      })
    )?.param
  t.is(await refuse({ n: 2 }), 'n')
  t.is(await refuse({ suffix: 'The end.' }), 'suffix')
  t.is(await refuse({ provider_options: { triton: { text_input: 'another' } } }), 'provider_options.triton.text_input')
  t.is(cloud.requests.length, 0)
  const unknown = openai().completions.create({ ...asked, model: '@tensors/nothing' })
  t.regex((await t.throwsAsync(unknown, { instanceOf: OpenAI.BadRequestError }))?.message ?? '', /unknown model/)
})

test.serial('a stream that is cut, or fails, does not end like a whole one', async (t) => {
  cloud.script({ behaviour: (received) => answers(received, 2) })
  await t.throwsAsync(streamed('@vllm/vllm_model'))
  cloud.script({
    behaviour: sse([
      [null, { ...head, text_output: 'Once' }],
      [null, { error: 'out of memory' }],
    ]),
  })
  t.regex((await t.throwsAsync(streamed('@tensors/ensemble')))?.message ?? '', /out of memory/)
})

test.serial("completions go to the frontend for OpenAI's clients as they are, unless an engine is named", async (t) => {
  const choices = [{ index: 0, text: ' upon', finish_reason: 'stop', logprobs: null }]
  cloud.script({ behaviour: json({ id: 'c', object: 'text_completion', created: 5, model: 'm', choices }) })
  const options = { stop: ['END', '###'], logit_bias: { 5: 1 }, suffix: 'The end.' }
  const { choices: said } = await openai().completions.create({ ...asked, model: '@triton/llama', ...options })
  t.like(said, [{ text: ' upon' }])
  const [{ url, json: sent } = { url: '', json: {} }] = cloud.requests
  t.is(url, '/v1/completions')
  t.deepEqual(sent, { ...asked, model: 'llama', ...options })
})

test.serial("chats and vectors go to the frontend for OpenAI's clients, chats of other formats too", async (t) => {
  const message = { role: 'assistant', content: 'Hi.' }
  const whole = { id: 'c', object: 'chat.completion', created: 5, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  cloud.script({ behaviour: json(whole) })
  const answer = await fetch(`${bed.origin}/v1/messages`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: '@triton/llama', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
  })
  t.like(await answer.json(), { content: [{ type: 'text', text: 'Hi.' }] })
  await openai().embeddings.create({ model: '@triton/bge', input: 'a' })
  t.deepEqual(
    cloud.requests.map(({ url }) => url),
    ['/v1/chat/completions', '/v1/embeddings'],
  )
})
