import test from 'ava'
import { check } from '../../../tools/records/check.ts'
import type { Finding, Project } from '../../../src/release/project.ts'
import { code, refuses, release, sound } from '../../support/release-rules.ts'

const none = { added: [], changed: [], removed: [] }

const withModule = (more: Project['code']['features'][number]) => code({ features: [...sound.code.features, more] })
test(refuses, 'R6', withModule({ id: 'secrets', since: '1.2.0' }), '1.2.0: the module secrets has no record')
test(
  refuses,
  'R6',
  code({
    features: [
      { id: 'logs', since: '1.0.0', changes: ['1.1.0'] },
      { id: 'tags', since: '1.2.0' },
    ],
  }),
  '1.2.0: the module tags says since 1.2.0, the records say 1.1.0',
)
test(
  refuses,
  'R6',
  withModule({ id: 'tags', since: '1.1.0', changes: ['1.2.0'] }),
  '1.1.0: the module tags claims a change of 1.2.0 that has no record',
)
test(refuses, 'R6', release('1.2.0', { features: { ...none, added: ['tags'] } }), '1.2.0: adds tags again')
test(
  refuses,
  'R6',
  release('1.2.0', { features: { ...none, changed: ['secrets'] } }),
  '1.2.0: changes or removes secrets, which no earlier release adds',
)

test(
  refuses,
  'R7',
  code({ settings: [...sound.code.settings, { name: 'HOST', since: '1.0.0' }] }),
  '1.0.0: the setting HOST says since 1.0.0, no record adds it',
)
test(
  refuses,
  'R7',
  code({ settings: [{ name: 'PORT', since: '1.1.0' }] }),
  '1.1.0: the setting PORT says since 1.1.0, the records say 1.0.0',
)
const passingOn = (...settings: readonly string[]) => ({ ...sound, chart: { ...sound.chart, settings } })
test(refuses, 'R7', passingOn(), 'charts/app: has no place for the setting PORT')
test(refuses, 'R7', passingOn('PORT', 'HOST'), 'charts/app: passes on HOST, which is no setting')
test(
  refuses,
  'R7',
  release('1.2.0', { env: { ...none, removed: ['HOST'] } }),
  '1.2.0: changes or removes HOST, which no earlier release adds',
)

const inPatch = sound.table.releases.map((one) =>
  one.version === '1.1.0' ? { ...one, version: '1.0.1', kind: 'patch' as const, migrations: [] } : one,
)
test('R10 refuses: a patch that breaks something', (t) => {
  const faults = check({ ...sound, table: { ...sound.table, releases: inPatch } }).filter(({ rule }) => rule === 'R10')
  t.deepEqual(faults, [{ rule: 'R10', where: '1.0.1', message: 'a patch release breaks nothing' }])
})

test(refuses, 'R10', code({ preflightChecks: ['disk'] }), '1.1.0: there is no preflight check volumes-writable')

const serves = (operations: Project['code']['operations']) => code({ operations })
test(
  refuses,
  'R14',
  serves((level) => (level === '1.0.0' ? ['GET /logs'] : ['GET /logs', 'GET /tags', 'POST /tags'])),
  '1.1.0: serves POST /tags, which its record does not add',
)
test(
  refuses,
  'R14',
  serves((level) => (level === '1.2.0' ? ['GET /tags'] : sound.code.operations(level))),
  '1.2.0: lost GET /logs, which its record does not remove',
)
test(
  refuses,
  'R14',
  serves(() => ['GET /logs', 'GET /tags']),
  '1.1.0: adds GET /tags, which 1.0.0 serves already',
)
test(
  refuses,
  'R14',
  release('1.2.0', { api: { ...none, owners: {}, removed: ['GET /tags'] } }),
  '1.2.0: still serves GET /tags, which its record removes',
)
test(
  refuses,
  'R14',
  release('1.2.0', { api: { ...none, owners: {}, changed: ['GET /users'] } }),
  '1.2.0: changes or removes GET /users, which no earlier release adds',
)
test(
  refuses,
  'R14',
  release('1.1.0', { api: { ...none, added: ['GET /tags'], changed: ['GET /logs'], owners: { 'GET /tags': 'labels' } } }),
  '1.1.0: GET /tags is of labels, which no record adds',
)

const pends = test.macro({
  exec: (t, rule: Finding['rule'], project: Project, message: string) => {
    t.deepEqual(check(project), [{ rule, where: '1.1.0', message, pending: true }])
  },
  title: (_, rule: string, _project: Project, message: string) => `${rule}: ${message}`,
})
test(pends, 'R6', code({ features: sound.code.features.slice(0, 1) }), 'the feature tags is pending')
test(
  pends,
  'R6',
  code({
    features: [
      { id: 'logs', since: '1.0.0' },
      { id: 'tags', since: '1.1.0' },
    ],
  }),
  'the change logs is pending',
)
test(pends, 'R7', release('1.1.0', { env: { ...none, added: ['HOST'] } }), 'the setting HOST is pending')
test(
  pends,
  'R14',
  serves(() => ['GET /logs']),
  'the operation GET /tags is pending',
)
