import test from 'ava'
import { upgradePath } from '../../../src/release/path.ts'
import { record } from '../../support/release-project.ts'

const fill = 'v01.05.00/002-fill'
/** Ten releases: a stop for volumes at 1.4.0, a backfill at 1.5.0 and the contract that needs it at 1.8.0, where no upgrade halts, a stop for all at 1.9.0. */
const releases = Array.from({ length: 10 }, (_, minor) => {
  const version = `1.${minor + 1}.0`
  const reason = `the stop of ${version}`
  const breaking = version === '1.4.0' ? [{ id: 'not-root', check: 'volumes-writable', fix: 'Change the owner.' }] : []
  if (version === '1.4.0') return record({ version, breaking, stop: { kind: 'conditional', when: 'volume', reason } })
  if (version === '1.5.0') return record({ version, migrations: [{ id: fill, phase: 'backfill' }] })
  if (version === '1.8.0')
    return record({ version, migrations: [{ id: 'v01.08.00/001-drop', phase: 'contract', needs: [fill], minApp: '1.5.0' }] })
  return record({ version, stop: version === '1.9.0' ? { kind: 'required', reason } : null })
})
const charts = [
  { version: '1.0.0', date: '2025-01-01', appVersion: '1.1.0' },
  { version: '1.2.0', date: '2025-01-01', appVersion: '1.7.0' },
]
const table = { releases, charts }

const leads = test.macro({
  exec: (t, from: string, to: string, [volume, expected]: readonly [boolean, readonly string[]]) => {
    t.deepEqual(
      upgradePath(table, { from, to }, { volume }).map((hop) => hop.version),
      expected,
    )
  },
  title: (_, from: string, to: string, [volume]: readonly [boolean, readonly string[]]) =>
    `${from} to ${to}${volume ? '' : ' without a volume'}`,
})
test(leads, '1.1.0', '1.1.0', [true, []])
test(leads, '1.1.0', '1.3.0', [true, ['1.3.0']])
test(leads, '1.1.0', '1.4.0', [true, ['1.4.0']])
test(leads, '1.1.0', '1.7.0', [true, ['1.4.0', '1.7.0']])
test(leads, '1.1.0', '1.7.0', [false, ['1.7.0']])
test(leads, '1.1.0', '1.8.0', [false, ['1.8.0']])
test(leads, '1.1.0', '1.10.0', [true, ['1.4.0', '1.9.0', '1.10.0']])
test(leads, '1.4.0', '1.8.0', [true, ['1.8.0']])
test(leads, '1.5.0', '1.8.0', [true, ['1.8.0']])
test(leads, '1.9.0', '1.10.0', [true, ['1.10.0']])

test('a hop tells its chart, why it halts, what breaks and what to wait for', (t) => {
  const [first, second] = upgradePath(table, { from: '1.1.0', to: '1.8.0' }, { volume: true })
  t.deepEqual(first, {
    version: '1.4.0',
    chart: 'app-1.0.0',
    because: ['the stop of 1.4.0'],
    breaking: [{ id: 'not-root', check: 'volumes-writable', fix: 'Change the owner.' }],
    backfills: [],
  })
  t.deepEqual(second, { version: '1.8.0', chart: 'app-1.2.0', because: [], breaking: [], backfills: [fill] })
})

test('no path leads back or to what does not exist', (t) => {
  t.throws(() => upgradePath(table, { from: '1.3.0', to: '1.2.0' }, { volume: true }), { message: 'no release leads from 1.3.0 to 1.2.0' })
})
