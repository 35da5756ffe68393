import test, { type ExecutionContext } from 'ava'
import { json } from '../support/dialects/strict.ts'
import type { Emulator } from '../support/emulator/emulator.ts'
import { caseIds, cases, type Fixture, isSaid, statuses } from './cases.ts'
import { departures } from './departures.ts'
import { departuresOf, expectedOf } from './expected.ts'
import { listen } from './listen.ts'
import { addressAt, converse, type Product, type SpokenCell, startProduct } from './product.ts'
import { pairs, providers, servedAs, sideFor, talkers } from './sides/index.ts'

/** Each client format at each provider dialect, in each case: the official client, Gatehouse, and an emulator as strict as the provider. */
let product: Product
let emulator: Emulator

test.before(async () => {
  product = await startProduct()
  ;({ emulator } = product)
})
test.after.always(() => product?.stop())
test.beforeEach(() => emulator.reset())

type Run = (t: ExecutionContext, cell: SpokenCell) => Promise<void>

const addressOf = (cell: SpokenCell, thinks = false) => addressAt(product.bed, cell, thinks)

const runFixture =
  (fixture: Fixture): Run =>
  async (t, cell) => {
    const expected = expectedOf(cell, fixture)
    const refusal = expected.departures.find(({ refused }) => refused !== undefined)?.refused
    const heard = listen(emulator, sideFor(cell.client, cell.provider), fixture.says)
    if (refusal !== undefined) {
      const error = await t.throwsAsync(converse(product.bed, fixture, cell))
      t.regex(error.message, refusal)
      t.deepEqual(heard, [])
      return
    }
    const talks = await converse(product.bed, fixture, cell)
    t.deepEqual({ said: talks.map(({ said }) => said), heard }, { said: expected.said, heard: expected.heard })
  }

const plain = cases.plain[0]

/** Status and message of the provider's own error reach the client; also in a stream that has not begun. */
const runErrors: Run = async (t, cell) => {
  const side = sideFor(cell.client, cell.provider)
  for (const status of statuses)
    for (const stream of [false, true]) {
      emulator.script({ behaviour: json(side.error(status, `the provider says ${status}`), status) })
      const error: Error & { status?: number } = await t.throwsAsync(talkers[cell.client](addressOf(cell)).talk(plain.ask, stream))
      t.is(error.status, status)
      t.regex(error.message, new RegExp(`the provider says ${status}`))
    }
}

/** A stream that is cut fails, and the provider learns that a client has left. */
const runAbort: Run = async (t, cell) => {
  const side = sideFor(cell.client, cell.provider)
  listen(emulator, side, plain.says, (answer) => ({ ...answer, cutAt: Math.floor(lengthOf(answer) * 0.7) }))
  await t.throwsAsync(talkers[cell.client](addressOf(cell)).talk(plain.ask, true))
  emulator.reset()
  listen(emulator, side, plain.says, (answer) => ({ ...answer, hang: 'mid-body', hangAt: Math.floor(lengthOf(answer) / 2) }))
  const leaving = new AbortController()
  const [arrival, departure] = [emulator.next(side.streamPath), emulator.onClose()]
  const talk = talkers[cell.client]({ ...addressOf(cell), signal: leaving.signal }).talk(plain.ask, true)
  await arrival
  leaving.abort()
  await t.throwsAsync(talk)
  t.false((await (await departure).closed).complete)
}

const lengthOf = ({ body, bodyBase64 = '' }: { readonly body?: string; readonly bodyBase64?: string }) =>
  body === undefined ? Buffer.byteLength(bodyBase64, 'base64') : Buffer.byteLength(body)

const runsOf = ({ client, provider, name }: SpokenCell): readonly (readonly [title: string, run: Run])[] => {
  if (name === 'errors') return [['status and message', runErrors]]
  if (name === 'abort') return [['a stream that is cut, and a client that leaves', runAbort]]
  const { lacks = () => false } = providers[servedAs(client, provider)]
  return (cases[name] as readonly Fixture[])
    .filter((fixture) => !lacks(fixture, client) && isSaid(fixture, client))
    .map((fixture) => [fixture.title, runFixture(fixture)])
}

for (const [client, provider] of pairs)
  for (const name of caseIds)
    for (const [title, run] of runsOf({ client, provider, name }))
      test.serial(`${client} at ${provider}, ${name}: ${title}`, (t) => run(t, { client, provider, name }))

test('each departure that is written down is met', (t) => {
  const met = new Set<unknown>()
  for (const [client, provider] of pairs)
    for (const name of caseIds) for (const one of departuresOf({ client, provider, name })) met.add(one)
  t.deepEqual(
    departures.filter((one) => !met.has(one)).map(({ note }) => note),
    [],
  )
})
