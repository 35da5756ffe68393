// The lease protocol against a model: in every order of events, all processes together stay within the limit.
import test from 'ava'
import fc from 'fast-check'
import { type Counters, createCounters, type CounterStore, sliceMs } from '../../../../src/gateway/limits/counters.ts'
import type { Limit } from '../../../../src/gateway/limits/limit.ts'

const limitOf = (value: number): Limit => ({
  id: 'api-key:1:usage:tokens',
  organisationId: 'o',
  name: 'tokens',
  kind: 'usage',
  counts: 'tokens',
  value,
  window: { slotMs: null, reset: null, days: null, anchor: null },
})

/** The truth, as the database keeps it: a returned amount counts before the next slice, as there. */
function openStore() {
  const state = { granted: 0, takes: 0 }
  const store: CounterStore = {
    take(limit, { needed, queued, wanted }) {
      state.takes += 1
      const room = limit.value - state.granted
      const granted = room < needed ? 0 : Math.min(room, Math.max(needed, queued, Math.min(wanted, Math.floor(room / 8))))
      state.granted += granted
      return Promise.resolve({ granted, slot: '0', used: state.granted, reserved: 0, slotLeftMs: null, opensMs: null })
    },
    settle(_, __, { freed }) {
      state.granted -= freed
      return ''
    },
  }
  return { state, store }
}

interface Event {
  readonly process: number
  readonly kind: 'take' | 'settle' | 'overuse' | 'expire' | 'kill'
  readonly amount: number
}

/** Runs events over processes and returns why the protocol is broken; null: it is not. */
async function play(value: number, events: readonly Event[]): Promise<string | null> {
  const { state, store } = openStore()
  const limit = limitOf(value)
  let clock = 0
  const open = () => ({ counters: createCounters(store, () => clock), held: [] as NonNullable<ReturnType<Counters['tryTake']>>[number][] })
  const processes = [open(), open(), open()]
  let spent = 0
  /** Used beyond reservations: no limit could have known. */
  let over = 0
  for (const { process: at, kind, amount } of events) {
    const one = processes[at] ?? open()
    if (kind === 'take') {
      if ((await one.counters.fill(limit, amount)) === null)
        one.held.push(...(one.counters.tryTake([limit], { requests: 0, tokens: amount, cost: 0 }) ?? []))
    } else if (kind === 'settle' || kind === 'overuse') {
      const taken = one.held.shift()
      if (taken === undefined) continue
      const used = kind === 'settle' ? Math.min(amount, taken.amount) : taken.amount + amount
      one.counters.settle(taken, used)
      spent += used
      over += Math.max(0, used - taken.amount)
    } else if (kind === 'expire') {
      clock += sliceMs + 1
      one.counters.sweep()
    } else {
      // A provider may have charged its slice: it stays counted.
      processes[at] = open()
    }
    const reserved = processes.flatMap(({ held }) => held).reduce((sum, taken) => sum + taken.amount, 0)
    if (spent + reserved > state.granted) return `used ${spent} + ${reserved}, granted ${state.granted}`
    if (state.granted > value + over) return `granted ${state.granted} of ${value}`
  }
  await new Promise(setImmediate)
  const killed = events.some(({ kind }) => kind === 'kill')
  for (const { counters, held } of processes) {
    for (const taken of held) counters.settle(taken, 0)
    counters.sweep(true)
  }
  return killed || state.granted === spent ? null : `leaked ${state.granted - spent}`
}

test('random interleavings: what is used and reserved is granted, what is granted fits, and nothing leaks', async (t) => {
  const event = fc.record({
    process: fc.nat({ max: 2 }),
    kind: fc.constantFrom<Event['kind']>('take', 'take', 'take', 'settle', 'settle', 'overuse', 'expire', 'kill'),
    amount: fc.integer({ min: 1, max: 30 }),
  })
  const runs = process.env['NIGHTLY'] === '1' ? 20_000 : 500
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.array(event, { maxLength: 60 }), async (value, events) => {
      const fault = await play(value, events)
      if (fault !== null) throw new Error(fault)
    }),
    { numRuns: runs },
  )
  t.pass()
})

