import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import { readMultipliers } from '../../../src/gateway/prices/multipliers.ts'
import { customEntry } from '../../../src/gateway/prices/terms.ts'
import { charges, hello } from '../../support/charges.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'
import { eventually } from '../../support/eventually.ts'

let emulator: Emulator
let bed: GatewayBed

/** The providers of the table, each answered by the emulator. */
const sellers = [
  'openai',
  'anthropic',
  'google',
  'vertex-ai',
  'deepseek',
  'x-ai',
  'cohere',
  'bedrock',
  'openrouter',
  'azure-openai',
  'groq',
  'voyage',
  'perplexity-ai',
  'deepinfra',
  'moonshot',
]

test.before(async () => {
  emulator = await startEmulator()
  const custom = {
    multipliers: readMultipliers({ multiplier: { default: 0.5, cache_read_input_token: 2 } }),
    models: new Map([
      ['house', { entry: customEntry({ input: 1.5, output: 6 }), base: null }],
      ['dep-1', { entry: null, base: 'gpt-4o' }],
    ]),
    skipsCost: false,
  }
  const given = sellers.map((provider) => [provider, { provider, customHost: emulator.url }] as const)
  bed = await startGateway({
    providers: {
      ...Object.fromEntries(given),
      custom: { provider: 'azure-openai', customHost: emulator.url, prices: custom },
      plain: { provider: 'azure-openai', customHost: emulator.url, prices: { ...custom, multipliers: null } },
      'ptu-vertex': { provider: 'vertex-ai', customHost: emulator.url, prices: { multipliers: null, models: new Map(), skipsCost: true } },
      ptu: { provider: 'azure-openai', customHost: emulator.url, prices: { multipliers: null, models: new Map(), skipsCost: true } },
    },
    prices: createPriceLists({ layers: [], builtIn: openBuiltIn() }),
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

for (const [name, { provider, model, path = '/v1/chat/completions', body = {}, answer, status = 200, cutAt, ...wanted }] of Object.entries(
  charges,
)) {
  test.serial(`a charge: ${name}`, async (t) => {
    const isStream = typeof answer === 'string' && answer.startsWith('data:')
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    const contentType = isStream ? 'text/event-stream' : typeof answer === 'string' ? 'text/plain' : 'application/json'
    emulator.script({ behaviour: { status, headers: { 'content-type': contentType }, body: text, ...(cutAt !== undefined && { cutAt }) } })
    await send(`${bed.origin}${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': `@${provider}` },
      body: JSON.stringify({ model, ...body }),
    })
    const cost = bed.logged.at(-1)?.record.cost
    const { state = 'priced', amount, lines } = wanted
    t.is(cost?.state, state)
    if (amount !== 'any') t.is(cost?.amount, amount)
    if (lines !== undefined) t.deepEqual(Object.fromEntries((cost?.lines ?? []).map(({ dimension, count }) => [dimension, count])), lines)
    t.is(
      String((cost?.lines ?? []).reduce((sum, line) => sum + BigInt(line.amount), 0n)),
      cost?.state === 'not_charged' ? '0' : (cost?.amount ?? '0'),
    )
  })
}

test.serial('a caller who leaves before the answer is charged for the prompt, as the provider does', async (t) => {
  emulator.script({ behaviour: { hang: 'before-headers' } })
  const arrived = emulator.next('/v1/chat/completions')
  const stop = new AbortController()
  const call = fetch(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': '@openai' },
    body: JSON.stringify({ model: 'gpt-4o', messages: hello }),
    signal: stop.signal,
  })
  await arrived
  const before = bed.logged.length
  stop.abort()
  await t.throwsAsync(call)
  await eventually(() => bed.logged.length > before, 2000)
  const { cost, outcome } = bed.logged.at(-1)?.record ?? {}
  t.is(outcome, 'client_closed')
  t.like(cost, { state: 'estimated', amount: '20000000' })
})
