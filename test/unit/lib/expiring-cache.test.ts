import test from 'ava'
import { createExpiringCache } from '../../../src/lib/expiring-cache.ts'

const made = (value: string, usableUntil = 100) => ({ value, usableUntil })

test('holds a bounded number, and forgets what was used longest ago', (t) => {
  const cache = createExpiringCache<string>(3)
  for (const name of ['a', 'b', 'c']) cache.getSync(name, 0, () => made(name))
  cache.getSync('a', 0, () => made('again'))
  cache.getSync('d', 0, () => made('d'))
  t.is(cache.size(), 3)
  t.is(
    cache.getSync('a', 0, () => made('new')),
    'a',
  )
  t.is(
    cache.getSync('b', 0, () => made('new')),
    'new',
  )
})

test('a full cache evicts values of the owner that has the most', (t) => {
  const cache = createExpiringCache<string>(4, (key) => key.slice(0, 1))
  for (const key of ['b1', 'a1', 'a2', 'a3', 'a4', 'a5']) cache.getSync(key, 0, () => made(key))
  t.is(cache.size(), 4)
  const isHeld = (key: string): boolean => cache.getSync(key, 0, () => made('new')) === key
  t.true(isHeld('b1'))
  t.true(isHeld('a5'))
  t.false(isHeld('a1'))
})

test('an expired value is made anew, and does not stay', (t) => {
  const cache = createExpiringCache<string>(3)
  cache.getSync('a', 0, () => made('old', 10))
  t.is(
    cache.getSync('a', 9, () => made('new')),
    'old',
  )
  t.is(
    cache.getSync('a', 10, () => made('new')),
    'new',
  )
})

test('a value that is already stale serves those who waited and nobody else', async (t) => {
  const cache = createExpiringCache<string>(3)
  let loads = 0
  const load = async () => made(`v${++loads}`, -1)
  t.deepEqual(await Promise.all([cache.get('a', 0, load), cache.get('a', 0, load)]), ['v1', 'v1'])
  t.is(await cache.get('a', 0, load), 'v2')
})

test('a failure reaches all who waited, and the next one tries again', async (t) => {
  const cache = createExpiringCache<string>(3)
  let loads = 0
  const load = async () => {
    loads += 1
    if (loads === 1) throw new Error('first')
    return made('second')
  }
  const results = await Promise.allSettled([cache.get('a', 0, load), cache.get('a', 0, load)])
  t.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.is(loads, 1)
  t.is(await cache.get('a', 0, load), 'second')
})
