// `npm start -- --demo`: a provider in the process, for the first answer without a key and without a network.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import test from 'ava'
import OpenAI from 'openai'
import { testDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { startProduct } from '../../support/product-process.ts'

const adminKey = 'gh-given-organisation-admin-key-00000000001'
const workspaceKey = 'gh-given-workspace-key-0000000000000000001'

/** Returns a way to start a process on one database, again and again. */
async function installation(more: Readonly<Record<string, string>> = {}) {
  const { config, drop } = await testDatabase()
  const env = {
    DB_HOST: config.host,
    DB_PORT: String(config.port),
    DB_USER: config.user,
    DB_PASS: config.password?.reveal() ?? '',
    DB_NAME: config.name,
    DB_SSL: 'DISABLED',
    DATA_DIR: await mkdtemp(join(tmpdir(), 'gatehouse-demo-')),
    PORT: '0',
    DRAIN_DELAY: '0',
    ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
    INIT_ADMIN_API_KEY: adminKey,
    INIT_WORKSPACE_API_KEY: workspaceKey,
    ...more,
  }
  async function start(flags: readonly string[] = ['--demo']) {
    const product = startProduct(env, null, flags)
    const [, base = ''] = await product.until(/Base URL: (http:\/\/127\.0\.0\.1:\d+)\/v1/)
    await product.until(/Read the log/)
    return { product, base }
  }
  return { start, drop }
}

const question = [{ role: 'user' as const, content: 'What is a lighthouse?' }]
const admin = { 'x-service-api-key': adminKey }
const workspace = { 'x-service-api-key': workspaceKey }

async function answerOf(base: string, model = '@demo/demo-chat'): Promise<string> {
  const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: workspaceKey, maxRetries: 0 })
  const { choices } = await openai.chat.completions.create({ model, messages: question })
  return choices[0]?.message.content ?? ''
}

test('the demo provider answers any client, streams, embeds, fails on request, and is logged with its cost', async (t) => {
  const { start, drop } = await installation({ WORKERS: '2' })
  t.teardown(drop)
  const { product, base } = await start()
  t.teardown(() => product.child.kill('SIGKILL'))
  t.regex(product.output(), /curl http:\S+ .*@demo\/demo-chat/)
  t.regex(await answerOf(base), /You wrote: What is a lighthouse\?/)

  const anthropic = new Anthropic({ baseURL: base, apiKey: null, authToken: workspaceKey, maxRetries: 0 })
  const message = await anthropic.messages.stream({ model: '@demo/demo-chat', max_tokens: 100, messages: question }).finalMessage()
  t.true(message.content[0]?.type === 'text' && message.content[0].text.includes('What is a lighthouse?'))
  t.true(message.usage.output_tokens > 20)

  const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: workspaceKey, maxRetries: 0 })
  const { data } = await openai.embeddings.create({ model: '@demo/demo-embed', input: ['a red house', 'a house, red', 'nothing else'] })
  const near = (one: number, other: number) =>
    data[one]?.embedding.reduce((sum, x, at) => sum + x * (data[other]?.embedding[at] ?? 0), 0) ?? 0
  t.true(near(0, 1) > 0.99 && near(0, 2) < 0.5)
  const failed = await t.throwsAsync(answerOf(base, '@demo/error-429'), { instanceOf: OpenAI.APIError })
  t.is(failed?.status, 429)

  type Logs = { readonly data: readonly { readonly ai_model: string; readonly total_cost_pico_usd: string }[] }
  let logs: Logs['data'] = []
  await eventually(async () => {
    logs = (JSON.parse((await send(`${base}/v1/logs`, { headers: workspace })).text) as Logs).data
    return logs.length === 4
  }, 10_000)
  t.deepEqual(
    logs
      .filter((log) => Number(log.total_cost_pico_usd) > 0)
      .map((log) => log.ai_model)
      .toSorted(),
    ['demo-chat', 'demo-chat', 'demo-embed'],
  )
  const integration = (await send(`${base}/v1/integrations/demo`, { headers: admin })).text
  t.regex(integration, /"custom_host":"http:\/\/127\.0\.0\.1:\d+"/)
})

test('the next start has the provider at its new port, and a start without the flag does not let requests out to it', async (t) => {
  const { start, drop } = await installation()
  t.teardown(drop)
  for (const flags of [[], ['--demo'], ['--demo']]) {
    const { product, base } = await start(flags)
    if (flags.length === 0) await t.throwsAsync(answerOf(base))
    else t.regex(await answerOf(base), /Hello from the demo provider/)
    product.child.kill('SIGTERM')
    t.is(await product.exit(), 0)
  }
  const { product, base } = await start([])
  t.teardown(() => product.child.kill('SIGKILL'))
  const refused = await t.throwsAsync(answerOf(base), { instanceOf: OpenAI.APIError })
  t.regex(refused?.message ?? '', /not allowed|private/i)
})

test('an installation of an older level gets the provider too', async (t) => {
  const { start, drop } = await installation({ RELEASE_LEVEL: '1.3.0' })
  t.teardown(drop)
  const { product, base } = await start()
  t.teardown(() => product.child.kill('SIGKILL'))
  t.regex(await answerOf(base), /Hello from the demo provider/)
})
