// Possible faults of a place of price lists, at each place: they are reported, the list before stays in use, and no request waits.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, openSync, closeSync, rmSync, symlinkSync, writeFileSync, constants } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { createObjectStore } from '../../../src/app/log-store/object-store.ts'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { createLayer, type LayerSource } from '../../../src/app/prices/layer.ts'
import { folderSource, logStoreSource, proxySource } from '../../../src/app/prices/layer-sources.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import { readPriceList } from '../../../src/app/prices/read-list.ts'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { eventually } from '../../support/eventually.ts'
import { loopLag } from '../../support/loop-lag.ts'

const builtIn = openBuiltIn()
const readList = (bytes: Buffer, provider: string) => readPriceList(bytes, provider, builtIn)

const listOf = (input: number, unit = 'pUSD'): string =>
  JSON.stringify({ schema: 1, provider: 'openai', currency: 'USD', unit, models: { 'gpt-4o': { prices: [{ rates: { input } }] } } })
const good = listOf(7_000_000)

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-layer-faults-'))
const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 2000 })
/** The server's reaction to a request. */
let act = (response: ServerResponse): void => void response.end()
const server = createServer((_, response) => act(response))

test.before(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
})
test.after.always(async () => {
  server.closeAllConnections()
  server.close()
  await egress.close()
  rmSync(folder, { recursive: true, force: true })
})

const answers = (status: number, body: string) => (response: ServerResponse) => void response.writeHead(status).end(body)
/** Promises more than it sends, and goes away. */
const breaksOff = (body: string) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-length': String(body.length) })
  response.write(body.slice(0, body.length / 2), () => response.destroy())
}

type Faults = Readonly<Record<string, readonly [make: () => (() => void) | void, told: RegExp]>>

interface Place {
  readonly source: () => LayerSource
  readonly heal: () => void
  readonly faults: Faults
}

const does = (next: typeof act) => () => {
  act = next
}

/** No answer comes until the end. */
const silent = () => {
  const waiting: ServerResponse[] = []
  act = (response) => void waiting.push(response)
  return () => {
    for (const response of waiting) response.destroy()
  }
}

const remote: Faults = {
  slow: [silent, /no answer within 300 ms/],
  refused: [does((response) => void response.destroy()), /./],
  garbage: [does(answers(200, '<html>not found, sorry</html>')), /JSON/],
  'half a file': [does(breaksOff(good)), /./],
  'half a file that says it is whole': [does(answers(200, good.slice(0, 60))), /JSON/],
  'another unit': [does(answers(200, listOf(2_500_000, 'USD'))), /not in pico-US-dollars/],
  'a unit that is a hundredth': [does(answers(200, listOf(25_000))), /the unit of the list is another/],
  'a full disk': [does(answers(507, '')), /507/],
  'a fault of the service': [does(answers(503, good)), /503/],
}

const file = path.join(folder, 'openai.json')
const writes = (text: string) => () => {
  rmSync(file, { force: true, recursive: true })
  writeFileSync(file, text)
}
/** Reading it hangs, as a share does whose server is gone, until another process opens it for writing. */
const hangs = () => {
  rmSync(file, { force: true })
  execFileSync('mkfifo', [file])
  return () => closeSync(openSync(file, constants.O_RDWR | constants.O_NONBLOCK))
}
const loops = () => {
  rmSync(file, { force: true })
  symlinkSync(file, file)
}

const origin = (): string => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has one
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

const places: Readonly<Record<string, Place>> = {
  proxy: {
    source: () => proxySource(origin(), 'pricing', egress),
    heal: does(answers(200, good)),
    faults: { ...remote, 'an expired credential': [does(answers(401, '{"error":"expired"}')), /401/] },
  },
  log_store: {
    source: () =>
      logStoreSource(
        createObjectStore(
          { name: 's3 bucket', base: `${origin()}/bucket`, putHeaders: [], authorize: async () => [] },
          { egress, timeoutMs: 5000, sendsDigest: true },
        ),
        '/pricing/',
      ),
    heal: does(answers(200, good)),
    faults: {
      ...remote,
      'an expired credential': [
        does(answers(403, '<Error><Code>ExpiredToken</Code><Token>secret</Token></Error>')),
        /^(?!.*secret).*ExpiredToken/,
      ],
    },
  },
  local: {
    source: () => folderSource('local', folder),
    heal: writes(good),
    faults: {
      slow: [hangs, /no answer within 300 ms/],
      refused: [loops, /ELOOP/],
      garbage: [writes('not found, sorry'), /JSON/],
      'half a file': [writes(good.slice(0, 60)), /JSON/],
      'another unit': [writes(listOf(2_500_000, 'USD')), /not in pico-US-dollars/],
      'a unit that is a hundredth': [writes(listOf(25_000)), /the unit of the list is another/],
      'an empty file, as a full disk leaves it': [writes(''), /JSON/],
    },
  },
}

