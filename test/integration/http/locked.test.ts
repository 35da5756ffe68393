import test from 'ava'
import { inDatabase } from '../../support/database.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { eventually } from '../../support/eventually.ts'

let app: TestApp
test.before(async () => void (app = await startApp()))
test.after.always(() => app?.stop())

test.serial('a write that waits for a migration longer than a statement may is done when the table is free', async (t) => {
  await inDatabase(app.database.superuser, async (migrator) => {
    await migrator.query('BEGIN; LOCK TABLE labels')
    const since = async () => {
      const { rows } = await migrator.query<{ since: string }>(
        `SELECT waitstart::text AS since FROM pg_locks WHERE NOT granted AND relation = 'labels'::regclass AND waitstart IS NOT NULL`,
      )
      return rows[0]?.since ?? null
    }
    const written = fetch(`${app.baseUrl}/v1/labels`, {
      method: 'POST',
      headers: { 'x-service-api-key': app.adminKey, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'patient' }),
    })
    await eventually(async () => (await since()) !== null, 5000, 'the write to wait')
    const first = await since()
    await eventually(async () => ![null, first].includes(await since()), 10_000, 'the write to try again')
    await migrator.query('COMMIT')
    t.is((await written).status, 200)
  })
})

test.serial('a request that waits for a lock in vain is told that the database is busy, and when to try again', async (t) => {
  await inDatabase(app.database.superuser, async (migrator) => {
    await migrator.query('BEGIN; LOCK TABLE labels')
    const answer = await fetch(`${app.baseUrl}/v1/labels`, { headers: { 'x-service-api-key': app.adminKey } })
    await migrator.query('ROLLBACK')
    t.is(answer.status, 503)
    t.is(answer.headers.get('retry-after'), '5')
    t.like(await answer.json(), { error: { code: 'busy', type: 'server_error' } })
  })
})
