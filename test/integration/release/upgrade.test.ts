import test, { type ExecutionContext } from 'ava'
import type { ClientConfig } from 'pg'
import { readBackfills, steerBackfills } from '../../../src/app/database/schema/backfills.ts'
import { finalize, planFinalize, type FinalizeOptions } from '../../../src/app/database/schema/finalize.ts'
import { readMigrations } from '../../../src/app/database/schema/migration-files.ts'
import { migrate } from '../../../src/app/database/schema/migrate.ts'
import { readHistory, readReleaseState } from '../../../src/app/database/schema/release-state.ts'
import { servingName } from '../../../src/app/database/serving.ts'
import { rollbackVerdict } from '../../../src/release/rollback.ts'
import { startApp } from '../../support/app.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { withMigrations } from '../../support/migration-folder.ts'
import { record } from '../../support/release-project.ts'
import { describeSchema } from '../../support/schema.ts'

const before = {
  'v01.05.00/001-things':
    '-- phase: expand\nCREATE TABLE things (id integer PRIMARY KEY, old_name text, touched integer NOT NULL DEFAULT 0);',
}
const after = {
  ...before,
  'v01.11.00/001-name': '-- phase: expand\nALTER TABLE things ADD COLUMN name text;',
  'v01.11.00/002-name-of-old-rows': `-- phase: backfill
WITH batch AS (SELECT id FROM things WHERE id > coalesce($1, '0')::integer ORDER BY id LIMIT $2),
filled AS (UPDATE things SET name = upper(old_name), touched = touched + 1 FROM batch WHERE things.id = batch.id)
SELECT max(id)::text AS cursor, count(*) AS processed FROM batch`,
  'v01.12.00/900-drop-old-name': '-- phase: contract\nALTER TABLE things DROP COLUMN old_name;',
}
const backfill = 'v01.11.00/002-name-of-old-rows'
const contract = 'v01.12.00/900-drop-old-name'
const rows = 2500

const table: FinalizeOptions['table'] = {
  releases: [
    record({ version: '1.3.0' }),
    record({ version: '1.10.0' }),
    record({
      version: '1.11.0',
      migrations: [
        { id: 'v01.11.00/001-name', phase: 'expand' },
        { id: backfill, phase: 'backfill' },
      ],
    }),
    record({ version: '1.12.0', migrations: [{ id: contract, phase: 'contract', needs: [backfill], minApp: '1.11.0' }] }),
  ],
  charts: [{ version: '1.3.0', date: '2025-10-17', appVersion: '1.3.0' }],
}

const toClient = ({ config }: TestDatabase): ClientConfig => ({
  host: config.host,
  port: config.port,
  user: config.user,
  password: config.password?.reveal(),
  database: config.name,
})

interface Upgrade {
  readonly database: TestDatabase
  readonly client: ClientConfig
  /** The folder of the newer release. */
  readonly directory: string
  readonly options: FinalizeOptions
}

/** An installation of 1.10.0 with data, migrated by 1.12.0 and not finalized. */
async function upgraded(t: ExecutionContext): Promise<Upgrade> {
  const database = await testDatabase({ empty: true })
  t.teardown(database.drop)
  const client = toClient(database)
  await migrate(client, silent, {
    directory: await withMigrations(t, before),
    deployment: { release: '1.10.0', chart: '1.5.1', image: 'gatehouse:1.10.0' },
  })
  await inDatabase(client, (connected) => connected.query(`INSERT INTO things SELECT n, 'thing ' || n FROM generate_series(1, ${rows}) n`))
  const directory = await withMigrations(t, after)
  await migrate(client, silent, { directory, deployment: { release: '1.12.0' } })
  return { database, client, directory, options: { directory, table, deployment: { release: '1.12.0' } } }
}

const stateOf = (client: ClientConfig) => inDatabase(client, readReleaseState)
const backfillsOf = async ({ client, directory }: Upgrade) => {
  const files = await readMigrations(directory)
  return inDatabase(client, (connected) => readBackfills(connected, files))
}
const steer = ({ client }: Upgrade, change: Parameters<typeof steerBackfills>[2]) =>
  inDatabase(client, (connected) => steerBackfills(connected, null, change))
const settings = { RELEASE_LEVEL: '', ROLES: 'control,jobs' }

