import { randomUUID } from 'node:crypto'
import test from 'ava'
import { ApiError } from '../../../src/lib/errors.ts'
import { eventually, setStage, vault, type Stage } from './setup.ts'

let stage: Stage
test.before(async () => {
  stage = await setStage()
})
test.after.always(() => stage.close())

test.serial('a key is loaded once and then a synchronous hit', async (t) => {
  const { id, secret } = await stage.createKey()
  const snapshot = stage.snapshot()
  const first = snapshot.key(secret)
  t.true(first instanceof Promise)
  const view = await first
  t.is(view?.id, id)
  t.is(view?.workspaceSlug, 'main')
  t.deepEqual(view?.metadata, { team: 'a' })
  t.true(view?.scopes.has('completions.write'))
  t.is(snapshot.key(secret), view)
})

test.serial('an unknown key is null, at once the second time, and works within 1 s of its creation', async (t) => {
  const secret = randomUUID() + randomUUID()
  const snapshot = stage.snapshot()
  t.is(await snapshot.key(secret), null)
  t.is(snapshot.key(secret), null)
  const { id } = await stage.createKey({ secret })
  await eventually(async () => (await snapshot.key(secret))?.id === id, 1000)
  t.pass()
})

test.serial('an archived workspace takes its keys and providers with it', async (t) => {
  const other = await setStage()
  const { secret } = await other.createKey()
  await other.createProvider('openai')
  const snapshot = other.snapshot()
  const scope = { organisationId: other.organisationId, workspaceId: other.workspaceId }
  t.truthy(await snapshot.key(secret))
  t.truthy(await snapshot.provider(scope, 'openai'))
  await other.sql.query(`UPDATE workspaces SET status = 'archived'`)
  await eventually(async () => (await snapshot.key(secret)) === null && (await snapshot.provider(scope, 'openai')) === null, 1000)
  await other.close()
})

test.serial('during a rotation both secrets serve, and the old one stops at its time without any event', async (t) => {
  const { id, secret: old } = await stage.createKey()
  const snapshot = stage.snapshot()
  await snapshot.key(old)
  await stage.sql.query(
    `UPDATE api_keys SET previous_key_hash = key_hash, key_hash = $2, previous_key_expires_at = now() + interval '1.2 seconds' WHERE id = $1`,
    [id, vault.hashKey(`new ${id}`)],
  )
  const rotatedAt = performance.now()
  await snapshot.refresh()
  t.is((await snapshot.key(old))?.id, id)
  t.is((await snapshot.key(`new ${id}`))?.id, id)
  await eventually(async () => (await snapshot.key(old)) === null, 3000)
  t.true(performance.now() - rotatedAt > 1100)
  t.is((await snapshot.key(`new ${id}`))?.id, id)
})

test.serial('a provider is seen by its workspace and by the admin, and by no other', async (t) => {
  const { id } = await stage.createProvider('mine')
  const snapshot = stage.snapshot()
  const { organisationId, workspaceId } = stage
  const view = await snapshot.provider({ organisationId, workspaceId }, 'mine')
  t.is(view?.id, id)
  t.is(view?.credential.key, 'sk-1')
  t.is(snapshot.provider({ organisationId, workspaceId }, 'mine'), view)
  t.is((await snapshot.provider({ organisationId, workspaceId: null }, 'mine'))?.id, id)
  t.is(await snapshot.provider({ organisationId, workspaceId: randomUUID() }, 'mine'), null)
  t.is(await snapshot.provider({ organisationId: randomUUID(), workspaceId }, 'unasked'), null)
  t.is(await snapshot.provider({ organisationId: randomUUID(), workspaceId: null }, 'mine'), null)
})

test.serial('a changed credential replaces the view within 1 s', async (t) => {
  const { integrationId } = await stage.createProvider('changing')
  const snapshot = stage.snapshot()
  const { organisationId, workspaceId } = stage
  t.is((await snapshot.provider({ organisationId, workspaceId }, 'changing'))?.credential.key, 'sk-1')
  await stage.sql.query(`UPDATE integrations SET configurations = '{"key":"sk-2"}' WHERE id = $1`, [integrationId])
  await eventually(async () => (await snapshot.provider({ organisationId, workspaceId }, 'changing'))?.credential.key === 'sk-2', 1000)
  t.pass()
})

test.serial('a provider that changes while it is opened is opened again', async (t) => {
  const { integrationId } = await stage.createProvider('racing', { key: 'sk-old' })
  const reached = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const seen: string[] = []
  const snapshot = stage.snapshot({
    loadCredential: async ({ configurations }) => {
      seen.push(String(configurations['key']))
      reached.resolve()
      await release.promise
      return { credential: { key: String(configurations['key']), fields: {} }, secrets: null, customHost: null, customHeaders: {} }
    },
  })
  const loading = snapshot.provider({ organisationId: stage.organisationId, workspaceId: stage.workspaceId }, 'racing')
  await reached.promise
  await stage.sql.query(`UPDATE integrations SET configurations = '{"key":"sk-new"}' WHERE id = $1`, [integrationId])
  await snapshot.refresh()
  release.resolve()
  t.is((await loading)?.credential.key, 'sk-new')
  t.deepEqual(seen, ['sk-old', 'sk-new'])
})

const sealed = () => {
  throw new ApiError('sealed', 'no key')
}

test.serial('a sealed vault refuses as such', async (t) => {
  const { organisationId, workspaceId } = stage
  await stage.createProvider('sealed')
  const snapshot = stage.snapshot({ vault: { ...vault, hashKey: sealed }, loadCredential: async () => sealed() })
  t.is(t.throws(() => snapshot.key('x'), { instanceOf: ApiError })?.code, 'sealed')
  const error = await t.throwsAsync(async () => snapshot.provider({ organisationId, workspaceId }, 'sealed'), { instanceOf: ApiError })
  t.is(error?.code, 'sealed')
})

test.serial('a credential that cannot be opened is named as the fault, and the next request tries again', async (t) => {
  const { organisationId, workspaceId } = stage
  await stage.createProvider('broken')
  let tries = 0
  const snapshot = stage.snapshot({ loadCredential: () => Promise.reject(new Error(`tampered ${(tries += 1)}`)) })
  for (const expected of [1, 2]) {
    const error = await t.throwsAsync(async () => snapshot.provider({ organisationId, workspaceId }, 'broken'), { instanceOf: ApiError })
    t.is(error?.code, 'credential_failed')
    t.false(error?.message.includes('tampered'))
    t.is(tries, expected)
  }
})

test.serial('what PostgreSQL gives up to end a deadlock with a migration is read again', async (t) => {
  const { id } = await stage.createProvider('deadlocked')
  const snapshot = stage.snapshot()
  await snapshot.contacted
  const waiting = async () => {
    const { rows } = await stage.sql.query(`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'integrations'::regclass`)
    return rows.length === 1
  }
  await stage.sql.query(`BEGIN; SET LOCAL deadlock_timeout = '30s'; LOCK TABLE integrations`)
  const read = Promise.resolve(snapshot.provider({ organisationId: stage.organisationId, workspaceId: stage.workspaceId }, 'deadlocked'))
  try {
    await eventually(waiting, 2000)
    await stage.sql.query('LOCK TABLE providers')
  } finally {
    await stage.sql.query('COMMIT')
  }
  t.is((await read)?.id, id)
})
