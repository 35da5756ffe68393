import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'

/** Providers by their slugs. */
const emulators = new Map<string, Emulator>()

test.before(async () => {
  for (const name of ['a', 'b', 'c']) emulators.set(name, await startEmulator())
})
test.after.always(async () => {
  for (const emulator of emulators.values()) await emulator.stop()
})
test.beforeEach(() => {
  for (const emulator of emulators.values()) emulator.reset()
})

const providers = () =>
  Object.fromEntries(
    [...emulators].map(([name, { url }]) => [name, { provider: 'openai', customHost: url, credential: { key: `sk-${name}`, fields: {} } }]),
  )
const keyed = { 'x-service-api-key': workspaceKey, 'content-type': 'application/json' }
const event = (json: object): string => `data: ${JSON.stringify(json)}\n\n`

for (const stream of [false, true])
  for (const deny of [false, true])
    test.serial(`what an answer cost that guardrails gave up is in its attempt: deny ${deny}, stream ${stream}`, async (t) => {
      const settled: (number | null | undefined)[] = []
      const bed = await startGateway({
        providers: providers(),
        ledger: {
          reserve: () => ({
            maxOutput: null,
            standings: null,
            settle: (charge) => (settled.push(charge?.metered?.usage?.totalTokens), null),
          }),
        },
      })
      t.teardown(() => bed.stop())
      const usage = { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 }
      const said = { choices: [{ index: 0, [stream ? 'delta' : 'message']: { role: 'assistant', content: 'a secret' } }] }
      const streamed = {
        headers: { 'content-type': 'text/event-stream' },
        body: event(said) + event({ choices: [], usage }) + 'data: [DONE]\n\n',
      }
      emulators.get('a')?.script({ behaviour: stream ? streamed : { body: JSON.stringify({ ...said, usage }) } })
      const output = [{ 'default.regexReplace': { rule: 'secret', failOnDetection: true }, deny, async: false }]
      const config = {
        strategy: { mode: 'fallback', on_status_codes: [246, 446] },
        targets: [{ provider: '@a', output_guardrails: output }, { provider: '@b' }],
      }
      const log = bed.nextLog()
      const answer = await send(`${bed.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...keyed, 'x-service-config': JSON.stringify(config) },
        body: JSON.stringify({ model: 'm', messages: [], stream }),
      })
      t.is(answer.status, 200, answer.text)
      t.false(answer.text.includes('secret'))
      const { attempts, usage: last } = (await log).record
      t.deepEqual(
        attempts?.map(({ usage: counted }) => counted?.totalTokens),
        [42, last?.totalTokens],
      )
      t.deepEqual(settled, [42, last?.totalTokens])
    })

test.serial('least-cost: the cheapest target is taken, by its own model; without all prices the fastest', async (t) => {
  const ranks = new Map<string, number>([
    ['openai m', 3],
    ['openai small', 1],
    ['groq m', 2],
  ])
  const bed = await startGateway({
    providers: { ...providers(), c: { provider: 'groq', customHost: emulators.get('c')?.url ?? '' } },
    prices: { rank: (provider, model) => ranks.get(`${provider} ${model}`) ?? null },
  })
  t.teardown(() => bed.stop())
  const usedFor = async (model: string, targets: readonly object[]) => {
    const answer = await send(`${bed.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...keyed, 'x-service-config': JSON.stringify({ strategy: { mode: 'least-cost' }, targets }) },
      body: JSON.stringify({ model, messages: [] }),
    })
    return answer.headers['x-service-last-used-option-index']
  }
  const three = [{ provider: '@a' }, { virtual_key: 'c' }, { provider: '@b', override_params: { model: 'small' } }]
  t.deepEqual([await usedFor('m', three), await usedFor('m', three)], ['config.targets[2]', 'config.targets[2]'])
  t.is(await usedFor('m', [{ provider: '@a' }, { provider: '@c' }]), 'config.targets[1]')
  ranks.set('groq m', 9)
  t.is(await usedFor('m', [{ provider: '@a' }, { provider: '@c' }]), 'config.targets[0]')
  // The first was measured above, and an unmeasured one is asked first.
  t.is(await usedFor('other', [{ provider: '@a' }, { provider: '@b' }]), 'config.targets[1]')
})
