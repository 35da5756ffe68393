import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { gatehouseHere } from '../../support/cli.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-price-check-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

const check = (...args: readonly string[]) => gatehouseHere(['prices', 'check', ...args])
const checkWith = (env: Readonly<Record<string, string>>) => gatehouseHere(['prices', 'check', 'built-in', 'in-effect', '--json'], { env })
const at = (name: string) => path.join(folder, name)

const listText = (models: object, provider = 'groq') => JSON.stringify({ schema: 1, provider, unit: 'pUSD', models }, null, 1)

/** Writes a folder with one list. */
function lists(name: string, models: object): string {
  mkdirSync(at(name), { recursive: true })
  writeFileSync(at(`${name}/groq.json`), listText(models))
  return at(name)
}

const model = (input: number, more: object = {}) => ({ prices: [{ rates: { input, output: 10, ...more } }] })

interface Report {
  readonly ok: boolean
  readonly factor: number
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly {
    model: string
    dimension: string
    condition: object
    from: string | null
    factor: number | null
    after: number
  }[]
  readonly smaller: number
  readonly rates_added: number
  readonly rates_removed: number
  readonly units: readonly string[]
}

const reportOf = (stdout: string) => JSON.parse(stdout) as Report

test('two catalogues are compared: the models that came and went, and the rates that changed by the factor', async (t) => {
  const before = lists('before', { stays: model(100), doubles: model(100), grows: model(100), goes: model(1) })
  const after = lists('after', { STAYS: model(100), doubles: model(200), grows: model(150), comes: model(1) })
  const { status, stdout, stderr } = await check(before, after)
  t.is(status, 1)
  t.regex(stdout, /^added {4}groq\/comes$/m)
  t.regex(stdout, /^removed {2}groq\/goes$/m)
  t.regex(stdout, /^changed {2}groq\/doubles input: 100 -> 200 pico-US-dollars \(x 2\)$/m)
  t.notRegex(stdout, /changed {2}groq\/grows/)
  t.regex(stderr, /1 rates changed by a factor of 2 or more/)
  const wide = await check(before, after, '--factor', '2.1', '--json')
  t.is(wide.status, 0, wide.stderr)
  t.like(reportOf(wide.stdout), { ok: true, factor: 2.1, changed: [], smaller: 2, added: ['groq/comes'], removed: ['groq/goes'] })
  const narrow = await check(before, after, '--factor', '1.2', '--json')
  t.deepEqual(
    reportOf(narrow.stdout).changed.map(({ model: name, factor }) => [name, factor]),
    [
      ['doubles', 2],
      ['grows', 1.5],
    ],
  )
})

test('the same catalogue has no differences, and neither has the one in effect without lists of the site', async (t) => {
  for (const after of ['built-in', 'in-effect']) {
    const { status, stdout } = await check('built-in', after, '--json')
    t.is(status, 0)
    t.like(reportOf(stdout), { ok: true, added: [], removed: [], changed: [], smaller: 0, rates_added: 0, rates_removed: 0, units: [] })
  }
})

const period = (rates: object, more: object = {}) => ({ rates, ...more })

test('the lists of the settings go over the catalogue in their order, and a place that is not here is named', async (t) => {
  const key = 'llama-3.1-8b-instant'
  const [local, store] = [lists('local', { [key]: model(7_000_000) }), lists('store', { [key.toUpperCase()]: model(9_000_000) })]
  const found = async (env: Readonly<Record<string, string>>) => {
    const { status, stdout, stderr } = await checkWith(env)
    t.is(status, 1, stderr)
    return reportOf(stdout).changed.find(({ dimension }) => dimension === 'input')
  }
  t.like(await found({ MODEL_CONFIGS_PRICING_LOCAL_PATH: local }), { after: 7_000_000 })
  t.like(await found({ MODEL_CONFIGS_PRICING_LOCAL_PATH: local, MODEL_CONFIGS_PRICING_LOG_STORE_PATH: store }), { after: 9_000_000 })
  const gone = await checkWith({ MODEL_CONFIGS_PRICING_LOCAL_PATH: at('gone') })
  t.is(gone.status, 2)
  t.regex(gone.stderr, /gone: a setting names this folder/)
  const bucket = await checkWith({ LOG_STORE: 's3', MODEL_CONFIGS_PRICING_LOG_STORE_PATH: 'pricing' })
  t.is(bucket.status, 2)
  t.regex(bucket.stderr, /copy its lists into a folder/)
})

test('conditions, announced prices, free models and rates that fall back are compared as requests see them', async (t) => {
  const before = lists('seen-before', {
    batch: { prices: [period({ input: 100 }, { when: [{ mode: 'batch', rates: { input: 50 } }] })] },
    falls: { prices: [period({ input: 100, cache_read: 10 })] },
    free: { prices: [period({ input: 100 })] },
    later: { prices: [period({ input: 100 })] },
    more: { prices: [period({ input: 100 })] },
    same: { prices: [period({ input: 100 }, { when: [{ mode: 'batch', rates: { input: 100 } }] })] },
  })
  const after = lists('seen-after', {
    batch: { prices: [period({ input: 100 })] },
    falls: { prices: [period({ input: 100 })] },
    free: { prices: [period({ input: 0 })], free: true },
    later: { prices: [period({ input: 100 }, { from: null, to: '2999-01-01' }), period({ input: 900 }, { from: '2999-01-01', to: null })] },
    more: { prices: [period({ input: 100, output: 5 })] },
    same: { prices: [period({ input: 100 })] },
  })
  const { stdout } = await check(before, after, '--json')
  const { changed, rates_added: added } = reportOf(stdout)
  t.deepEqual(
    changed.map(({ model: name, dimension, condition, from, factor }) => [name, dimension, condition, from, factor]),
    [
      ['free', 'input', {}, null, null],
      ['falls', 'cache_read', {}, null, 10],
      ['later', 'input', {}, '2999-01-01', 9],
      ['batch', 'input', { mode: 'batch' }, null, 2],
    ],
  )
  t.is(added, 1)
})

