import test from 'ava'
import { ReleaseRecord } from '../../../src/release/record.ts'
import { scaffold } from '../../../tools/records/scaffold.ts'
import { check } from '../../../tools/records/check.ts'
import { soundProject } from '../../support/release-project.ts'

const sound = soundProject()
const wanted = { version: '1.3.0', date: '2025-04-01', phases: { 'v01.03.00/001-drop': 'contract' } as const }

/** The sound project after some work: everything in it that the next record has to name. */
const worked = {
  ...sound,
  code: {
    ...sound.code,
    features: [...sound.code.features.map((one) => ({ ...one, changes: ['1.1.0', '1.3.0'] })), { id: 'alerts', since: '1.3.0' }],
    settings: [...sound.code.settings, { name: 'HOST', since: '1.3.0' }],
    operations: (level: string) => (level === '1.3.0' ? ['GET /tags', 'POST /alerts'] : sound.code.operations(level)),
  },
  hashes: {
    ...sound.hashes,
    migrations: { ...sound.hashes.migrations, 'v01.03.00/001-drop': 'x', 'v01.03.00/002-add': 'x', 'v01.02.00/009-late': 'x' },
  },
}

test('a scaffolded record names what is new, and nothing else', (t) => {
  t.deepEqual(scaffold(worked, wanted), {
    version: '1.3.0',
    date: '2025-04-01',
    chart: '>=1.1.0',
    kind: 'minor',
    features: { added: ['alerts'], changed: ['logs', 'tags'], removed: [] },
    env: { added: ['HOST'], changed: [], removed: [] },
    api: { added: ['POST /alerts'], changed: [], removed: ['GET /logs'] },
    migrations: [
      { id: 'v01.03.00/002-add', phase: 'expand' },
      { id: 'v01.03.00/001-drop', phase: 'contract' },
    ],
    postgres: '>=14 <19',
    kubernetes: '>=1.25',
    notes: 'TODO: one line for each thing that changed, in the words of an operator.\n',
  })
})

test('with the scaffolded record the rules find only what a person has to decide', (t) => {
  const release = ReleaseRecord.parse(scaffold(worked, wanted))
  const faults = check({ ...worked, table: { ...worked.table, releases: [...worked.table.releases, release] } })
  t.deepEqual(
    faults.filter(({ where }) => where === '1.3.0').map(({ rule, message }) => `${rule} ${message}`),
    [
      'R1 was never announced',
      'R8 v01.03.00/001-drop names no backfill that it needs',
      'R8 v01.03.00/001-drop names no earlier release as minApp',
    ],
  )
})

test('without anything new a patch is scaffolded empty', (t) => {
  const { kind, features, env, api, migrations } = scaffold(sound, { version: '1.2.1', date: '2025-04-01', phases: {} })
  t.is(kind, 'patch')
  t.deepEqual(
    [features, env, api].flatMap((changes = {}) => Object.values(changes).flat()),
    [],
  )
  t.deepEqual(migrations, [])
})
