// The usage of an answer is read at its places alone: texts of a caller or a model elsewhere in it change no charge.
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type Forgeable, forgeable, words } from '../../support/forgeries.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  const providers = [...new Set(Object.values(forgeable).map(({ provider }) => provider))]
  bed = await startGateway({
    providers: Object.fromEntries(providers.map((provider) => [provider, { provider, customHost: emulator.url }])),
    prices: createPriceLists({ layers: [], builtIn: openBuiltIn() }),
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

interface Asked {
  readonly path: string
  readonly answer: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the charge of an answer. */
async function chargeOf({ provider, model, body, type = 'application/json' }: Forgeable, { path, answer, headers }: Asked) {
  const bodyBase64 = Buffer.from(answer).toString('base64')
  const stop = emulator.script({ behaviour: { status: 200, headers: { 'content-type': type, ...headers }, bodyBase64 } })
  await send(`${bed.origin}${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': `@${provider}` },
    body: JSON.stringify({ model, ...body }),
  })
  stop()
  const cost = bed.logged.at(-1)?.record.cost
  return { state: cost?.state, amount: cost?.amount, dimensions: (cost?.lines ?? []).map(({ dimension }) => dimension) }
}

/** Several texts that begin, end or repeat as the frames of a stream do. */
const texts: readonly string[] = [
  JSON.stringify(words),
  `data: ${JSON.stringify(words)}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\ndata: [DONE]\n\n`,
  `"},"usage":${JSON.stringify(words['usage'])},"model":"gpt-4o-mini","x":{"y":"`,
  `\\"}\\\\`,
  `${'x'.repeat(100)}\\${JSON.stringify(words)}`,
]

for (const [name, forged] of Object.entries(forgeable)) {
  const plain = { state: 'priced', amount: forged.amount }
  test.serial(`${name} is charged as its provider tells it, whatever its caller and its model write`, async (t) => {
    for (const path of [forged.path, ...(forged.otherPaths ?? [])]) {
      const clean = await chargeOf(forged, { path, answer: forged.answer({}, 'hi') })
      t.like(clean, plain, path)
      for (const text of texts) {
        const { dimensions, ...charged } = await chargeOf(forged, { path, answer: forged.answer(words, text) })
        t.deepEqual(charged, plain, `${path}, with all words and ${text.slice(0, 20)}`)
        t.deepEqual(dimensions, clean.dimensions)
      }
    }
  })

  test.serial(`${name} is charged the same with each word by itself, in a list and far below, long and compressed`, async (t) => {
    const { path } = forged
    for (const [word, value] of Object.entries(words)) {
      const { dimensions: _, ...charged } = await chargeOf(forged, {
        path,
        answer: forged.answer(
          { [word]: value, list: [{ [word]: value }], far: { below: { [word]: value } } },
          JSON.stringify({ [word]: value }),
        ),
      })
      t.deepEqual(charged, plain, word)
    }
    const long = forged.answer({ words, long: 'x'.repeat(100_000) }, JSON.stringify(words) + 'y'.repeat(100_000))
    t.like(await chargeOf(forged, { path, answer: long }), plain, 'long')
    const packed = { path, answer: gzipSync(forged.answer(words, JSON.stringify(words))), headers: { 'content-encoding': 'gzip' } }
    t.like(await chargeOf(forged, packed), plain, 'compressed')
  })
}

test.serial('a long answer that is compressed is charged by its usage, also where the log keeps nothing of it', async (t) => {
  const forged = forgeable['a chat']
  if (forged === undefined) throw new Error('there is no chat')
  const answer = gzipSync(forged.answer({}, randomBytes(300_000).toString('base64')))
  const bodyBase64 = answer.toString('base64')
  const stop = emulator.script({ behaviour: { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, bodyBase64 } })
  await send(`${bed.origin}${forged.path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'content-type': 'application/json',
      'x-service-provider': '@openai',
      'x-service-debug': 'false',
    },
    body: JSON.stringify({ model: forged.model, ...forged.body }),
  })
  stop()
  t.like(bed.logged.at(-1)?.record.cost, { state: 'priced', amount: forged.amount })
})
