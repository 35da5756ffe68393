import { setImmediate as turn } from 'node:timers/promises'
import test from 'ava'
import { Client } from 'pg'
import { eventually, setStage, type Stage } from './setup.ts'

let stage: Stage
test.before(async () => {
  stage = await setStage()
})
test.after.always(() => stage.close())

test.serial('200 keys revoked under load: none is accepted 1 s after its revocation, in either of two processes', async (t) => {
  const keys: { id: string; secret: string }[] = []
  while (keys.length < 200) keys.push(await stage.createKey())
  const snapshots = [stage.snapshot(), stage.snapshot()]
  for (const snapshot of snapshots) for (const { secret } of keys) t.truthy(await snapshot.key(secret))
  const revokedAt = new Map<string, number>()
  const acceptedAt = new Map<string, number>()
  let checks = 0
  const ended = new AbortController()
  const check = async () => {
    while (!ended.signal.aborted) {
      for (const snapshot of snapshots) {
        for (const { id, secret } of keys) {
          const view = await snapshot.key(secret)
          checks += 1
          if (view !== null) acceptedAt.set(id, performance.now())
        }
      }
      await turn()
    }
  }
  const load = check()
  for (const { id } of keys) {
    await stage.archiveKey(id)
    revokedAt.set(id, performance.now())
  }
  for (const snapshot of snapshots) await eventually(() => keys.every(({ secret }) => snapshot.key(secret) === null), 5000)
  ended.abort()
  await load
  const lags = keys.map(({ id }) => (acceptedAt.get(id) ?? 0) - (revokedAt.get(id) ?? 0))
  t.true(Math.max(...lags) <= 1000)
  t.is(acceptedAt.size, keys.length)
  t.log(`${checks} checks; the last acceptance came ${Math.max(0, Math.round(Math.max(...lags)))} ms after its revocation`)
})

test.serial('a lost connection does not delay a revocation beyond 1 s', async (t) => {
  const { id, secret } = await stage.createKey()
  const snapshot = stage.snapshot()
  t.truthy(await snapshot.key(secret))
  const { rowCount } = await stage.sql.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_snapshot_xmin%' AND pid <> pg_backend_pid()`,
  )
  t.true((rowCount ?? 0) > 0)
  await stage.archiveKey(id)
  await eventually(async () => (await snapshot.key(secret)) === null, 1000)
})

test.serial('the poll finds what no notification told', async (t) => {
  const { id, secret } = await stage.createKey()
  const snapshot = stage.snapshot()
  t.truthy(await snapshot.key(secret))
  await silently([`UPDATE api_keys SET status = 'archived' WHERE id = '${id}'`, recordChange(id)])
  await eventually(async () => (await snapshot.key(secret)) === null, 1000)
  t.pass()
})

test.serial('the poll finds a change that was committed after later ones', async (t) => {
  const late = await stage.createKey()
  const early = await stage.createKey()
  const snapshot = stage.snapshot()
  t.truthy(await snapshot.key(late.secret))
  t.truthy(await snapshot.key(early.secret))
  await silently([`UPDATE api_keys SET status = 'archived' WHERE id = '${late.id}'`, recordChange(late.id)], async () => {
    await stage.archiveKey(early.id)
    await eventually(async () => (await snapshot.key(early.secret)) === null, 1000)
    await snapshot.refresh()
    await snapshot.refresh()
    t.truthy(await snapshot.key(late.secret))
  })
  await eventually(async () => (await snapshot.key(late.secret)) === null, 1000)
})

const recordChange = (id: string) =>
  `INSERT INTO changes (kind, organisation_id, entity_id) VALUES ('api_keys', '${stage.organisationId}', '${id}')`

/** One transaction without triggers, and so without a notification; `meanwhile` runs before its commit. */
async function silently(statements: readonly string[], meanwhile = async () => {}): Promise<void> {
  const { host, port, user, password = '', database } = stage.sql
  const sql = new Client({ host, port, user, password, database })
  await sql.connect()
  await sql.query('BEGIN')
  await sql.query('SET LOCAL session_replication_role = replica')
  for (const statement of statements) await sql.query(statement)
  await meanwhile()
  await sql.query('COMMIT')
  await sql.end()
}
