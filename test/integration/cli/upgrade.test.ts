import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { readMigrations } from '../../../src/app/database/schema/migration-files.ts'
import { servingName } from '../../../src/app/database/serving.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { inDatabase, testDatabase, type TestDatabase, type TestDatabaseOptions } from '../../support/database.ts'
import { verdictOf } from '../../support/preflight.ts'
import { environment } from '../../support/process.ts'
import { startProduct } from '../../support/product-process.ts'

/** `gatehouse` on a database of the test's own, which SQL may change. */
async function installation(t: ExecutionContext, options: TestDatabaseOptions & { readonly sql?: string } = {}) {
  const database: TestDatabase = await testDatabase(options)
  t.teardown(database.drop)
  const sql = (text: string) => inDatabase(database.superuser, (client) => client.query(text))
  if (options.sql !== undefined) await sql(options.sql)
  const run = (...args: readonly string[]) =>
    gatehouseHere(args, { env: { ...environment(database.config), DEPLOYMENT_CHART: 'app-1.6.0', DEPLOYMENT_IMAGE: 'gatehouse:1.12.0' } })
  const json = async (...args: readonly string[]): Promise<unknown> => JSON.parse((await run(...args, '--json')).stdout)
  return { database, sql, run, json }
}

const level = (version: string) => `UPDATE release_state SET level = '${version}', min_app_version = '${version}'`
const backfills = (...ids: readonly string[]) => ids.map((id) => `INSERT INTO backfill_state (id) VALUES ('${id}');`).join('')

const idsOf = async (wanted: string) => (await readMigrations()).filter(({ phase }) => phase === wanted).map(({ id }) => id)

test('migrate, on an empty database and again, with what it tells before and after', async (t) => {
  const { run, json } = await installation(t, { empty: true })
  const [expand, contract] = [await idsOf('expand'), await idsOf('contract')]
  const none = { release: '1.12.0', level: null, schemaHead: null, minAppVersion: null, encryptionKeyFingerprint: null, history: [] }
  t.like(await json('migrate', 'status'), { ...none, pending: { expand, backfill: await idsOf('backfill'), contract } })
  t.regex((await run('migrate', 'status')).stdout, /^finalized level {5}none yet$/m)
  t.like(await json('migrate', 'plan'), { pending: expand.map((id) => ({ id })) })
  t.regex((await run('migrate', 'plan')).stdout, /^v01\.03\.00\/001-tenancy {2}\d+ statements, in one transaction$/m)
  t.like(await json('rollback-check', '1.11.2'), { allowed: true, oldest: null })
  t.is((await run('rollback-check', '1.11.2')).status, 0)

  const first = await run('migrate')
  t.is(first.status, 0, first.stderr)
  t.is(first.stdout, `Applied ${[...expand, ...contract].join(', ')}.\n`)
  t.regex(first.stderr, /migration applied {2}migration=v01\.03\.00\/001-tenancy/)
  t.is((await run('migrate')).stdout, 'The schema is up to date.\n')
  t.deepEqual(await json('migrate'), { applied: [] })
  t.deepEqual(await json('migrate', 'plan'), { pending: [] })
  t.like(await json('migrate', 'status'), {
    level: '1.12.0',
    minAppVersion: '1.12.0',
    schemaHead: [...expand, ...contract].toSorted().at(-1),
    pending: { expand: [], backfill: [], contract: [] },
    history: [{ action: 'install', from: null, to: '1.12.0', status: 'done', chart: '1.6.0', image: 'gatehouse:1.12.0', error: null }],
  })
  t.regex((await run('migrate', 'status')).stdout, /Z {2}install 1\.12\.0 {2}done, by gatehouse_test@\S+$/m)
})

