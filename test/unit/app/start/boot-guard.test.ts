import test from 'ava'
import { chartRefusal, imageRefusal, levelRefusal } from '../../../../src/app/start/boot-guard.ts'
import { readOwnTable } from '../../../../src/app/level/release-records.ts'

const table = readOwnTable()

const chart = (version: string, deployed: string | null, inKubernetes = true) =>
  chartRefusal({ version, inKubernetes, deployment: { chart: deployed, image: null, reason: null, chartCheck: 'enforce' } }, table)?.code ??
  null

test('each release accepts the charts from its floor on', (t) => {
  const accepted = (version: string) => table.charts.map((row) => row.version).filter((deployed) => chart(version, deployed) === null)
  const all = table.charts.map(({ version }) => version)
  for (const { version, chart: floor } of table.releases) {
    const from = floor === null ? '1.3.0' : floor === '>1.4.0' ? '1.4.1' : '1.6.0'
    t.deepEqual(accepted(version), all.slice(all.indexOf(from)), version)
  }
  t.is(chart('1.12.0', '1.7.0'), null)
})

test('a chart that does not say its name is too old, inside Kubernetes', (t) => {
  t.is(chart('1.12.0', null), 'chart_missing')
  t.is(chart('1.4.0', null), 'chart_missing')
  t.is(chart('1.3.3', null), null)
  t.is(chart('1.12.0', null, false), null)
  t.is(chart('9.9.9', null), null)
})

const level = (releaseLevel: string | null, version = '1.11.2') => levelRefusal({ version, releaseLevel }, table)?.code ?? null

test('RELEASE_LEVEL names a release that is known', (t) => {
  t.is(level(null), null)
  t.is(level('1.11.2'), null)
  t.is(level('1.3.0'), null)
  t.is(level('1.12.0'), null)
  t.is(level('1.99.0'), 'unknown_level')
  t.is(level('9.9.9', '9.9.9'), null)
  t.is(level('1.4.7'), 'unknown_level')
})

const image = (named: string | null) =>
  imageRefusal({ version: '1.9.0', deployment: { chart: 'app-1.5.0', image: named, reason: null, chartCheck: 'enforce' } })?.code ?? null

test('an image whose digest is of another release than its tag is refused', (t) => {
  const digest = `@sha256:${'0'.repeat(64)}`
  const registry = 'registry.example:5000/mirror/gatehouse'
  for (const named of [`gatehouse:1.8.0${digest}`, `${registry}:v1.10.0-own${digest}`]) t.is(image(named), 'image_differs', named)
  for (const named of [
    null,
    '',
    `${registry}:1.9.0${digest}`,
    `${registry}:1.9.0-own${digest}`,
    `${registry}:own${digest}`,
    `${registry}${digest}`,
  ])
    t.is(image(named), null, named ?? 'not told')
})
