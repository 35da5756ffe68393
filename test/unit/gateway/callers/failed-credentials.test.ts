import test from 'ava'
import { networkOf } from '../../../../src/app/http/listener/client-address.ts'
import { limitFailedCredentials } from '../../../../src/gateway/callers/failed-credentials.ts'

const start = (perMinute: number) => {
  const clock = { now: 0 }
  const spent: string[] = []
  return {
    clock,
    spent,
    failures: limitFailedCredentials({ perMinute, networkOf, now: () => clock.now, onSpent: (address) => spent.push(address) }),
  }
}

test('an address may fail so often in a minute, and is told how long to wait', (t) => {
  const { clock, spent, failures } = start(3)
  for (const _ of [1, 2, 3]) t.is(failures.failed('192.0.2.1'), null)
  t.true(failures.spent('192.0.2.1'))
  t.false(failures.spent('192.0.2.2'))
  const refused = failures.failed('192.0.2.1')
  t.is(refused?.status, 429)
  t.is(refused?.retryAfter, 20)
  t.deepEqual(spent, ['192.0.2.1'])
  clock.now += 20_001
  t.false(failures.spent('192.0.2.1'))
  t.is(failures.failed('192.0.2.1'), null)
  t.not(failures.failed('192.0.2.1'), null)
})

test('who goes on while refused waits no longer for it', (t) => {
  const { clock, failures } = start(2)
  for (const _ of Array.from({ length: 1000 })) failures.failed('192.0.2.1')
  clock.now += 30_001
  t.is(failures.failed('192.0.2.1'), null)
})

test('a network of 64 bits counts as one address, in any spelling', (t) => {
  const { failures } = start(2)
  failures.failed('2001:db8:1:2::1')
  failures.failed('2001:0DB8:0001:0002:ffff::9')
  t.true(failures.spent('2001:db8:1:2:3:4:5:6'))
  t.false(failures.spent('2001:db8:1:3::1'))
})

test('memory is bounded, and whoever failed lately is remembered', (t) => {
  const { failures } = start(2)
  for (let i = 0; i < 120_000; i += 1) {
    failures.failed(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    if (i % 10_000 === 0) failures.failed('192.0.2.1')
  }
  t.is(failures.size(), 50_000)
  t.true(failures.spent('192.0.2.1'))
})

test('0 is no limit', (t) => {
  const { failures } = start(0)
  for (const _ of Array.from({ length: 100 })) t.is(failures.failed('192.0.2.1'), null)
  t.false(failures.spent('192.0.2.1'))
})
