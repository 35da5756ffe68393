import test from 'ava'
import { check } from '../../../tools/records/check.ts'
import type { Project } from '../../../src/release/project.ts'
import { withRelease } from '../../support/release-project.ts'
import { charts, refuses, release, sound } from '../../support/release-rules.ts'

test('no rule has anything against a sound project', (t) => {
  t.deepEqual(check(sound), [])
})

const announce = (at: number, change: Partial<Project['published'][number]>): Project => ({
  ...sound,
  published: sound.published.map((row, index) => (index === at ? { ...row, ...change } : row)),
})
test(refuses, 'R1', { ...sound, published: sound.published.slice(1) }, '1.0.0: was never announced')
test(
  refuses,
  'R1',
  { ...sound, published: [...sound.published, { version: '9.0.0', date: '2030-01-01', chart: null, items: 1 }] },
  '9.0.0: was announced and has no record',
)
test(refuses, 'R1', announce(0, { date: '2025-01-02' }), '1.0.0: is dated 2025-01-01, and was announced for 2025-01-02')
test(refuses, 'R1', announce(1, { chart: '>=1.1.0' }), '1.1.0: has the chart floor >1.0.0, and was announced with >=1.1.0')
test(refuses, 'R1', announce(0, { items: 2 }), '1.0.0: notes 1 things of the 2 that were announced')
test(refuses, 'R1', announce(0, { breaking: true }), '1.0.0: does not agree with the announcement on breaking changes')
test(refuses, 'R1', announce(0, { env: ['PORT', 'HOST'] }), '1.0.0: does not name the announced setting HOST')

/** Announced and dated alike, so that only the order can be wrong; the charts were cut for the first release. */
function dated(version: string, date: string): Project {
  const rows = sound.published.map((row) => (row.version === version ? { ...row, date } : row))
  const { table } = withRelease(sound, version, { date })
  return {
    ...sound,
    published: rows,
    table: { ...table, charts: sound.table.charts.map(({ version: own, date: on }) => ({ version: own, date: on, appVersion: '1.0.0' })) },
  }
}
test('R2 allows two releases on one day', (t) => {
  t.deepEqual(check(dated('1.2.0', '2025-02-01')), [])
})
test(refuses, 'R2', dated('1.1.0', '2025-03-02'), '1.2.0: is dated 2025-03-01, before 1.1.0 of 2025-03-02')
test(
  refuses,
  'R2',
  charts((list) => list.flatMap((chart) => [chart, chart])),
  '1.0.0: is there twice',
)
test(refuses, 'R2', release('1.2.0', { kind: 'security' }), '1.2.0: is a minor release, not security')

test(
  refuses,
  'R3',
  charts((list) => list.map((chart) => (chart.version === '1.1.0' ? { ...chart, date: '2025-03-02' } : chart))),
  '1.1.0: no chart >1.0.0 was published by 2025-02-01',
)
test(
  refuses,
  'R3',
  charts((list) => list.slice(0, 1)),
  '1.2.0: no chart >=1.1.0 was published by 2025-03-01',
)

test(
  refuses,
  'R4',
  withRelease(announce(2, { chart: '>=1.0.0' }), '1.2.0', { chart: '>=1.0.0' }),
  '1.2.0: has the chart floor >=1.0.0, below >1.0.0 of 1.1.0',
)

const chart = (more: object) => charts((list) => [...list, { version: '1.2.0', date: '2025-04-01', appVersion: '1.2.0', ...more }])
test(refuses, 'R5', chart({ appVersion: '1.3.0' }), 'app-1.2.0: deploys 1.3.0, which has no record')
test(refuses, 'R5', chart({ date: '2025-02-20' }), 'app-1.2.0: of 2025-02-20 deploys 1.2.0 of 2025-03-01')
test(refuses, 'R5', chart({ appVersion: '1.0.0' }), 'app-1.2.0: deploys 1.0.0, before app-1.1.0')
test(
  refuses,
  'R5',
  charts((list) =>
    list
      .map((one) => ({ ...one, date: '2025-02-01', appVersion: '1.1.0' }))
      .toSpliced(0, 0, { version: '0.9.0', date: '2025-01-01', appVersion: '1.0.0' }),
  ),
  'app-1.0.0: deploys 1.1.0, which needs a chart >1.0.0',
)
