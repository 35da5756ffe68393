import test from 'ava'
import { endsWithin } from '../../../src/lib/ends-within.ts'

const never = new Promise<never>(() => {})

test('work that ends in time', async (t) => {
  t.true(await endsWithin(60_000, Promise.resolve('done')))
})

test('work that takes longer is no longer waited for', async (t) => {
  t.false(await endsWithin(1, never))
})

test('work that fails in time fails for who waits', async (t) => {
  await t.throwsAsync(endsWithin(60_000, Promise.reject(new Error('it failed'))), { message: 'it failed' })
})

test('work that fails too late fails for nobody', async (t) => {
  const work = Promise.withResolvers<void>()
  t.false(await endsWithin(1, work.promise))
  work.reject(new Error('nobody waits any more'))
  await t.throwsAsync(work.promise)
})
