// A budget holds with fields of other formats in a request: the bound is the one that its provider reads.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

const asked = 30
let control: Control
let acme: Tenant
let refused = 0
let released = false
/** Answers that wait until each request is refused or here. */
const held: ServerResponse[] = []
const slugs = new Map<string, string>()

const provider = createServer((request, response) => {
  request.resume()
  held.push(response)
  releaseWhenAll()
})

function releaseWhenAll(): void {
  if (released || held.length + refused < asked) return
  released = true
  for (const response of held) response.setHeader('content-type', 'application/json').end('{}')
}

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo
  for (const id of ['together-ai', 'openrouter', 'openai', 'anthropic', 'google']) {
    const fields = { name: id, provider: id, key: 'sk', configurations: { custom_host: `http://127.0.0.1:${port}` } }
    const { status, text, body } = await control.call(acme.workspaceKey, 'POST', '/virtual-keys', fields)
    if (status !== 200) throw new Error(text)
    slugs.set(id, (body['data'] as { slug: string }).slug)
  }
})
test.after.always(async () => {
  await control?.close()
  provider.closeAllConnections()
  provider.close()
})

const messages = [{ role: 'user', content: 'hi' }]
const most = 10_000
const google = '/v1/models/gemini-2.5-flash:generateContent'
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]

const requests: readonly (readonly [provider: string, path: string, body: object])[] = [
  ['together-ai', '/v1/chat/completions', { messages, max_tokens: most, num_predict: 1 }],
  ['together-ai', '/v1/chat/completions', { messages, max_tokens: most, max_completion_tokens: 1 }],
  ['together-ai', '/v1/proxy/chat/completions', { messages, max_tokens: most, max_completion_tokens: 1 }],
  ['openrouter', '/v1/chat/completions', { messages, max_tokens: most, generationConfig: { maxOutputTokens: 1 } }],
  ['openrouter', '/v1/chat/completions', { messages, max_tokens: most, inferenceConfig: { maxTokens: 1 } }],
  ['openai', '/v1/responses', { input: 'hi', max_output_tokens: most }],
  ['openai', '/v1/responses', { input: 'hi', max_output_tokens: most, max_tokens: 1 }],
  ['anthropic', '/v1/messages', { messages, max_tokens: most, max_tokens_to_sample: 1 }],
  ['anthropic', '/v1/chat/completions', { messages, max_tokens: 1, provider_options: { anthropic: { max_tokens: most } } }],
  ['google', google, { contents, max_tokens: 1, generationConfig: { maxOutputTokens: most } }],
  ['google', google, { contents, max_tokens: 1, generation_config: { max_output_tokens: most } }],
]

async function makeKey(): Promise<string> {
  const body = {
    name: 'limited',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write'],
    usage_limits: { type: 'tokens', credit_limit: 10 * most },
  }
  const made = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', body)
  if (made.status !== 200) throw new Error(made.text)
  return String(made.body['key'])
}

for (const [id, path, body] of requests)
  test.serial(`${id} ${path}: ${asked} requests at once reserve what ${JSON.stringify(body)} may use`, async (t) => {
    const secret = await makeKey()
    held.splice(0)
    refused = 0
    released = false
    const ask = async () => {
      await send(`${control.origin}${path}`, {
        method: 'POST',
        headers: { 'x-service-api-key': secret, 'content-type': 'application/json', 'x-service-provider': `@${slugs.get(id) ?? ''}` },
        body: JSON.stringify({ ...(path === google ? {} : { model: 'm' }), ...body }),
      })
      // The provider answers only when each request is here or refused.
      if (released) return
      refused += 1
      releaseWhenAll()
    }
    await Promise.all(Array.from({ length: asked }, ask))
    t.deepEqual({ passed: held.length, refused }, { passed: 9, refused: asked - 9 })
  })