test('a new database begins at the release that makes it, with nothing to fill and nothing to remove', async (t) => {
  const database = await testDatabase({ empty: true })
  t.teardown(database.drop)
  const client = toClient(database)
  const directory = await withMigrations(t, after)
  const applied = await migrate(client, silent, { directory, deployment: { release: '1.12.0', chart: '1.6.0' } })
  t.is(applied.at(-1), contract)
  t.like(await stateOf(client), { level: '1.12.0', minAppVersion: '1.12.0', schemaHead: contract, encryptionKeyFingerprint: null })
  t.like(await inDatabase(client, (connected) => readHistory(connected, 5)), [
    { action: 'install', from: null, to: '1.12.0', status: 'done', chart: '1.6.0', migrations: applied, error: null },
  ])
  const options = { directory, table, deployment: { release: '1.12.0' } }
  t.deepEqual(await planFinalize(client, options), { from: '1.12.0', to: '1.12.0', releases: [], contracts: [], obstacles: [] })
  t.deepEqual(await migrate(client, silent, { directory, deployment: { release: '1.12.0' } }), [])
  t.is((await inDatabase(client, (connected) => readHistory(connected, 5))).length, 1)
})

test('an upgrade: expand, backfill, finalize, each in its time, and the schema of a new installation at its end', async (t) => {
  const upgrade = await upgraded(t)
  const { client, options, database, directory } = upgrade
  t.like(await stateOf(client), { level: '1.10.0', minAppVersion: '1.10.0' })
  t.true(rollbackVerdict(table, { level: '1.10.0', minAppVersion: '1.10.0' }, '1.10.0').allowed)
  const notYet = await finalize(client, silent, options)
  t.deepEqual(notYet.obstacles, [`the backfill ${backfill} is not done: run "gatehouse backfill wait"`])
  t.deepEqual(await steer(upgrade, { paused: true, rate: 100_000 }), [backfill])

  const app = await startApp({ database, env: settings, overrides: { migrations: directory } })
  t.teardown(() => app.stop())
  t.is(app.deps.level.release, '1.10.0')
  t.like(await backfillsOf(upgrade), [{ id: backfill, release: '1.11.0', state: 'paused', processed: 0 }])
  await steer(upgrade, { paused: false })
  await eventually(async () => (await backfillsOf(upgrade))[0]?.state === 'done', 10_000, 'the backfill')
  t.like(await backfillsOf(upgrade), [{ processed: rows, error: null, rate: 100_000 }])
  const once = `SELECT count(*)::int AS n FROM things WHERE touched = 1 AND name = 'THING ' || id`
  t.is((await inDatabase(client, (connected) => connected.query<{ n: number }>(once))).rows[0]?.n, rows)

  t.deepEqual(await planFinalize(client, options), {
    from: '1.10.0',
    to: '1.12.0',
    releases: ['1.11.0', '1.12.0'],
    contracts: [contract],
    obstacles: [],
  })
  await finalize(client, silent, options)
  t.like(await stateOf(client), { level: '1.12.0', minAppVersion: '1.12.0', schemaHead: contract })
  await eventually(() => app.deps.level.atLeast('1.12.0'), 10_000, 'the level in the process that runs')
  t.deepEqual(
    (await inDatabase(client, (connected) => readHistory(connected, 5))).map(({ action, from, to, status, image }) => [
      action,
      from,
      to,
      status,
      image,
    ]),
    [
      ['finalize', '1.10.0', '1.12.0', 'done', null],
      ['migrate', '1.10.0', '1.12.0', 'done', null],
      ['install', null, '1.10.0', 'done', 'gatehouse:1.10.0'],
    ],
  )
  const verdict = rollbackVerdict(table, { level: '1.12.0', minAppVersion: '1.12.0' }, '1.11.0')
  t.like(verdict, { allowed: false, oldest: '1.12.0' })
  t.regex(verdict.reason, /1\.12\.0 is the oldest release that the schema accepts/)
  await t.throwsAsync(migrate(client, silent, { directory, deployment: { release: '1.11.0' } }), {
    name: 'BootRefusal',
    message: /^release 1\.11\.0 is older than this database accepts, which is 1\.12\.0 or later/,
  })

  const fresh = await testDatabase({ empty: true })
  t.teardown(fresh.drop)
  await migrate(toClient(fresh), silent, { directory, deployment: { release: '1.12.0' } })
  t.deepEqual(await inDatabase(client, describeSchema), await inDatabase(toClient(fresh), describeSchema))
})

test('the former release runs again on the new schema until it is finalized', async (t) => {
  const { client, database, directory, options } = await upgraded(t)
  t.deepEqual(await migrate(client, silent, { directory: await withMigrations(t, before), deployment: { release: '1.10.0' } }), [])
  t.like(await stateOf(client), { level: '1.10.0', minAppVersion: '1.10.0' })
  t.like((await inDatabase(client, (connected) => readHistory(connected, 1)))[0], { action: 'migrate', from: '1.12.0', to: '1.10.0' })
  await migrate(client, silent, { directory, deployment: { release: '1.12.0' } })
  await inDatabase(client, (connected) => connected.query(`UPDATE backfill_state SET done = true`))

  // A process of the former release that still serves.
  await inDatabase({ ...database.superuser, application_name: servingName('1.11.2') }, async () => {
    const held = await finalize(client, silent, options)
    t.deepEqual(held.obstacles, ['1 process of release 1.11.2 still runs: let the rollout end'])
    t.deepEqual((await planFinalize(client, { ...options, force: 'it hangs' })).obstacles, [])
  })
  t.deepEqual((await finalize(client, silent, options)).obstacles, [])
})

