import test from 'ava'
import type { BreakerRule } from '../../../../src/gateway/routing/breaker.ts'
import { createRoutingState } from '../../../../src/gateway/routing/state.ts'

const rule: BreakerRule = { failures: 1, share: null, leastRequests: 1, cooldownMs: 30_000, statuses: null }

test('one organisation with any number of targets pushes out nothing of another', (t) => {
  const state = createRoutingState()
  const quiet = state.of('quiet')
  quiet.breakers.end('a', rule, { failed: true, probe: false, now: 0 })
  quiet.measures.noteLatency('a', 100, 0)
  quiet.measures.noteChosen('c', 1)
  for (let at = 0; at < 10; at += 1) quiet.budgets.takeRetry('a', 0)

  const loud = state.of('loud')
  for (let at = 0; at < 20_000; at += 1) {
    loud.breakers.end(`t${at}`, rule, { failed: true, probe: false, now: 0 })
    loud.measures.noteLatency(`t${at}`, 1, 0)
    loud.measures.noteChosen(`t${at}`, 0)
    loud.budgets.noteTry(`t${at}`, 0)
  }
  t.true(loud.breakers.states(0).length <= 1000)
  const again = state.of('quiet')
  t.false(again.breakers.admits('a', 1))
  t.deepEqual([again.measures.latency('a', 0), again.measures.chosen('c')], [100, 1])
  t.false(again.budgets.takeRetry('a', 0))
})

test('organisations beyond the bound are forgotten by the time of their last use', (t) => {
  const state = createRoutingState()
  const used = state.of('used')
  for (let at = 0; at < 3000; at += 1) {
    state.of(`o${at}`)
    state.of('used')
  }
  t.is(state.of('used'), used)
  t.true(state.all().length <= 1000)
})
