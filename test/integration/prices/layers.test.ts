import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { readAbilityList } from '../../../src/app/prices/ability-list.ts'
import { createLayer } from '../../../src/app/prices/layer.ts'
import { folderSource, logStoreSource, proxySource } from '../../../src/app/prices/layer-sources.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import { readPriceList } from '../../../src/app/prices/read-list.ts'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'

const builtIn = openBuiltIn()
const readList = (bytes: Buffer, provider: string) => readPriceList(bytes, provider, builtIn)

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-prices-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

const ours = (models: object) => JSON.stringify({ schema: 1, provider: 'openai', currency: 'USD', unit: 'pUSD', models }, null, 2)
const flat = (input: number) => ({ prices: [{ rates: { input } }] })
const cents = (input: number) =>
  JSON.stringify({ default: {}, 'gpt-4o': { pricing_config: { pay_as_you_go: { request_token: { price: input } } } } })

/** A layer of a folder with a clock of its own. */
function bed(name = 'local') {
  const failures: string[] = []
  let now = 1_000_000
  const layer = createLayer({
    parse: readList,
    source: folderSource(name, folder),
    now: () => now,
    random: () => 0,
    failed: (provider, reason) => failures.push(`${provider}: ${reason}`),
  })
  const lists = createPriceLists({ layers: [layer], builtIn: openBuiltIn() })
  return {
    layer,
    lists,
    failures,
    pass: (ms: number) => void (now += ms),
    /** Asks until the layer has read all due lists. */
    ask: async (model: string) => {
      lists.find('openai', model)
      await layer.idle()
      const found = lists.find('openai', model)
      return found === null ? null : { source: found.source, input: found.entry.prices[0]?.rates.input }
    },
  }
}

const write = (text: string) => writeFileSync(path.join(folder, 'openai.json'), text)

test.serial('a list in our format goes before the catalogue, model by model, and is read again after an hour', async (t) => {
  write(ours({ 'gpt-4o': flat(7_000_000), 'My-Model': flat(1) }))
  const { ask, lists, pass } = bed()
  t.deepEqual(await ask('gpt-4o'), { source: 'local', input: 7_000_000 })
  t.deepEqual(await ask('my-model'), { source: 'local', input: 1 })
  t.is(lists.find('openai', 'gpt-4o-mini')?.source, 'built_in')
  write(ours({ 'gpt-4o': flat(8_000_000) }))
  pass(3_599_000)
  t.deepEqual(await ask('gpt-4o'), { source: 'local', input: 7_000_000 })
  pass(2_000)
  t.deepEqual(await ask('gpt-4o'), { source: 'local', input: 8_000_000 })
})

test.serial('a list in cents a token is converted to the last digit', async (t) => {
  write(cents(0.000_25))
  t.deepEqual(await bed().ask('gpt-4o'), { source: 'local', input: 2_500_000 })
})

const broken: Readonly<Record<string, string>> = {
  'dollars for cents': cents(0.025),
  'a hundredth': cents(0.000_002_5),
  'half a file': ours({ 'gpt-4o': flat(1_000_000) }).slice(0, 60),
  garbage: 'not found, sorry',
  'a rate with a fraction': ours({ 'gpt-4o': flat(0.5) }),
  'another unit': ours({}).replace('pUSD', 'USD'),
  'prices that are none': ours({ 'gpt-4o': { prices: [{ rates: { tokens: 1 } }] } }),
  nothing: '{}',
  'an empty file, as a full disk leaves it': '',
}

for (const [name, text] of Object.entries(broken))
  test.serial(`a broken list is told, and the one before it is kept: ${name}`, async (t) => {
    write(ours({ 'gpt-4o': flat(7_000_000) }))
    const { ask, failures, layer, pass } = bed()
    await ask('gpt-4o')
    write(text)
    pass(3_600_001)
    t.deepEqual(await ask('gpt-4o'), { source: 'local', input: 7_000_000 })
    t.is(failures.length, 1)
    t.like(layer.stats(), { held: 1, failing: 1 })
    write(ours({ 'gpt-4o': flat(9_000_000) }))
    pass(60_001)
    t.deepEqual(await ask('gpt-4o'), { source: 'local', input: 9_000_000 })
    t.is(layer.stats().failing, 0)
  })

test.serial('a broken list that was never good leaves the catalogue', async (t) => {
  write('garbage')
  const { ask, failures } = bed()
  t.is((await ask('gpt-4o'))?.source, 'built_in')
  t.is(failures.length, 1)
})

test.serial('a service is asked with and without .json; refusals are told and cost nobody time', async (t) => {
  const asked: string[] = []
  let status = 404
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const found = request.url === '/base/pricing/openai.json' && status === 404
    response.writeHead(found ? 200 : status).end(found ? ours({ 'gpt-4o': flat(3_000_000) }) : 'no')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has one
  const { port } = server.address() as AddressInfo
  const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 2000 })
  const failures: string[] = []
  let now = 0
  const layer = createLayer({
    parse: readList,
    source: proxySource(`http://127.0.0.1:${port}/base/`, 'pricing', egress),
    now: () => now,
    random: () => 0,
    failed: (_, reason) => failures.push(reason),
  })
  const lists = createPriceLists({ layers: [layer], builtIn: openBuiltIn() })
  t.is(lists.find('openai', 'gpt-4o')?.source, 'built_in')
  await layer.idle()
  t.is(lists.find('openai', 'gpt-4o')?.source, 'proxy')
  t.deepEqual(asked, ['/base/pricing/openai', '/base/pricing/openai.json'])
  let failed = 0
  // A refusal, an expired credential, too much at once, a fault of the service.
  for (status of [403, 401, 429, 503]) {
    now += 3_600_001
    lists.find('openai', 'gpt-4o')
    await layer.idle()
    t.is(lists.find('openai', 'gpt-4o')?.source, 'proxy')
    t.is(failures.at(-1), `the service answered ${status}`)
    failed += 1
    t.is(failures.length, failed)
  }
  server.close()
  await egress.close()
  now += 60_001
  lists.find('openai', 'gpt-4o')
  await layer.idle()
  t.is(failures.length, failed + 1)
})

