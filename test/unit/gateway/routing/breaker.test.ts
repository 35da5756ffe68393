import test from 'ava'
import { type BreakerRule, createBreakers } from '../../../../src/gateway/routing/breaker.ts'

const rule: BreakerRule = { failures: 3, share: null, leastRequests: 1, cooldownMs: 30_000, statuses: null }

function bed(most = 100) {
  const breakers = createBreakers(most)
  return {
    breakers,
    attempt: (failed: boolean, now: number, by = rule) => {
      const probe = breakers.begin('a', now)
      return breakers.end('a', by, { failed, probe, now })
    },
  }
}

test('failures open it, after the cooldown one probe goes through, a success closes it', (t) => {
  const { breakers, attempt } = bed()
  t.deepEqual([attempt(true, 1), attempt(true, 2)], [null, null])
  t.true(breakers.admits('a', 2))
  t.deepEqual(attempt(true, 3), { target: 'a', kind: 'opened', openedAt: 3, until: 30_003 })
  t.false(breakers.admits('a', 30_002))
  t.true(breakers.admits('a', 30_003))
  t.true(breakers.begin('a', 30_003))
  t.false(breakers.admits('a', 30_004))
  t.deepEqual(breakers.end('a', rule, { failed: false, probe: true, now: 30_005 }), { target: 'a', kind: 'closed' })
  t.true(breakers.admits('a', 30_005))
  t.is(attempt(true, 30_006), null)
})

test('a probe that fails opens it for another cooldown; one that never ends makes room for another', (t) => {
  const { breakers, attempt } = bed()
  for (const now of [1, 2, 3]) attempt(true, now)
  t.deepEqual(attempt(true, 30_010), { target: 'a', kind: 'opened', openedAt: 30_010, until: 60_010 })
  t.true(breakers.begin('a', 60_010))
  t.false(breakers.admits('a', 60_011))
  t.true(breakers.admits('a', 120_010))
})

test('a try that began before it opened does not close it', (t) => {
  const { breakers, attempt } = bed()
  const early = breakers.begin('a', 0)
  for (const now of [1, 2, 3]) attempt(true, now)
  t.is(breakers.end('a', rule, { failed: false, probe: early, now: 4 }), null)
  t.false(breakers.admits('a', 5))
})

test('a share opens it, once there were enough requests', (t) => {
  const { attempt } = bed()
  const half: BreakerRule = { ...rule, failures: null, share: 0.5, leastRequests: 5 }
  t.deepEqual(
    [true, false, true, true].map((failed, now) => attempt(failed, now, half)),
    [null, null, null, null],
  )
  t.is(attempt(false, 5, half), null)
  t.is(attempt(true, 6, half)?.kind, 'opened')
})

test('failures of long ago do not count', (t) => {
  const { attempt } = bed()
  for (const now of [0, 1]) attempt(true, now)
  t.is(attempt(true, 120_000), null)
})

test('another process is believed, and a reset is told', (t) => {
  const { breakers } = bed()
  breakers.apply({ target: 'a', kind: 'opened', openedAt: 10, until: 50 })
  t.false(breakers.admits('a', 20))
  t.is(breakers.openedAt('a'), 10)
  t.deepEqual(
    breakers.states(20).map(({ target, state }) => [target, state]),
    [['a', 'open']],
  )
  t.deepEqual(breakers.reset('a'), { target: 'a', kind: 'closed' })
  t.is(breakers.reset('a'), null)
  t.true(breakers.admits('a', 20))
})
