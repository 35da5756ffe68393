import test from 'ava'
import { ApiError } from '../../../src/lib/errors.ts'
import type { LiveSnapshot } from '../../../src/app/snapshot/snapshot.ts'
import { eventually, setStage, type Stage } from './setup.ts'

let stage: Stage
test.beforeEach(async () => {
  stage = await setStage()
})
test.afterEach.always(() => stage.close())

const refusal = async (snapshot: LiveSnapshot, secret: string) => {
  try {
    await snapshot.key(secret)
    return null
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error)
  }
}

test.serial('cached keys serve on while the database is away, unseen ones are refused, and all is well after', async (t) => {
  const [seen, unseen] = [await stage.createKey(), await stage.createKey()]
  const snapshot = stage.snapshot()
  const view = await snapshot.key(seen.secret)
  stage.proxy.cut()
  t.is(snapshot.key(seen.secret), view)
  t.is(await refusal(snapshot, unseen.secret), 'dependency_unavailable')
  const askedAt = performance.now()
  t.is(await refusal(snapshot, unseen.secret), 'dependency_unavailable')
  t.true(performance.now() - askedAt < 1000)
  t.true(snapshot.ready)
  await stage.archiveKey(seen.id)
  t.is(snapshot.key(seen.secret), view)
  stage.proxy.heal()
  await eventually(async () => (await refusal(snapshot, unseen.secret)) === null, 5000)
  await eventually(async () => (await snapshot.key(seen.secret)) === null, 2000)
})

test.serial('a database that hangs refuses unseen keys in time, and cached ones serve', async (t) => {
  const [seen, unseen] = [await stage.createKey(), await stage.createKey()]
  const snapshot = stage.snapshot()
  const view = await snapshot.key(seen.secret)
  stage.proxy.freeze()
  const askedAt = performance.now()
  t.is(await refusal(snapshot, unseen.secret), 'dependency_unavailable')
  t.true(performance.now() - askedAt < 4000)
  t.is(snapshot.key(seen.secret), view)
  stage.proxy.heal()
  await eventually(async () => (await refusal(snapshot, unseen.secret)) === null, 10_000)
})

test.serial('after the maximum staleness nothing serves until the database is back', async (t) => {
  const { secret } = await stage.createKey()
  const snapshot = stage.snapshot({ maxStaleMs: 1500 })
  t.truthy(await snapshot.key(secret))
  stage.proxy.cut()
  t.truthy(await snapshot.key(secret))
  await eventually(async () => (await refusal(snapshot, secret)) === 'dependency_unavailable', 3000)
  t.false(snapshot.ready)
  t.true(snapshot.ageMs() >= 1500)
  stage.proxy.heal()
  await eventually(async () => (await refusal(snapshot, secret)) === null, 5000)
  t.true(snapshot.ready)
})

test.serial('a database that is away from the start refuses with a clear code, never 401', async (t) => {
  const { secret } = await stage.createKey()
  stage.proxy.cut()
  const snapshot = stage.snapshot()
  t.is(await refusal(snapshot, secret), 'dependency_unavailable')
  t.false(snapshot.ready)
  stage.proxy.heal()
  await eventually(async () => (await refusal(snapshot, secret)) === null, 5000)
})
