import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { preflightChecks } from '../../../../src/cli/preflight/checks.ts'
import type { Result } from '../../../../src/cli/preflight/run.ts'
import { gatehouse, gatehouseHere } from '../../../support/cli.ts'
import { testDatabase } from '../../../support/database.ts'
import { settingsFor, temporaryFolder } from '../../../support/preflight.ts'
import { freePort } from '../../../../src/app/database/embedded/port.ts'

interface Report {
  readonly ok: boolean
  readonly counts: Readonly<Record<string, number>>
  readonly checks: readonly Result[]
}

test('the whole of it, for a program and with Helm beside it', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const tools = temporaryFolder(t)
  const history = JSON.stringify([{ revision: 7, status: 'deployed', chart: 'app-1.6.0' }])
  writeFileSync(path.join(tools, 'helm'), `#!/bin/sh\n[ "$*" = "history gatehouse -n gateway -o json" ] && echo '${history}'\n`)
  chmodSync(path.join(tools, 'helm'), 0o755)
  const env = { ...settingsFor(t, database.config), PATH: `${tools}:${process.env['PATH']}` }
  const { status, stdout } = await gatehouseHere(['preflight', '--json', '--chart', 'app-1.6.0', '--helm-release', 'gateway/gatehouse'], {
    env,
  })
  t.is(status, 0, stdout)
  const report = JSON.parse(stdout) as Report
  t.deepEqual(
    report.checks.map(({ id }) => id),
    preflightChecks.map(({ id }) => id),
  )
  t.deepEqual(
    report.checks.filter((check) => check.status !== 'ok').map(({ id, status: found, detail }) => `${id} ${found}: ${detail}`),
    [],
  )
  t.is(report.checks.find(({ id }) => id === 'helm-state')?.detail, 'revision 7 of gatehouse (app-1.6.0) is deployed')
})

test('a failure ends with 1, and says what to do', async (t) => {
  const env = { DB_HOST: '127.0.0.1', DB_PORT: String(await freePort()), DATA_DIR: temporaryFolder(t) }
  const { status, stdout } = gatehouse(['preflight', '--quick'], { env })
  t.is(status, 1)
  t.regex(stdout, /^fail {4}postgres-connection {11}nothing listens at 127\.0\.0\.1:\d+: /m)
  t.regex(stdout, /^ +-> Correct the fault in the message, and run this again\.$/m)
  t.regex(stdout, /^skipped postgres-version {14}the database cannot be reached$/m)
  t.regex(stdout, /\n\d+ checks: \d+ ok, \d+ warnings, [12] failed, \d+ skipped\n$/)
  t.notRegex(stdout, /helm-state|volumes-writable/)
})

test('strict: a warning ends with 1; wrong options with 2', async (t) => {
  const env = { DATA_DIR: temporaryFolder(t), DB_USER: 'nobody' }
  t.is((await gatehouseHere(['preflight', '--quick'], { env })).status, 0)
  t.is((await gatehouseHere(['preflight', '--quick', '--strict'], { env })).status, 1)
  t.regex((await gatehouseHere(['preflight', '--as', 'root'])).stderr, /write uid:gid, such as 10001:0/)
  t.is((await gatehouseHere(['preflight', '--helm-history', '/nowhere'])).status, 2)
  const another = await gatehouseHere(['preflight', '--quick', '--helm-history', 'package.json'], { env })
  t.is(another.status, 2)
  t.regex(another.stderr, /^error: package\.json has not the form of "helm history RELEASE -o json"$/m)
  t.is((await gatehouseHere(['preflight', '--timeout', '0s'])).status, 2)
})

test('the identifiers are stable words, each once', (t) => {
  const ids = preflightChecks.map(({ id }) => id)
  t.is(new Set(ids).size, ids.length)
  t.true(ids.every((id) => /^[a-z]+(?:-[a-z]+)*$/.test(id)))
  t.true(ids.includes('volumes-writable'))
})