test('every order of five events of two processes keeps a small limit', async (t) => {
  const choices: readonly Event[] = [0, 1].flatMap((process) => [
    { process, kind: 'take' as const, amount: 2 },
    { process, kind: 'settle' as const, amount: 1 },
    { process, kind: 'expire' as const, amount: 1 },
    { process, kind: 'kill' as const, amount: 1 },
  ])
  const walk = async (events: readonly Event[]): Promise<string | null> => {
    if (events.length === 5) return play(3, events)
    for (const next of choices) {
      const fault = await walk([...events, next])
      if (fault !== null) return `${JSON.stringify(events)}: ${fault}`
    }
    return null
  }
  t.is(await walk([]), null)
})

test('what is used beyond a reservation comes off the slice: however fast requests follow each other, the limit is passed by one of them', async (t) => {
  for (const [reserves, uses] of [
    [1, 100],
    [10, 11],
    [50, 900],
  ] as const) {
    const { state, store } = openStore()
    const counters = createCounters(store, () => 0)
    const limit = limitOf(1000)
    let used = 0
    for (let n = 0; n < 2000; n += 1) {
      if ((await counters.fill(limit, reserves)) !== null) break
      const [taken] = counters.tryTake([limit], { requests: 0, tokens: reserves, cost: 0 }) ?? []
      if (taken === undefined) continue
      counters.settle(taken, uses)
      used += uses
    }
    t.true(used > 1000 - uses - reserves && used < 1000 + uses, `${uses} for ${reserves}: ${used}`)
    counters.sweep(true)
    t.is(state.granted, used)
  }
})

test('a warm slice is taken from without asking the store', async (t) => {
  const { state, store } = openStore()
  const counters = createCounters(store, () => 0)
  const limit = limitOf(1e12)
  await counters.fill(limit, 1e9)
  const takes = state.takes
  const startedAt = process.cpuUsage()
  for (let n = 0; n < 20_000; n += 1) {
    const taken = counters.tryTake([limit], { requests: 1, tokens: 10, cost: 0 })
    if (taken?.[0] === undefined) throw new Error('no slice')
    counters.settle(taken[0], 5)
  }
  const { user } = process.cpuUsage(startedAt)
  t.true(user < 1_000_000, `20,000 reservations took ${user} us of CPU`)
  t.is(state.takes, takes)
})

test('a refusal is remembered for smaller callers only as long as it is true, and renewed after a change of the limit', async (t) => {
  const { store } = openStore()
  const counters = createCounters(store, () => 0)
  t.not(await counters.fill(limitOf(10), 11), null)
  t.is(await counters.fill(limitOf(10), 5), null)
  t.not(await counters.fill(limitOf(10), 11), null)
  t.truthy(counters.tryTake([limitOf(10)], { requests: 0, tokens: 5, cost: 0 }))
  t.is(counters.tryTake([limitOf(20)], { requests: 0, tokens: 11, cost: 0 }), null)
  t.is(await counters.fill(limitOf(20), 11), null)
})

test('requests that know a changed limit differently and wait at the same time both get their part', async (t) => {
  const { store } = openStore()
  const counters = createCounters(store, () => 0)
  const needs = { requests: 0, tokens: 5, cost: 0 }
  const both = [limitOf(100), limitOf(50)].map((limit) => ({ limit, taken: counters.tryTake([limit], needs) }))
  t.true(both.every(({ taken }) => taken === null))
  const ends = await Promise.all(both.map(({ limit }) => counters.fill(limit, 5)))
  t.deepEqual(ends, [null, null])
  for (const { limit } of both) t.truthy(counters.tryTake([limit], needs, true))
})