const models = (factor: number) => Object.fromEntries(['a', 'b', 'c', 'd'].map((name, index) => [name, model((index + 1) * 1000 * factor)]))

test('a list in another unit is named as a whole', async (t) => {
  const { status, stdout } = await check(lists('units', models(1)), lists('units-off', models(1000)), '--factor', '5000', '--json')
  t.is(status, 1)
  t.deepEqual(reportOf(stdout).units.length, 1)
  t.regex(reportOf(stdout).units[0] ?? '', /groq: 4 of 4 models cost 8 times more or less.*the unit of the list is another/)
})

test('one list, and a service that has some, can stand for a catalogue', async (t) => {
  const served = createServer((request, response) => {
    const found = request.url === '/pricing/groq'
    response.writeHead(found ? 200 : 404).end(found ? listText({ 'llama-3.1-8b-instant': model(7_777_777) }) : '')
  })
  await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
  const address = served.address()
  const url = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
  try {
    writeFileSync(at('one.json'), listText({ 'llama-3.1-8b-instant': model(7_777_777) }))
    const { status, stdout, stderr } = await check(at('one.json'), url, '--json')
    t.is(status, 0, stderr)
    t.like(reportOf(stdout), { ok: true, added: [], removed: [] })
    const other = await check('built-in', url, '--json')
    t.is(other.status, 1)
    t.true(reportOf(other.stdout).changed.some(({ model: name, dimension }) => name === 'llama-3.1-8b-instant' && dimension === 'input'))
  } finally {
    await new Promise((resolve) => served.close(resolve))
  }
})

/** Files that are no lists, and the words that name the place. */
const broken: readonly (readonly [what: string, text: string, told: RegExp])[] = [
  ['no JSON', '{\n "schema": 1,\n "models": {x}\n}', /line 3, column 13: no JSON/],
  ['cut off', '{"schema":1,\n"models":{"a":{"pric', /line 2, column 16: no JSON/],
  ['no object', '[]', /no JSON object/],
  [
    'a fraction',
    '{"schema":1,"provider":"groq","unit":"pUSD","models":{\n"a":{"prices":[{"rates":{"input":1.5}}]}}}',
    /line 2, a: the rate of input/,
  ],
  [
    'a dimension',
    '{"schema":1,"provider":"groq","unit":"pUSD","models":{\n\n"b":{"prices":[{"rates":{"imput":1}}]}}}',
    /line 3, b: the dimension imput/,
  ],
  [
    'a condition',
    '{"schema":1,"provider":"groq","unit":"pUSD","models":{"c":{"prices":[{"rates":{},"when":[{"mod":"batch","rates":{}}]}]}}}',
    /line 1, c: the condition mod/,
  ],
  [
    'a date',
    '{"schema":1,"provider":"groq","unit":"pUSD","models":{"d":{"prices":[{"from":"1.1.","rates":{"input":1}}]}}}',
    /line 1, d: the date 1\.1\./,
  ],
  [
    'a gap',
    '{"schema":1,"provider":"groq","unit":"pUSD","models":{"e":{"prices":[{"from":null,"to":"2026-01-01","rates":{}},{"from":"2026-02-01","to":null,"rates":{}}]}}}',
    /line 1, e: a gap or overlap/,
  ],
  ['a unit', '{"schema":1,"provider":"groq","unit":"USD","models":{}}', /not in pico-US-dollars/],
  ['no price', '{"gpt":{}}', /the list has no price/],
]

for (const [what, text, told] of broken) {
  test(`a file that cannot be read is named with its line and field, with exit code 2: ${what}`, async (t) => {
    const file = at(`${what.replaceAll(' ', '-')}.json`)
    writeFileSync(file, text)
    for (const args of [
      [file, 'built-in'],
      ['built-in', file],
    ]) {
      const { status, stderr, stdout } = await check(...args)
      t.is(status, 2, stdout)
      t.true(stderr.includes(file), stderr)
      t.regex(stderr, told)
    }
  })
}

test('an impossible command line has exit code 2, and its message contains the way to write it', async (t) => {
  const before = lists('fine', { a: model(1) })
  mkdirSync(at('empty'), { recursive: true })
  for (const [args, told] of [
    [[before, before, '--factor', '0.5'], /a factor is a number from 1 on/],
    [[before, before, '--factor', 'two'], /a factor is a number from 1 on/],
    [[before, '--factor', '3'], /--factor is for two catalogues/],
    [[before, at('nowhere')], /nowhere: there is no such file or folder; built-in and in-effect stand for/],
    [[before, at('empty')], /empty: the folder has no price list/],
    [[before, 'http://127.0.0.1:1'], /the list of \S+ cannot be read/],
  ] as const) {
    const { status, stderr } = await check(...args)
    t.is(status, 2, stderr)
    t.regex(stderr, told)
  }
})
