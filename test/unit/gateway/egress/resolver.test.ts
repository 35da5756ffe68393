import test from 'ava'
import { systemNames } from '../../../../src/gateway/egress/names.ts'
import type { NameAddress } from '../../../../src/gateway/egress/names.ts'
import { createLru } from '../../../../src/lib/collections/lru.ts'
import { createResolver } from '../../../../src/gateway/egress/resolver.ts'
import { loopLag } from '../../../support/loop-lag.ts'

/** A DNS that counts questions; its answers come at the test's signal. */
function slowNames() {
  const waiting: { hostname: string; answer: (found: readonly NameAddress[]) => void; fail: (error: Error) => void }[] = []
  const resolve = (hostname: string) => new Promise<readonly NameAddress[]>((answer, fail) => void waiting.push({ hostname, answer, fail }))
  return { waiting, resolve }
}

test('all who ask for a name wait for one answer, and it is kept', async (t) => {
  const { waiting, resolve } = slowNames()
  const resolver = createResolver({ resolve, maxAgeMs: 1000, timeoutMs: 1000 })
  const both = Promise.all([resolver.resolve('a.test'), resolver.resolve('a.test')])
  waiting[0]?.answer([{ address: '1.2.3.4', ttl: 60 }])
  t.deepEqual(await both, [['1.2.3.4'], ['1.2.3.4']])
  t.deepEqual(await resolver.resolve('a.test'), ['1.2.3.4'])
  t.is(waiting.length, 1)
  resolver.forget('a.test')
  void resolver.resolve('a.test').catch(() => {})
  t.is(waiting.length, 2)
})

test('an answer is kept no longer than maxAgeMs', async (t) => {
  const { waiting, resolve } = slowNames()
  const resolver = createResolver({ resolve, maxAgeMs: 0, timeoutMs: 1000 })
  for (let count = 1; count <= 2; count += 1) {
    const answer = resolver.resolve('a.test')
    waiting.at(-1)?.answer([{ address: '1.2.3.4', ttl: 60 }])
    await answer
    t.is(waiting.length, count)
  }
})

test('a failure is told to all, and kept for a moment', async (t) => {
  const { waiting, resolve } = slowNames()
  const resolver = createResolver({ resolve, maxAgeMs: 30_000, timeoutMs: 1000 })
  const answer = resolver.resolve('a.test')
  waiting[0]?.fail(new Error('no such name'))
  await t.throwsAsync(answer, { message: 'no such name' })
  await t.throwsAsync(resolver.resolve('a.test'), { message: 'no such name' })
  t.is(waiting.length, 1)
})

test('no address is a failure', async (t) => {
  const resolver = createResolver({ resolve: async () => [], maxAgeMs: 1000, timeoutMs: 1000 })
  await t.throwsAsync(resolver.resolve('a.test'), { code: 'ENODATA' })
})

test('no answer is a failure, in time', async (t) => {
  const resolver = createResolver({ resolve: slowNames().resolve, maxAgeMs: 1000, timeoutMs: 50 })
  const startedAt = performance.now()
  await t.throwsAsync(resolver.resolve('a.test'), { code: 'ETIMEOUT' })
  t.true(performance.now() - startedAt < 150 + loopLag())
})

test('it remembers at most 1,000 names', async (t) => {
  let asked = 0
  const resolve = async () => {
    asked += 1
    return [{ address: '1.2.3.4' }]
  }
  const resolver = createResolver({ resolve, maxAgeMs: 30_000, timeoutMs: 1000 })
  for (let index = 0; index <= 1000; index += 1) await resolver.resolve(`${index}.test`)
  await resolver.resolve('1000.test')
  t.is(asked, 1001)
  await resolver.resolve('0.test')
  t.is(asked, 1002)
})

test('the hosts file is asked first', async (t) => {
  const found = await systemNames()('localhost')
  t.true(found.some(({ address }) => address === '127.0.0.1' || address === '::1'))
})

test('a name that cannot exist', async (t) => {
  const error = await t.throwsAsync(systemNames()('gatehouse.invalid'))
  t.regex(error !== undefined && 'code' in error ? String(error.code) : '', /^E/)
})

test('a bounded map keeps what is used and forgets the rest', (t) => {
  const recent = createLru<number>(10)
  recent.set('used', 1)
  for (let index = 0; index < 100; index += 1) {
    recent.set(`other ${index}`, index)
    t.is(recent.get('used'), 1)
  }
  t.is(recent.get('other 0'), undefined)
  t.is(recent.get('other 99'), 99)
})
