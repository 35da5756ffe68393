import test from 'ava'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'
import { translator } from '../../../support/dialects/translated.ts'

/** Fields that clients write into every request, though they equal the default. */
const idle = {
  max_tokens: 50,
  temperature: 1,
  top_p: 1,
  n: 1,
  frequency_penalty: 0,
  presence_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
  logit_bias: {},
  metadata: {},
  verbosity: 'medium',
  service_tier: 'auto',
  store: false,
  parallel_tool_calls: true,
  tool_choice: 'auto',
}
const models: readonly (readonly [DialectId, model: string])[] = [
  ['anthropic', 'claude-sonnet-4-5'],
  ['anthropic', 'claude-opus-4-8'],
  ['bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['google', 'gemini-2.5-flash'],
  ['ollama', 'qwen3'],
  ['openai-responses', 'gpt-5'],
  ['replicate', 'meta/llama'],
]
for (const [to, model] of models)
  test(`a value that asks for nothing is no loss, also where nothing may be lost: ${to}, ${model}`, (t) => {
    const asked = translator('openai-chat', to, { model, messages: [{ role: 'user', content: 'hi' }] })
    t.deepEqual(asked(idle, { strict: true }).dropped, [])
    t.throws(() => asked({ ...idle, logit_bias: { 5: 1 } }, { strict: true }), { message: /^logit_bias/ })
  })

test('a response that does not run in the background is one that every provider gives', (t) => {
  const asked = translator('openai-responses', 'anthropic', { model: 'claude-sonnet-4-5', input: 'hi', max_output_tokens: 50 })
  t.deepEqual(asked({ background: false }, { strict: true }).dropped, [])
  t.throws(() => asked({ background: true }), { message: /^background/ })
})

test('a list with nothing in it is no loss, also of a field that others could not have', (t) => {
  const body = { model: 'gpt-5', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }
  t.deepEqual(translator('anthropic', 'openai-chat', body)({ mcp_servers: [] }, { strict: true }).dropped, [])
  t.throws(() => translator('anthropic', 'openai-chat', body)({ mcp_servers: [{ url: 'https://a' }] }), { message: /^mcp_servers/ })
  const asked = translator('google', 'openai-chat', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })
  t.deepEqual(asked({ safetySettings: [] }, { strict: true }).dropped, [])
})