/** Only a source that is slow is to be too slow: on a busy machine any other one may be. */
const timeoutFor = (told: RegExp): number => (told.source.includes('within') ? 300 : 30_000)

function open(source: LayerSource, timeoutMs: number) {
  const told: string[] = []
  let now = 1_000_000
  const layer = createLayer({
    parse: readList,
    source,
    timeoutMs,
    now: () => now,
    random: () => 0,
    failed: (provider, reason) => told.push(`${provider}: ${reason}`),
  })
  const lists = createPriceLists({ layers: [layer], builtIn: openBuiltIn() })
  const look = () => {
    const before = performance.now()
    const found = lists.find('openai', 'gpt-4o')
    return { source: found?.source, input: found?.entry.prices[0]?.rates.input, ms: performance.now() - before }
  }
  return { layer, told, look, pass: (ms: number) => void (now += ms) }
}

for (const [name, { source, heal, faults }] of Object.entries(places))
  for (const [fault, [make, told]] of Object.entries(faults))
    test.serial(`${name}, ${fault}: told, passed over, and healed by itself`, async (t) => {
      // From the beginning: the next place answers.
      let end = make()
      const late = open(source(), timeoutFor(told))
      t.is(late.look().source, 'built_in')
      await late.layer.idle()
      t.like(late.look(), { source: 'built_in', input: 2_500_000 })
      t.is(late.told.length, 1)
      t.regex(late.told[0] ?? '', told)
      end?.()
      // After a good list: that one stays.
      heal()
      const bed = open(source(), timeoutFor(told))
      bed.look()
      await bed.layer.idle()
      t.like(bed.look(), { source: name, input: 7_000_000 })
      end = make()
      bed.pass(3_600_001)
      const { ms, ...kept } = bed.look()
      t.deepEqual(kept, { source: name, input: 7_000_000 })
      t.true(ms < 200 + loopLag(), `a request waited ${ms} ms`)
      await bed.layer.idle()
      t.like(bed.look(), { source: name, input: 7_000_000 })
      t.like(bed.layer.stats(), { held: 1, failing: 1 })
      t.regex(bed.layer.stats().fault ?? '', told)
      end?.()
      heal()
      bed.pass(60_001)
      await eventually(async () => {
        bed.look()
        await bed.layer.idle()
        return bed.layer.stats().failing === 0
      }, 10_000)
      t.like(bed.layer.stats(), { held: 1, failing: 0, fault: null })
    })

test.serial(
  'a share that hangs takes one thread, however many lists are asked for and how often: other files are read as before',
  async (t) => {
    const hung = mkdtempSync(path.join(tmpdir(), 'gatehouse-hung-'))
    const providers = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const provider of providers) execFileSync('mkfifo', [path.join(hung, `${provider}.json`)])
    let now = 0
    const told: string[] = []
    const source = folderSource('local', hung)
    const layer = createLayer({
      parse: readList,
      source,
      timeoutMs: 50,
      now: () => now,
      random: () => 0,
      failed: (_, why) => told.push(why),
    })
    for (let round = 0; round < 3; round += 1) {
      for (const provider of providers) t.is(layer.held(provider), null)
      await layer.idle()
      now += 60_001
    }
    t.deepEqual(
      told,
      Array.from({ length: providers.length }, () => 'no answer within 50 ms'),
    )
    t.true((await readFile(import.meta.filename, 'utf8')).length > 0)
    // The one that is read gets an end, and those that wait are gone.
    const writer = openSync(path.join(hung, 'a.json'), constants.O_RDWR | constants.O_NONBLOCK)
    rmSync(hung, { recursive: true, force: true })
    closeSync(writer)
    await eventually(async () => (await source.read('b')) === null, 10_000)
  },
)
