import test from 'ava'
import { chartFor, findRelease, parseTable, RecordError, releasesBetween, releaseWith } from '../../../src/release/table.ts'

const raw = (version: string, more: object = {}) => ({
  version,
  date: '2025-01-01',
  chart: null,
  kind: 'minor',
  postgres: '>=14 <19',
  kubernetes: '>=1.25',
  notes: 'One thing.\n\n  Another thing.\n',
  ...more,
})
const charts = {
  charts: [
    { version: '1.10.0', date: '2025-03-01', appVersion: '1.10.0' },
    { version: '1.9.0', date: '2025-01-01', appVersion: '1.2.0' },
  ],
}
const table = parseTable(
  {
    '1.10.0.yaml': raw('1.10.0', { chart: '>1.9.0' }),
    '1.2.0.yaml': raw('1.2.0', { features: { added: ['logs'] } }),
    '1.9.0.yaml': raw('1.9.0'),
  },
  charts,
)

test('releases and charts are sorted as versions, and left out lists are empty', (t) => {
  t.deepEqual(
    table.releases.map(({ version }) => version),
    ['1.2.0', '1.9.0', '1.10.0'],
  )
  t.deepEqual(
    table.charts.map(({ version }) => version),
    ['1.9.0', '1.10.0'],
  )
  const [first] = table.releases
  t.deepEqual(first?.features, { added: ['logs'], changed: [], removed: [] })
  t.deepEqual(first?.env, { added: [], changed: [], removed: [] })
  t.deepEqual(
    first?.notes.map(({ text }) => text),
    ['One thing.', 'Another thing.'],
  )
  t.is(first?.stop, null)
})

test('what brings a feature, and what lies between two releases', (t) => {
  t.is(releaseWith(table, 'logs')?.version, '1.2.0')
  t.is(releaseWith(table, 'nothing'), null)
  t.is(findRelease(table, '1.3.0'), null)
  t.deepEqual(
    releasesBetween(table, '1.2.0', '1.10.0').map(({ version }) => version),
    ['1.9.0', '1.10.0'],
  )
  t.deepEqual(releasesBetween(table, '1.9.0', '1.9.0'), [])
})

test('the chart of a release is the newest that was cut by then and satisfies the floor', (t) => {
  t.is(chartFor(table, { version: '1.9.0', chart: null })?.version, '1.9.0')
  t.is(chartFor(table, { version: '1.10.0', chart: '>1.9.0' })?.version, '1.10.0')
  t.is(chartFor(table, { version: '1.9.0', chart: '>1.9.0' }), null)
})

const refused = test.macro({
  exec: (t, more: object, fault: RegExp) => {
    const { problems } = t.throws(() => parseTable({ '1.2.0.yaml': raw('1.2.0', more) }, charts), { instanceOf: RecordError })
    t.is(problems.length, 1)
    t.regex(problems[0] ?? '', fault)
  },
  title: (_, more: object) => `refused: ${JSON.stringify(more)}`,
})
test(refused, { colour: 'red' }, /^1\.2\.0\.yaml: : .*colour/)
test(refused, { version: '1.2' }, /version: is no version/)
test(refused, { version: '1.3.0' }, /^1\.2\.0\.yaml: holds release 1\.3\.0$/)
test(refused, { date: '2025-02-30' }, /date/)
test(refused, { chart: '1.4.0' }, /chart: is no floor/)
test(refused, { chart: '=>1.4.0' }, /chart: is no floor/)
test(refused, { kind: 'huge' }, /kind/)
test(refused, { features: { added: ['Not An Id'] } }, /features\.added\.0: is no id/)
test(refused, { features: { add: [] } }, /features: .*add/)
test(refused, { env: { added: ['lower'] } }, /env\.added\.0/)
test(refused, { api: { added: ['FETCH /logs'] } }, /api\.added\.0: is no operation/)
test(refused, { migrations: [{ id: '1.2.0-name', phase: 'expand' }] }, /migrations\.0\.id/)
test(refused, { breaking: [{ id: 'a', fix: 'b' }] }, /breaking\.0\.check/)
test(refused, { stop: { kind: 'conditional', when: 'full moon', reason: 'tides' } }, /stop\.when/)
test(refused, { postgres: 'any' }, /postgres/)
test(refused, { kubernetes: '1' }, /kubernetes/)

test('every fault of every file is named', (t) => {
  const { problems } = t.throws(() => parseTable({ 'a.yaml': null, '1.2.0.yaml': raw('1.2.0', { date: 1 }) }, { charts: [] }), {
    instanceOf: RecordError,
  })
  t.deepEqual(
    problems.map((problem) => problem.split(':')[0]),
    ['charts.yaml', 'a.yaml', '1.2.0.yaml'],
  )
})
