import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { json } from '../support/dialects/strict.ts'
import type { Emulator } from '../support/emulator/emulator.ts'
import { caseIds, cases, type Fixture, statuses } from './cases.ts'
import { departures } from './departures.ts'
import { cellOf, expectedOf, ideal, metBy, type Word } from './expected.ts'
import { listen } from './listen.ts'
import { addressAt, converse, type Product, type SpokenCell, startProduct } from './product.ts'
import { clientTitles, pairs, providers, sideFor, talkers } from './sides/index.ts'

/** Each client format at each provider dialect, in each case: the official client, Gatehouse, and an emulator as strict as the provider. */
let product: Product
let emulator: Emulator

test.before(async () => {
  product = await startProduct()
  ;({ emulator } = product)
})
test.after.always(() => product?.stop())
test.beforeEach(() => emulator.reset())

/** Returns the outcome of the case. */
type Run = (t: ExecutionContext, cell: SpokenCell) => Promise<Word>

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
      return 'refused'
    }
    const talks = await converse(product.bed, fixture, cell)
    const found = { heard, said: talks.map(({ said }) => said) }
    t.deepEqual(found, { heard: expected.heard, said: expected.said })
    return JSON.stringify(found) === JSON.stringify(ideal(fixture, cell.client)) ? 'carried' : 'transformed'
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
  return 'carried'
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
  return 'carried'
}

const lengthOf = ({ body, bodyBase64 = '' }: { readonly body?: string; readonly bodyBase64?: string }) =>
  body === undefined ? Buffer.byteLength(bodyBase64, 'base64') : Buffer.byteLength(body)

const runsOf = ({ client, provider, name }: SpokenCell): readonly (readonly [title: string, run: Run])[] => {
  if (name === 'errors') return [['status and message', runErrors]]
  if (name === 'abort') return [['a stream that is cut, and a client that leaves', runAbort]]
  return cellOf({ client, provider, name }).fixtures.map((fixture) => [fixture.title, runFixture(fixture)])
}

/** The guide's word for each cell, by client, provider and case. */
function toldByGuide(): ReadonlyMap<string, string> {
  const guide = readFileSync(new URL('../../docs/reference/dialects.md', import.meta.url), 'utf8')
  const [, part = ''] = /<!-- conformance:start -->([^]*)<!-- conformance:end -->/.exec(guide) ?? []
  const told = new Map<string, string>()
  for (const section of part.split('\n### ').slice(1)) {
    const [title = '', ...lines] = section.split('\n')
    const [heads = [], , ...rows] = lines.filter((line) => line.startsWith('|')).map((line) => line.split('|').map((cell) => cell.trim()))
    for (const [, name = '', ...cells] of rows)
      for (const [index, head] of heads.slice(2, -1).entries()) told.set(`${title}, ${head}: ${name}`, cells[index] ?? '')
  }
  return told
}

const titleOf = ({ client, provider, name }: SpokenCell) => `${clientTitles[client]}, ${providers[provider].title}: ${name}`

/** The observations of each cell. */
const seen = new Map<string, Set<Word>>()

for (const [client, provider] of pairs)
  for (const name of caseIds) {
    const cell = { client, provider, name }
    for (const [title, run] of runsOf(cell))
      test.serial(`${client} at ${provider}, ${name}: ${title}`, async (t) => {
        const words = seen.get(titleOf(cell)) ?? new Set()
        seen.set(titleOf(cell), words.add(await run(t, cell)))
      })
  }

test.serial('the guide tells of each cell what was seen of it, and of none that nothing ran', (t) => {
  const told = toldByGuide()
  const cells = pairs.flatMap(([client, provider]) => caseIds.map((name) => ({ client, provider, name })))
  t.deepEqual(
    [...told.keys()].filter((title) => !cells.some((cell) => titleOf(cell) === title)),
    [],
  )
  for (const cell of cells) {
    const words = seen.get(titleOf(cell)) ?? new Set()
    const word = words.has('refused')
      ? 'refused'
      : words.has('transformed')
        ? 'transformed'
        : words.has('carried')
          ? 'carried'
          : 'not there'
    if (runsOf(cell).length > 0 && words.size === 0) continue
    t.regex(told.get(titleOf(cell)) ?? 'not there', new RegExp(`^${word}`), titleOf(cell))
    if (word === 'refused') t.is(words.size, 1, titleOf(cell))
  }
})

test('each departure that is written down is met', (t) => {
  const met = new Set(pairs.flatMap(([client, provider]) => caseIds.flatMap((name) => metBy({ client, provider, name }))))
  t.deepEqual(
    departures.filter((one) => !met.has(one)).map(({ note }) => note),
    [],
  )
})