test.serial('a source that never answers is passed over, told, and asked once at a time', async (t) => {
  let asked = 0
  const failures: string[] = []
  const layer = createLayer({
    source: {
      name: 'local',
      read: async () => {
        asked += 1
        return new Promise<never>(() => undefined)
      },
    },
    parse: readList,
    timeoutMs: 20,
    now: () => 1,
    random: () => 0,
    failed: (_, reason) => failures.push(reason),
  })
  const lists = createPriceLists({ layers: [layer], builtIn: openBuiltIn() })
  for (let i = 0; i < 5; i += 1) t.is(lists.find('openai', 'gpt-4o')?.source, 'built_in')
  t.is(asked, 1)
  const alive = setInterval(() => undefined, 1000)
  await layer.ready('openai')
  clearInterval(alive)
  t.deepEqual(failures, ['no answer within 20 ms'])
  t.like(layer.stats(), { failing: 1, fault: 'no answer within 20 ms' })
})

test.serial('a list that could not be read for a week makes way for the next layer', async (t) => {
  write(ours({ 'gpt-4o': flat(7_000_000) }))
  const { ask, pass } = bed()
  await ask('gpt-4o')
  write('garbage')
  pass(6 * 24 * 3_600_000)
  t.is((await ask('gpt-4o'))?.source, 'local')
  pass(25 * 3_600_000)
  t.is((await ask('gpt-4o'))?.source, 'built_in')
})

const read = (list: object) => readAbilityList(Buffer.from(JSON.stringify(list)))

test.serial('abilities are read in our format and in that of the public files', (t) => {
  const own = read({ schema: 1, models: { 'My-Model': { kind: 'chat', can: ['tools'], limits: { context: 8 }, prices: [] } } })
  t.deepEqual(own.read('my-model'), { kind: 'chat', limits: { context: 8 }, can: ['tools'] })
  const open = read({ default: {}, m: { params: [{ key: 'top_p' }], type: { primary: 'chat', supported: ['image'] } } })
  t.deepEqual(open.read('M'), { kind: 'chat', can: ['image'], params: [{ key: 'top_p' }] })
  t.is(open.read('default'), null)
  for (const none of ['[]', '{}', '{"m":1}', '{', '{"schema":1}']) t.throws(() => readAbilityList(Buffer.from(none)))
})

test.serial('a log store is a layer: its keys are below the path that the setting names', async (t) => {
  const asked: string[] = []
  const store = {
    get: async (key: string) => {
      asked.push(key)
      if (key.endsWith('google.json')) throw new Error('the credential of the log store has expired')
      return Buffer.from(ours({ 'gpt-4o': flat(7) }))
    },
  }
  const source = logStoreSource(store, '/pricing/')
  t.is(readList((await source.read('openai')) ?? Buffer.alloc(0), 'groq').find('gpt-4o')?.prices[0]?.rates.input, 7)
  t.deepEqual(asked, ['pricing/openai.json'])
  await t.throwsAsync(source.read('google'), { message: /expired/ })
  t.is(await source.read('../secrets'), null)
})

/** The list of a provider in another unit: every price that it has, by a factor. */
function scaled(provider: string, names: number, factor: number): Buffer {
  const file = builtIn.file(provider)
  const models: Record<string, unknown> = {}
  for (const name of file?.models() ?? []) {
    const entry = file?.find(name) ?? null
    // A rate that is small already would be rounded to something else.
    if (entry === null || entry.prices.length !== 1 || (entry.prices[0]?.rates.input ?? 0) < 100_000) continue
    models[name] = { prices: [{ rates: { input: Math.max(1, Math.round(Number(entry.prices[0]?.rates.input) * factor)) } }] }
    if (Object.keys(models).length === names) break
  }
  return Buffer.from(JSON.stringify({ schema: 1, provider, currency: 'USD', unit: 'pUSD', models }))
}

for (const provider of ['openai', 'anthropic', 'deepseek', 'mistral-ai', 'bedrock', 'x-ai'])
  test(`a list of ${provider} in another unit is refused when it is loaded, whatever the unit, and one with other prices is not`, (t) => {
    for (const names of [1, 2, 5])
      for (const factor of [1e-6, 1e-3, 0.01, 100, 1000, 1e6])
        t.throws(
          () => readList(scaled(provider, names, factor), provider),
          { message: /the unit of the list is another/ },
          `${names} ${factor}`,
        )
    for (const factor of [0.2, 0.5, 1, 2, 5]) t.notThrows(() => readList(scaled(provider, 5, factor), provider))
  })
