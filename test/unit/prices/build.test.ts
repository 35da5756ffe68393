import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { withHistory } from '../../../scripts/prices/history.ts'
import { splitNews, withResold } from '../../../scripts/prices/news.ts'
import { withOverrides } from '../../../scripts/prices/overrides.ts'
import { readPublicList } from '../../../scripts/prices/public-lists.ts'
import { readPython } from '../../../scripts/prices/read-python.ts'
import type { Fields } from '../../../src/lib/json/fields.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const day = '2026-11-29'

const listsOf = (prices: readonly Fields[]) => [{ provider: 'groq', models: { Model: { prices } } }]
const history = (before: readonly Fields[], after: readonly Fields[], wasNeverTrue = false) =>
  withHistory(listsOf(before), [{ provider: 'groq', models: { model: { prices: after } } }], { day, wasNeverTrue: () => wasNeverTrue })[0]
    ?.models['model']?.['prices']

const [old, young] = [{ rates: { input: 100 } }, { rates: { input: 200 } }]

test('a price that moved begins on the day of the catalogue: requests of before keep theirs', (t) => {
  t.deepEqual(history([old], [young]), [
    { from: null, to: day, ...old },
    { from: day, to: null, ...young },
  ])
})

test('past and announced periods stay around the day of a change', (t) => {
  const before = [
    { from: null, to: '2026-03-01', rates: { input: 50 } },
    { from: '2026-03-01', to: '2027-01-01', ...old },
    { from: '2027-01-01', to: null, rates: { input: 70 } },
  ]
  const after = [before[0] ?? {}, { from: '2026-03-01', to: '2027-01-01', ...young }, before[2] ?? {}]
  t.deepEqual(history(before, after), [
    before[0],
    { from: '2026-03-01', to: day, ...old },
    { from: day, to: '2027-01-01', ...young },
    before[2],
  ])
})

test('a figure that was never true, a rounding and a rate that was missing leave no period behind', (t) => {
  t.deepEqual(history([old], [young], true), [young])
  const rounded = { rates: { input: 101 } }
  t.deepEqual(history([old], [rounded]), [rounded])
  const more = { rates: { input: 100, cache_read: 10 }, when: [{ mode: 'batch', rates: { input: 50 } }] }
  t.deepEqual(history([old], [more]), [more])
})

const batch = (input: number) => ({ rates: { input: 100 }, when: [{ mode: 'batch', rates: { input } }] })

test('a rate under a condition that moved begins on the day of the catalogue too', (t) => {
  t.deepEqual(history([batch(50)], [batch(40)]), [
    { from: null, to: day, ...batch(50) },
    { from: day, to: null, ...batch(40) },
  ])
})

test('the prices that a list repeats are told apart from its news', (t) => {
  const before = [{ provider: 'groq', models: { same: { prices: [old] }, moved: { prices: [old] } } }]
  const now = [
    { provider: 'groq', models: { same: { prices: [old], kind: 'chat' }, moved: { prices: [young] }, fresh: { prices: [young] } } },
  ]
  const { repeated, news } = splitNews(before, now)
  t.deepEqual(
    repeated.map(({ models }) => Object.keys(models)),
    [['same']],
  )
  t.deepEqual(
    news.map(({ models }) => Object.keys(models)),
    [['moved', 'fresh']],
  )
})

test('the list of a maker counts for providers that sell its models, and only for models that they are known to sell', (t) => {
  const lists = [{ provider: 'google', models: { one: {}, two: {} } }]
  t.deepEqual(withResold(lists, { google: ['vertex-ai'] }, [{ provider: 'vertex-ai', models: { ONE: {} } }])[1], {
    provider: 'vertex-ai',
    models: { one: {} },
  })
})

test('an override takes the word of one list or has its own, and one that finds no model is a fault', (t) => {
  const base = { provider: 'groq', models: ['Model'], wasNeverTrue: true, source: '', date: day, why: '' }
  const lists = new Map([['former', listsOf([old])]])
  const over = (given: object) => withOverrides(listsOf([young]), [{ ...base, ...given }], lists)[0]?.models['Model']?.['prices']
  t.deepEqual(over({ list: 'former' }), [old])
  t.deepEqual(over({ entry: { rates: { input: 7 } } }), [{ rates: { input: 7 } }])
  t.deepEqual(over({}), [young])
  t.throws(() => over({ list: 'former', models: ['none'] }), { message: /groq\/none from former/ })
})

