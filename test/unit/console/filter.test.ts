import test from 'ava'
import { readFilter, withoutTerm, withTerm } from '../../../console/src/pages/logs/filter.ts'
import { rangeQuery } from '../../../console/src/pages/logs/range.ts'
import { restored, storedOf } from '../../../console/src/pages/logs/stored-filter.ts'

/** The text of the bar, and the query of the API. */
const meant: readonly (readonly [text: string, query: Readonly<Record<string, string>>])[] = [
  ['', {}],
  ['status:429', { status_code: '429' }],
  ['status:200,404 -status:429', { status_code: '200,404', status_code_not: '429' }],
  ['model:gpt-4o model:gpt-4o-mini', { ai_model: 'gpt-4o,gpt-4o-mini' }],
  ['model:"a model"', { ai_model: 'a model' }],
  ['cost:>0.1 cost:<2', { cost_min: '10', cost_max: '200' }],
  ['cost:>=0.07', { cost_min: '7' }],
  ['ms:>1000 tokens:<=50', { response_time_min: '1000', total_units_max: '50' }],
  ['success:no stream:yes', { is_success: 'false', stream: 'true' }],
  ['-success:no', { is_success: 'true' }],
  ['metadata.team:search metadata.env:a,b', { metadata: '{"team":"search","env":["a","b"]}' }],
  ['"exact words" and more', { q: 'exact words and more' }],
]
for (const [text, query] of meant)
  test(`the filter ${text || '(none)'} is a query of the API`, (t) => {
    const filter = readFilter(text)
    t.deepEqual(filter.faults, [])
    t.deepEqual(filter.query, query)
  })

test('a class of statuses is at most the 50 values that the API takes, and has those in use', (t) => {
  for (const [text, status] of [
    ['status:2xx', 246],
    ['status:4xx', 446],
    ['status:5xx', 529],
    ['status:>=500', 502],
  ] as const) {
    const values = readFilter(text).query['status_code']?.split(',') ?? []
    t.true(values.length <= 50 && values.includes(String(status)), text)
  }
})

for (const [text, reason] of [
  ['colour:red', /There is no field colour/],
  ['model:gpt-*', /Patterns/],
  ['status:many', /status codes/],
  ['cost:much', /Write cost/],
  ['success:maybe', /success:yes/],
  ['-trace:abc', /cannot be left out/],
  ['-"words"', /Words cannot/],
  ['-metadata.a:b', /Metadata cannot/],
] as const)
  test(`${text} has no effect and a reason, and the others apply`, (t) => {
    const { faults, query } = readFilter(`${text} key:k`)
    t.deepEqual(query, { api_key_ids: 'k' })
    t.regex(faults[0]?.reason ?? '', reason)
  })

test('terms are added and taken away one by one', (t) => {
  t.is(withTerm('status:429', 'model', 'a model'), 'status:429 model:"a model"')
  t.is(withoutTerm('status:429 model:"a model" words', 1), 'status:429 words')
})

test('a range that cannot be read is that of the last day', (t) => {
  const now = Date.parse('2026-11-29T12:00:30Z')
  t.deepEqual(rangeQuery({ t: '1h' }, now), { time_of_generation_min: '2026-11-29T11:00:00.000Z' })
  t.deepEqual(rangeQuery({ t: 'often' }, now), { time_of_generation_min: '2026-11-28T12:00:00.000Z' })
  t.deepEqual(rangeQuery({ from: '2026-11-01T00:00:00Z', to: 'never' }, now), { time_of_generation_min: '2026-11-01T00:00:00Z' })
})

for (const [text, query] of meant.filter(([, { q }]) => q === undefined))
  test(`the filter ${text || '(none)'} means the same once it was stored`, (t) => {
    const { q, unknown } = restored(storedOf(query))
    t.deepEqual(readFilter(q).query, query)
    t.deepEqual(unknown, [])
  })

test('a stored filter has values of JSON, the range with its end excluded, and names what the bar does not have', (t) => {
  const stored = storedOf(readFilter('cost:>0.1 success:no metadata.team:search status:5xx "words"').query)
  t.deepEqual(Object.keys(stored).toSorted(), ['cost_min', 'is_success', 'metadata', 'status_code'])
  t.is(stored['is_success'], false)
  t.deepEqual(stored['metadata'], { team: 'search' })
  t.true(restored(stored).q.includes('status:5xx'))
  const range = rangeQuery({ from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' })
  t.is(range['time_of_generation_max'], '2026-11-30T23:59:59.999Z')
  const { from, to, unknown } = restored({ ...storedOf(range), weighted_feedback_min: 1 })
  t.deepEqual([from, to], ['2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'])
  t.deepEqual(unknown, ['weighted_feedback_min'])
})
