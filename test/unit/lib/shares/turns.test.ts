import test from 'ava'
import { createFairLine } from '../../../../src/lib/shares/fair-line.ts'
import { createShares, eighthOf } from '../../../../src/lib/shares/shares.ts'
import { createTurns } from '../../../../src/lib/shares/turns.ts'

const turnsOf = (most: number, mostOfOne: number, mostWaiting = 100) =>
  createTurns({ most, mostOfOne, mostWaiting, tooMany: () => new Error('too many') })

test('no owner has more than its share, and Gatehouse itself is held to the whole alone', (t) => {
  const shares = createShares({ most: 4, mostOfOne: 2 })
  t.deepEqual(
    ['a', 'a', 'a', 'b', null, null].map((owner) => shares.take(owner)),
    [true, true, false, true, true, false],
  )
  t.deepEqual([shares.held, shares.heldBy('a'), shares.heldBy(null)], [4, 2, 1])
  shares.giveBack('a')
  shares.giveBack('a')
  shares.giveBack('a')
  t.deepEqual([shares.held, shares.hasPlace('a'), shares.hasPlace('b')], [2, true, true])
})

test('a share is an eighth, and at least one place', (t) => {
  t.deepEqual([1, 7, 8, 4096].map(eighthOf), [1, 1, 1, 512])
})

test('a line gives its items in turns of the owners', (t) => {
  const line = createFairLine<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) line.add(item[0] ?? '', item)
  line.delete('c', 'c1')
  t.is(line.size, 5)
  t.is(
    line.next((owner) => owner === 'b'),
    'b1',
  )
  t.deepEqual([line.next(), line.next(), line.next()], ['a1', 'c2', 'a2'])
  t.deepEqual([line.waitingOf('a'), line.clear(), line.size, line.next()], [1, ['a3'], 0, undefined])
})

test('owners take turns, and one that asks for too much is refused', async (t) => {
  const inTurn = turnsOf(1, 1, 2)
  const done: string[] = []
  const job = (name: string) => async () => {
    await Promise.resolve()
    done.push(name)
  }
  const asked = ['a1', 'a2', 'a3', 'b1'].map((name) => inTurn(name[0] ?? '', job(name)))
  await t.throwsAsync(inTurn('a', job('a4')), { message: 'too many' })
  await Promise.all(asked)
  t.deepEqual(done, ['a1', 'a2', 'b1', 'a3'])
})

test('an owner never runs more than its share, also while places are free', async (t) => {
  const inTurn = turnsOf(3, 2)
  const gate = Promise.withResolvers<void>()
  const started: string[] = []
  const hold = (name: string) => inTurn(name[0] ?? '', async () => (started.push(name), gate.promise))
  const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map(hold)
  await new Promise(setImmediate)
  t.deepEqual(started, ['a1', 'a2', 'b1'])
  gate.resolve()
  await Promise.all(all)
  t.is(started.length, 5)
})

test('work that fails gives its place back, and a wait can be left', async (t) => {
  const inTurn = turnsOf(1, 1)
  const gate = Promise.withResolvers<void>()
  const failing = inTurn('a', async () => {
    await gate.promise
    throw new Error('it failed')
  })
  const left = new AbortController()
  const leaving = inTurn('b', async () => t.fail(), { signal: left.signal })
  left.abort(new Error('gone'))
  await t.throwsAsync(leaving, { message: 'gone' })
  gate.resolve()
  await t.throwsAsync(failing, { message: 'it failed' })
  t.is(await inTurn('b', async () => 'served'), 'served')
})