test('a new installation at a lower level is finalized there: every level above can be reached, and earlier releases may run', async (t) => {
  const { database } = await installation(t, { empty: true })
  const run = (...args: readonly string[]) =>
    gatehouseHere(args, { env: { ...environment(database.config), RELEASE_LEVEL: '1.3.0', CHART_CHECK: 'warn' } })
  t.is((await run('migrate')).status, 0)
  t.like(JSON.parse((await run('migrate', 'status', '--json')).stdout), { release: '1.12.0', level: '1.3.0', minAppVersion: '1.3.0' })
  t.is((await run('rollback-check', '1.11.2')).status, 0)
  const raised = await run('finalize', '--to', '1.4.0')
  t.is(raised.status, 0, raised.stdout + raised.stderr)
  t.regex((await run('rollback-check', '1.3.3')).stdout, /1\.4\.0 is the oldest release that the schema accepts/)
  t.is((await run('rollback-check', '1.4.0')).status, 0)
})

test('a chart that is too old does not migrate either, unless CHART_CHECK is warn', async (t) => {
  const { database } = await installation(t, { empty: true })
  const migrate = (env: Readonly<Record<string, string>>) =>
    gatehouseHere(['migrate', '--json'], { env: { ...environment(database.config), ...env } })
  for (const [env, why] of [
    [{ DEPLOYMENT_CHART: 'app-1.5.1' }, 'app-1.5.1 deployed it'],
    [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, 'DEPLOYMENT_CHART is not set'],
  ] as const) {
    const { status, stderr } = await migrate(env)
    t.is(status, 78, why)
    t.regex(stderr, /^error: release 1\.12\.0 needs a chart >=1\.6\.0, and /)
    t.true(stderr.includes(why), stderr)
    t.deepEqual(
      await inDatabase(
        database.superuser,
        async (client) => (await client.query(`SELECT FROM pg_tables WHERE tablename = 'schema_migrations'`)).rows,
      ),
      [],
    )
  }
  const warned = await migrate({ DEPLOYMENT_CHART: 'app-1.5.1', CHART_CHECK: 'warn' })
  t.is(warned.status, 0, warned.stderr)
  t.regex(warned.stderr, /app-1\.5\.1 deployed it/)
})

test('SIGTERM ends a migration in order, while it waits too', async (t) => {
  const { database } = await installation(t, { empty: true })
  await inDatabase(database.superuser, async (holder) => {
    await holder.query('SELECT pg_advisory_lock(1734440040, 1)')
    const product = startProduct(environment(database.config), ['migrate'])
    await product.until(/another process migrates this database/)
    product.child.kill('SIGTERM')
    t.is(await product.exit(), 75)
    t.regex(product.output(), /error: stopped: complete steps stay/)
  })
})

