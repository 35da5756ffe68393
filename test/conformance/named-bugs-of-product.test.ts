import test from 'ava'
import { json, sse } from '../support/dialects/strict.ts'
import { workspaceKey } from '../support/gateway.ts'
import { type Product, startProduct } from './product.ts'

/** Faults of others that show only on the wire, by the name of their report: the provider's request, and the client's answer. */
let product: Product

test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())
test.beforeEach(() => product.emulator.reset())

const ask = (path: string, provider: string, body: object): Promise<Response> =>
  fetch(`${product.bed.origin}${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'x-service-provider': provider, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const messages = [{ role: 'user', content: 'hi' }]
const usage = { input_tokens: 1, output_tokens: 1 }
const begun = [
  { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
  { type: 'ping' },
]

test.serial('52: envoy#2549, signs of life of the provider reach the client while nothing is said', async (t) => {
  const { body = '', headers = {} } = sse(begun.map((event) => [event.type, event] as const))
  product.emulator.script({
    behaviour: { status: 200, body: `${body}\n`, headers, chunked: true, hang: 'mid-body', hangAt: Buffer.byteLength(body) },
  })
  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages']) {
    const provider = path === '/v1/messages' ? '@claude-vertex' : '@anthropic'
    const answer = await ask(path, provider, { model: 'claude-sonnet-4-5', stream: true, max_tokens: 9, messages, input: 'hi' })
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    while (!/^(?:: |event: ping)/m.test(seen)) {
      const piece = await reader?.read()
      if (piece === undefined || piece.done) break
      seen += piece.value
    }
    t.regex(seen, /^(?:: |event: ping)/m, path)
    await reader?.cancel()
  }
})

test.serial('65: envoy#2554, an error that came compressed says no more of how', async (t) => {
  const failed = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }
  product.emulator.script({ behaviour: { ...json(failed, 429), encoding: 'gzip' } })
  const answer = await ask('/v1/chat/completions', '@anthropic', { model: 'claude-sonnet-4-5', messages })
  t.is(answer.status, 429)
  t.is(answer.headers.get('content-encoding'), null)
  const body = await answer.text()
  t.is(answer.headers.get('content-length'), String(Buffer.byteLength(body)))
  t.like(JSON.parse(body), { error: { message: 'Slow down.' } })
})

test.serial('66: vercel#17525, the ARN of a profile is one segment of the path', async (t) => {
  product.emulator.script({
    behaviour: json({ output: { message: { role: 'assistant', content: [{ text: 'a' }] } }, stopReason: 'end_turn' }),
  })
  const model = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc'
  t.is((await ask('/v1/chat/completions', '@bedrock', { model, messages })).status, 200)
  const { url = '' } = product.emulator.requests.at(-1) ?? {}
  t.deepEqual(
    url.split('/').map((segment) => decodeURIComponent(segment)),
    ['', 'model', model, 'converse'],
  )
})

test.serial('21: bifrost#2311, calls, results and the choice of a tool reach Claude on Bedrock', async (t) => {
  product.emulator.script({
    behaviour: json({ id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'end_turn', usage }),
  })
  const body = {
    max_tokens: 9,
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    tool_choice: { type: 'tool', name: 'f' },
    messages: [
      ...messages,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'x' }] },
    ],
  }
  const answer = await ask('/v1/messages', '@claude-bedrock', { model: 'anthropic.claude-sonnet-4-5-20250929-v1:0', ...body })
  t.is(answer.status, 200)
  t.deepEqual(product.emulator.requests.at(-1)?.json, { anthropic_version: 'bedrock-2023-05-31', ...body })
})
