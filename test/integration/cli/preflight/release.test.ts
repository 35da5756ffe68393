import test from 'ava'
import { version } from '../../../../src/config/version.ts'
import { inDatabase, testDatabase, type TestDatabase } from '../../../support/database.ts'
import { settingsFor, verdictOf } from '../../../support/preflight.ts'

const chart = (env: Readonly<Record<string, string>>, given: string | null = null) => verdictOf('chart-floor', env, { chart: given })

test('the chart that deploys this release', async (t) => {
  t.like(await chart({}), { status: 'skipped' })
  t.deepEqual(await chart({ DEPLOYMENT_CHART: 'app-1.6.0' }), { status: 'ok', detail: `app-1.6.0 deploys release ${version()} (>=1.6.0)` })
  t.deepEqual(await chart({ DEPLOYMENT_CHART: 'app-1.6.0' }, '1.5.1'), {
    status: 'fail',
    detail: `release ${version()} needs a chart >=1.6.0, and app-1.5.1 deployed it`,
    fix: 'Deploy it with the chart app-1.6.0 or a later one, or set CHART_CHECK=warn to go on all the same.',
  })
  t.like(await chart({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }), { status: 'fail' })
  t.like(await chart({ KUBERNETES_SERVICE_HOST: '10.0.0.1', CHART_CHECK: 'warn' }), { status: 'warn' })
})

/** A database whose own facts are scripted by the test. */
async function installed(
  database: TestDatabase,
  state: { readonly release: string; readonly level?: string; readonly accepts?: string },
): Promise<void> {
  const { release, level = release, accepts = '1.3.0' } = state
  await inDatabase(database.superuser, async (client) => {
    await client.query('DELETE FROM release_history; DELETE FROM release_state')
    await client.query(`INSERT INTO release_state (level, schema_head, min_app_version) VALUES ($1, 'x', $2)`, [level, accepts])
    await client.query(
      `INSERT INTO release_history (action, to_release, performed_by, status, started_at) VALUES ('install', $1, 'a test', 'done', now())`,
      [release],
    )
  })
}

test('the way from what is installed', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const empty = await testDatabase({ empty: true })
  t.teardown(empty.drop)
  const env = settingsFor(t, database.config)
  const verdict = (more: Readonly<Record<string, string>> = {}) => verdictOf('upgrade-path', { ...env, ...more })
  t.deepEqual(await verdictOf('upgrade-path', settingsFor(t, empty.config)), {
    status: 'ok',
    detail: `release ${version()} will be installed`,
  })
  await installed(database, { release: version() })
  t.deepEqual(await verdict(), { status: 'ok', detail: `release ${version()} is installed` })
  await installed(database, { release: '1.11.2' })
  t.deepEqual(await verdict(), { status: 'ok', detail: `from 1.11.2 to ${version()} at once` })
  await installed(database, { release: '1.3.0' })
  t.deepEqual(await verdict(), {
    status: 'ok',
    detail: `from 1.3.0 to ${version()} at once; on the way breaks container-non-root (see the check volumes-writable)`,
  })
  t.deepEqual(await verdict({ DATA_DIR: 'src' }), {
    status: 'fail',
    detail: `from 1.3.0 to ${version()} the upgrade must halt: Files that the root user wrote change their owner once, at this release.`,
    fix: `Upgrade in steps: 1.4.0 with app-1.4.1, then ${version()} with app-1.6.0.`,
  })
  await installed(database, { release: '9.1.0', level: '1.12.0' })
  t.deepEqual(await verdict(), { status: 'ok', detail: `release ${version()} may run after 9.1.0; 1.12.0 is finalized` })
  await installed(database, { release: '9.1.0', accepts: '9.0.0' })
  t.like(await verdict(), { status: 'fail', detail: `the schema accepts release 9.0.0 or later, and this is ${version()}` })
})

test('backfills: open, paused, failed, done', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const env = settingsFor(t, database.config)
  const write = (sql: string) => inDatabase(database.superuser, (client) => client.query(sql))
  const verdict = () => verdictOf('backfills-finished', env)
  t.like(await verdict(), { status: 'ok', detail: 'none is open' })
  await write(`INSERT INTO backfill_state (id) VALUES ('v01.05.00/002-paths')`)
  t.like(await verdict(), {
    status: 'warn',
    detail: 'open: v01.05.00/002-paths',
    fix: 'Run "gatehouse backfill wait", with the release that is installed.',
  })
  await write(`UPDATE backfill_state SET error = 'out of disk'`)
  t.like(await verdict(), { detail: 'open: v01.05.00/002-paths (failed: out of disk)' })
  await write(`UPDATE backfill_state SET paused = true`)
  t.like(await verdict(), {
    detail: 'open: v01.05.00/002-paths (paused)',
    fix: 'Run "gatehouse backfill resume", then "gatehouse backfill wait".',
  })
  await write(`UPDATE backfill_state SET done = true`)
  t.like(await verdict(), { status: 'ok' })
})