test('every override says where it is from, since when and why', (t) => {
  const overrides = JSON.parse(readFileSync(path.join(root, 'scripts/prices/overrides.json'), 'utf8')) as Record<string, string>[]
  t.true(overrides.length > 20)
  for (const { source = '', date = '', why = '', models } of overrides) {
    t.true(source.length > 5 && why.length > 20, String(models))
    t.regex(date, /^2026-\d\d-\d\d$/)
  }
})

const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as { as_of: string; lists: Record<string, string>[] }

test('the catalogue names the lists that it was made of, as the recipe has them', (t) => {
  const [recipe, index] = [read('scripts/prices/recipe.json'), read('assets/prices/index.json')]
  t.is(index.as_of, recipe.as_of)
  t.deepEqual(index.lists, recipe.lists.map(({ name, version, date, sha256 }) => ({ name, version, date, sha256 })) as never)
})

const python = `
"""A module."""
providers: list[Provider] = [
    Provider(
        id='makers', name="Maker's", active=True, note=None,
        models=[
            ModelInfo(
                id='one',
                match=ClauseOr(or_=[ClauseEquals(equals='one'), ClauseEquals(equals='uno')]),
                context_window=1_000_000,
                prices=[
                    ConditionalPrice(prices=ModelPrice(input_mtok=Decimal('10'))),
                    ConditionalPrice(
                        constraint=StartDateConstraint(start_date=datetime.date(2026, 3, 1)),
                        prices=ModelPrice(input_mtok=TieredPrices(base=Decimal('2.5'), tiers=[Tier(start=200000, price=Decimal('5'))]), output_mtok=Decimal('1e1')),
                    ),
                ],
                price_variants=[PriceVariant(when={'processing': 'batch'}, prices=ModelPrice(input_mtok=Decimal('1.25')))],
            ),
            ModelInfo(
                id='clock', match=ClauseEquals(equals='clock'),
                prices=[
                    ConditionalPrice(prices=ModelPrice(input_mtok=Decimal('1'))),
                    ConditionalPrice(
                        constraint=TimeOfDateConstraint(start_time=datetime.time(0, 30, tzinfo=datetime.UTC), end_time=datetime.time(16, 5)),
                        prices=ModelPrice(input_mtok=Decimal('2')),
                    ),
                ],
            ),
        ],
    )
]
`

test('the prices of a Python package are read without running it', (t) => {
  const lists = readPublicList('genai-prices-python', python)
  const one = [
    { from: null, to: '2026-03-01', rates: { input: 10_000_000 }, when: [{ mode: 'batch', rates: { input: 1_250_000 } }] },
    {
      from: '2026-03-01',
      to: null,
      rates: { input: 2_500_000, output: 10_000_000 },
      when: [
        { mode: 'batch', rates: { input: 1_250_000 } },
        { over: 200_000, rates: { input: 5_000_000 } },
        { mode: 'batch', over: 200_000, rates: { input: 2_500_000 } },
      ],
    },
  ]
  t.deepEqual(Object.keys(lists[0]?.models ?? {}), ['one', 'uno', 'clock'])
  t.deepEqual(lists[0]?.models['uno']?.['prices'], one)
  t.deepEqual(lists[0]?.models['one']?.['limits'], { context: 1_000_000 })
  t.deepEqual(lists[0]?.models['clock']?.['prices'], [
    { rates: { input: 1_000_000 }, when: [{ utc: ['00:30-16:05'], rates: { input: 2_000_000 } }] },
  ])
})

test('texts that stand next to each other are one, and other code than values is refused', (t) => {
  t.is(readPython(`x = ('one ' "t\\'wo")`, 'x'), `one t'wo`)
  for (const source of ['x = [1, ', 'x = {1 2}', 'y = 1', 'x = @']) t.throws(() => readPython(source, 'x'), undefined, source)
})