test('what cannot be finalized is told', async (t) => {
  const { client, options, directory } = await upgraded(t)
  const obstacles = async (to: string) => (await planFinalize(client, { ...options, to })).obstacles
  t.regex((await obstacles('1.13.0'))[0] ?? '', /this is release 1\.12\.0, which cannot finalize 1\.13\.0/)
  t.deepEqual(await obstacles('1.9.0'), ['1.10.0 is finalized already, and a level does not sink'])
  t.deepEqual(await obstacles('1.10.0'), [])
  t.deepEqual(await obstacles('1.11.0'), [`the backfill ${backfill} is not done: run "gatehouse backfill wait"`])
  await inDatabase(client, (connected) => connected.query(`DELETE FROM schema_migrations WHERE id = 'v01.11.00/001-name'`))
  t.true((await obstacles('1.12.0')).includes('the migration v01.11.00/001-name is pending: run "gatehouse migrate"'))
  const empty = await testDatabase({ empty: true })
  t.teardown(empty.drop)
  const never = await planFinalize(toClient(empty), { ...options, directory })
  t.is(never.from, null)
  t.is(never.obstacles[0], 'the database was never migrated: run "gatehouse migrate"')
})

test('a finalize that was cut off keeps older releases out, and the next one goes on', async (t) => {
  const { client, options } = await upgraded(t)
  await inDatabase(client, (connected) => connected.query(`UPDATE backfill_state SET done = true`))
  const cut = finalize(client, silent, {
    ...options,
    onStatement: () => Promise.reject(new Error('the machine went away')),
  })
  await t.throwsAsync(cut, { message: 'the machine went away' })
  t.like(await stateOf(client), { level: '1.10.0', minAppVersion: '1.12.0' })
  t.like((await inDatabase(client, (connected) => readHistory(connected, 1)))[0], {
    action: 'finalize',
    status: 'failed',
    error: 'the machine went away',
  })
  await inDatabase(client, (connected) => connected.query(`UPDATE release_history SET status = 'running' WHERE status = 'failed'`))
  t.deepEqual((await finalize(client, silent, options)).contracts, [contract])
  t.like(await stateOf(client), { level: '1.12.0', schemaHead: contract })
  t.like(await inDatabase(client, (connected) => readHistory(connected, 2)), [
    { status: 'done' },
    { status: 'failed', error: 'it was cut off' },
  ])
})

test('a backfill keeps to its rate, holds when told, and a failing batch is tried again and holds up no other', async (t) => {
  const upgrade = await upgraded(t)
  const { client, database } = upgrade
  const directory = await withMigrations(t, {
    ...after,
    'v01.11.00/003-other': `-- phase: backfill
WITH batch AS (SELECT id FROM things WHERE id > coalesce($1, '0')::integer ORDER BY id LIMIT $2)
SELECT max(id)::text AS cursor, count(*) AS processed FROM batch`,
  })
  await migrate(client, silent, { directory, deployment: { release: '1.12.0' } })
  await inDatabase(client, (connected) =>
    connected.query(`ALTER TABLE things ADD CONSTRAINT no_name CHECK (name IS NULL); UPDATE backfill_state SET rate = 1000`),
  )
  const app = await startApp({ database, env: settings, overrides: { migrations: directory } })
  t.teardown(() => app.stop())
  const find = async (id: string) => (await backfillsOf({ ...upgrade, directory })).find((one) => one.id === id)
  await eventually(async () => (await find(backfill))?.error !== null, 10_000, 'the failure')
  t.like(await find(backfill), { state: 'running', processed: 0 })
  t.regex((await find(backfill))?.error ?? '', /no_name/)
  const from = performance.now()
  await eventually(async () => (await find('v01.11.00/003-other'))?.state === 'done', 10_000, 'the other backfill')
  t.true(performance.now() - from > 1000, '2500 rows at 1000 a second take a while')
  await inDatabase(client, (connected) =>
    connected.query('ALTER TABLE things DROP CONSTRAINT no_name; UPDATE backfill_state SET rate = 100000'),
  )
  await eventually(async () => (await find(backfill))?.state === 'done', 10_000, 'the backfill that failed')
  t.like(await find(backfill), { processed: rows, error: null })
})

test('a backfill that is no statement of a cursor and a size is refused by name', async (t) => {
  const directory = await withMigrations(t, { 'v01.11.00/001-wrong': '-- phase: backfill\nUPDATE workspaces SET name = name;' })
  await t.throwsAsync(readMigrations(directory), {
    message: /^backfill v01\.11\.00\/001-wrong must be one statement that takes the cursor/,
  })
})
