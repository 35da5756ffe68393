import test from 'ava'
import { changelog, notes } from '../../../src/release/notes.ts'
import { statusLines } from '../../../tools/records/status.ts'
import { record, soundProject } from '../../support/release-project.ts'

const { code: built } = soundProject()

const releases = [
  record({ version: '1.0.0', notes: 'The first thing.\nThe second thing.', env: { added: ['PORT'] } }),
  record({ version: '1.0.1', date: '2025-02-01', chart: '>1.0.0', kind: 'security', security: ['A hole is closed.'] }),
  record({
    version: '1.1.0',
    date: '2025-03-01',
    breaking: [{ id: 'not-root', check: 'volumes-writable', fix: 'Change the owner.' }],
    stop: { kind: 'conditional', when: 'volume', reason: 'Owners change.' },
  }),
]

test('notes begin with what needs care, and are newest first', (t) => {
  t.is(
    notes(releases, built),
    `## Before you upgrade

- 1.0.1: **Security**: A hole is closed.
- 1.1.0: **Breaking** (not-root): Change the owner.
- 1.1.0: **Stop** (with a volume): Owners change.

## 1.1.0 (2025-03-01)

- **Breaking** (not-root): Change the owner.
- **Stop** (with a volume): Owners change.
- One thing changed.

## 1.0.1 (2025-02-01, security)

- **Security**: A hole is closed.
- One thing changed.
- Chart: \`app\` >1.0.0

## 1.0.0 (2025-01-01)

- The first thing.
- The second thing.
- New settings: \`PORT\``,
  )
})

test('nothing needs care when no record says so', (t) => {
  t.false(notes(releases.slice(0, 1), built).includes('Before you upgrade'))
  t.is(notes([], built), '')
})

test('the change log is every release, and ends with a line break', (t) => {
  const text = changelog(releases, built)
  t.true(text.startsWith('# Changelog\n\nGenerated from'))
  t.deepEqual(
    [...text.matchAll(/^## (\S+)/gm)].map(([, version]) => version),
    ['1.1.0', '1.0.1', '1.0.0'],
  )
  t.true(text.endsWith('`PORT`\n'))
})

test('the status calls nothing implemented that no module claims', (t) => {
  const project = soundProject()
  const code = { ...project.code, features: [{ id: 'logs', since: '1.0.0' }] }
  t.deepEqual(statusLines({ ...project, code }), [
    '1.0.0 (2025-01-01): 3 implemented, 0 pending',
    '  feature          implemented  logs',
    '  setting          implemented  1',
    '  operation        implemented  1',
    '1.1.0 (2025-02-01): 2 implemented, 2 pending',
    '  feature          pending      tags',
    '  change           pending      logs',
    '  preflight check  implemented  volumes-writable',
    '  operation        implemented  1',
    '1.2.0 (2025-03-01): nothing that code could prove',
    'all 3 releases: 5 implemented, 2 pending',
  ])
})