test('a database that goes away meanwhile is waited for; without time for that it is told as such', async (t) => {
  const { database } = await installation(t, { empty: true })
  let connections = 0
  const { host, port: behind } = database.config
  // The first is the one that proves that the database is there.
  const proxy = createServer((client) => {
    connections += 1
    if (connections === 2 || connections === 4) {
      client.destroy()
      return
    }
    const server = connect(behind, host)
    client.on('error', () => {}).pipe(server)
    server.on('error', () => {}).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => void proxy.close())
  const address = proxy.address()
  const env = { ...environment(database.config), DB_PORT: String(typeof address === 'object' ? address?.port : '') }
  const late = await gatehouseHere(['migrate', '--wait', '1ms'], { env })
  t.is(late.status, 69)
  t.regex(late.stderr, /^error: cannot connect to PostgreSQL at \S+: Connection terminated unexpectedly$/m)
  const patient = await gatehouseHere(['migrate'], { env })
  t.is(patient.status, 0, patient.stderr)
  t.regex(patient.stderr, /Connection terminated unexpectedly {2}retryInMs=500\n/)
})

test('why what the guards refuse was done stands in the history', async (t) => {
  const { run, json, sql, database } = await installation(t, { sql: level('1.11.0') })
  await sql(`UPDATE release_history SET to_release = '1.13.0'`)
  const reason = 'the new release is too slow for us'
  const back = await gatehouseHere(['migrate'], { env: { ...environment(database.config), DEPLOYMENT_REASON: reason } })
  t.is(back.status, 0, back.stderr)
  t.like(await json('migrate', 'status'), { history: [{ action: 'migrate', from: '1.13.0', to: '1.12.0', reason }, { reason: null }] })
  await inDatabase({ ...database.superuser, application_name: servingName('1.11.2') }, async () => {
    t.is((await run('finalize', '--force', ' ')).status, 2)
    t.is((await run('finalize', '--force', 'the node is lost')).status, 0)
  })
  t.like(await json('migrate', 'status'), { history: [{ action: 'finalize', to: '1.12.0', reason: 'the node is lost' }, { reason }] })
  t.regex((await run('migrate', 'status')).stdout, /finalize 1\.11\.0 -> 1\.12\.0 {2}done, by \S+: because "the node is lost"$/m)
})

test('an older release does not migrate what it must not touch', async (t) => {
  const { run } = await installation(t, { sql: level('1.13.0') })
  const { status, stderr } = await run('migrate')
  t.is(status, 78)
  t.is(
    stderr,
    'error: release 1.12.0 is older than this database accepts, which is 1.13.0 or later: run release 1.13.0 or later, or restore a backup from before it was finalized\n',
  )
})

test('finalize tells, does, and tells that it is done; rollback-check follows', async (t) => {
  const { run, json, sql, database } = await installation(t, { sql: level('1.11.0') })
  t.like(await json('rollback-check', '1.11.0'), { to: '1.11.0', allowed: true, oldest: '1.11.0', chart: 'app-1.5.1' })
  t.is((await run('rollback-check', '1.11.2')).status, 0)
  t.like(await run('finalize', '--dry-run'), {
    status: 0,
    stdout: [
      'This would finalize 1.12.0, from 1.11.0:',
      '  features of 1.11.1, 1.11.2, 1.12.0 would come on',
      '  releases before 1.12.0 could not run again',
      '',
    ].join('\n'),
  })
  await sql(backfills('v01.11.00/001-something'))
  await inDatabase({ ...database.superuser, application_name: servingName('1.11.2') }, async () => {
    const held = await run('finalize')
    t.is(held.status, 1)
    t.is(
      held.stdout,
      '1.12.0 cannot be finalized now, and no change was made:\n  1 process of release 1.11.2 still runs: let the rollout end\n',
    )
    t.like(await json('finalize', '--force', 'it hangs', '--dry-run'), { obstacles: [], done: false })
  })
  t.like(await json('finalize', '--to', '1.11.2'), {
    from: '1.11.0',
    to: '1.11.2',
    releases: ['1.11.1', '1.11.2'],
    obstacles: [],
    done: true,
  })
  t.like(await json('migrate', 'status'), { level: '1.11.2', minAppVersion: '1.11.2' })
  t.regex((await run('finalize')).stdout, /^1\.12\.0 is finalized, from 1\.11\.2:\n {2}features of 1\.12\.0 are on\n/)
  t.like(await run('finalize'), { status: 0, stdout: '1.12.0 is finalized already.\n' })
  t.is((await run('finalize', '--to', '1.9.5')).status, 2)
  t.is((await run('finalize', '--to', '1.11.2')).status, 1)

  const refused = await run('rollback-check', '1.11.2')
  t.is(refused.status, 1)
  t.regex(refused.stdout, /^1\.11\.2 cannot run again\. .*1\.12\.0 is the oldest release that the schema accepts/)
  t.like(await json('rollback-check', '1.11.2'), { allowed: false, oldest: '1.12.0' })
  t.like(await run('rollback-check', '1.12.0'), { status: 0 })
  t.is((await run('rollback-check', '1.11.7')).status, 2)
  await sql(`UPDATE release_history SET status = 'running'`)
  await inDatabase(database.superuser, async (client) => {
    await client.query('SELECT pg_advisory_lock(1734440040, 1)')
    t.regex((await run('migrate', 'status')).stdout, /finalize 1\.11\.2 -> 1\.12\.0  running, by \S+$/m)
    t.like(await run('rollback-check', '1.12.0'), {
      status: 1,
      stderr: 'error: "gatehouse finalize" is at work on the database: ask again when it is done\n',
    })
  })
  t.like(await json('rollback-check', '1.12.0'), { allowed: true })
  t.like(await verdictOf('schema', environment(database.config)), {
    status: 'warn',
    detail: '"gatehouse finalize" to 1.12.0 was cut off: it is marked as running, and no session holds the migration lock',
  })
  t.regex((await run('migrate', 'status')).stdout, /finalize 1\.11\.2 -> 1\.12\.0  failed, by \S+: it was cut off$/m)
})

test('backfills are told, held, let go and waited for', async (t) => {
  const { run, json, sql } = await installation(t)
  await sql('DELETE FROM backfill_state')
  t.like(await run('backfill', 'status'), { status: 0, stdout: 'There are no backfills.\n' })
  t.like(await run('backfill', 'wait'), { status: 0, stdout: 'There are no backfills.\n' })
  t.like(await run('backfill', 'pause'), { status: 0, stdout: 'No backfill is open.\n' })

  await sql(backfills('v01.11.00/001-a', 'v01.11.00/002-b'))
  t.deepEqual(await json('backfill', 'pause'), ['v01.11.00/001-a', 'v01.11.00/002-b'])
  t.like(await json('backfill', 'status'), [{ id: 'v01.11.00/001-a', state: 'paused', processed: 0, rate: 5000 }, { state: 'paused' }])
  t.is((await run('backfill', 'resume', 'v01.11.00/002-b', '--rate', '70')).stdout, 'Resumed v01.11.00/002-b.\n')
  t.is(
    (await run('backfill', 'status')).stdout,
    'v01.11.00/001-a  paused  0 rows, at most 5000 a second\nv01.11.00/002-b  running  0 rows, at most 70 a second\n',
  )
  t.like(await run('backfill', 'pause', 'v01.11.00/009-z'), {
    status: 1,
    stderr: 'error: v01.11.00/009-z: there is no such backfill, or it is done\n',
  })
  t.is((await run('backfill', 'resume', '--rate', 'fast')).status, 2)
  t.is((await run('backfill', 'wait', 'v01.11.00/009-z')).status, 1)

  const late = await run('backfill', 'wait', '--timeout', '800ms')
  t.is(late.status, 75)
  t.regex(late.stderr, /^v01\.11\.00\/001-a {2}paused {2}0 rows.*\nv01\.11\.00\/002-b .*\nno process fills at the moment/)
  await sql(
    `UPDATE backfill_state SET done = true, processed = 12 WHERE id LIKE '%b'; UPDATE backfill_state SET error = 'no such column' WHERE id LIKE '%a'`,
  )
  t.like(await run('backfill', 'wait', 'v01.11.00/002-b'), { status: 0, stdout: 'v01.11.00/002-b  done  12 rows\n' })
  t.regex((await run('backfill', 'status')).stdout, /paused {2}0 rows, at most 5000 a second {2}\(last batch failed: no such column\)/)
})

test('a database that is not there, and settings that are wrong, have codes of their own', async (t) => {
  for (const args of [['migrate'], ['migrate', 'status'], ['finalize'], ['rollback-check', '1.11.2'], ['backfill', 'status']]) {
    const away = await gatehouseHere([...args, '--wait', '1ms'], { env: { DB_HOST: '127.0.0.1', DB_PORT: '1' } })
    t.is(away.status, 69, args.join(' '))
    t.regex(away.stderr, /error: nothing listens at 127\.0\.0\.1:1/)
    t.is((await gatehouseHere(args, { env: { PORT: 'eighty' } })).status, 78, args.join(' '))
  }
})
