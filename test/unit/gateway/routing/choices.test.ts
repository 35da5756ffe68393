import test from 'ava'
import { createMeasures, pickLowest } from '../../../../src/gateway/routing/measures.ts'
import { pickSticky } from '../../../../src/gateway/routing/sticky.ts'
import { pickByWeight } from '../../../../src/gateway/routing/weights.ts'

test('weights give shares; a weight of 0 is never chosen, whatever the draw', (t) => {
  const draws = Array.from({ length: 1000 }, (_, at) => pickByWeight([0, 1, 3, 0], at / 1000))
  t.is(draws.filter((at) => at === 1).length, 250)
  t.is(draws.filter((at) => at === 2).length, 750)
  t.is(pickByWeight([0.1, 0.2, 0], 1 - Number.EPSILON / 2), 1)
  t.is(pickByWeight([0, 0], 0.5), null)
})

const day = 86_400_000
const turn = (user: number, now = day) => ({ choice: 'c', identity: [`u${user}`], ttlMs: 3_600_000, now })
const users = Array.from({ length: 4000 }, (_, at) => at)

test('sticky: shares follow the weights, and an identity stays where it is', (t) => {
  const at = users.map((user) => pickSticky([1, 3, 0], turn(user)))
  const share = at.filter((one) => one === 1).length / users.length
  t.true(share > 0.72 && share < 0.78, String(share))
  t.false(at.includes(2))
  t.deepEqual(
    users.map((user) => pickSticky([1, 3, 0], turn(user))),
    at,
  )
})

test('sticky: a target that is left out moves its own identities only', (t) => {
  const before = users.map((user) => pickSticky([1, 1, 1], turn(user)))
  const after = users.map((user) => pickSticky([1, 0, 1], turn(user)))
  t.true(users.every((user) => before[user] === 1 || before[user] === after[user]))
  t.true(users.every((user) => after[user] !== 1))
})

test('sticky: after its time to live an identity is placed anew, not all in the same moment', (t) => {
  const moved = (ms: number) => users.filter((user) => pickSticky([1, 1], turn(user)) !== pickSticky([1, 1], turn(user, day + ms))).length
  t.true(moved(360_000) > 0 && moved(360_000) < users.length * 0.08)
  const whole = moved(3_600_000) / users.length
  t.true(whole > 0.45 && whole < 0.55, String(whole))
})

test('lowest: an unknown target is measured first, and equal ones do not take turns', (t) => {
  t.is(pickLowest([100, null, 50], 0), 1)
  t.is(pickLowest([100, 90, 120], 0), 0)
  t.is(pickLowest([100, 79, 120], 0), 1)
  t.is(pickLowest([Infinity, 90, 120], 0), 1)
  t.is(pickLowest([100, 90], null), 1)
})

test('measures: newer ones count more, old ones are forgotten', (t) => {
  const measures = createMeasures(2)
  measures.noteLatency('a', 100, 0)
  measures.noteLatency('a', 200, 10_000)
  t.is(measures.latency('a', 10_000), 150)
  t.is(measures.latency('a', 80_000), null)
  measures.noteLatency('b', 1, 0)
  measures.noteLatency('c', 1, 0)
  t.is(measures.latency('a', 10_000), null)
})
