import { PassThrough } from 'node:stream'
import test from 'ava'
import { createLongTurns, longBytes } from '../../../../src/lib/shares/long-turns.ts'
import { paceOf } from '../../../../src/lib/shares/pace.ts'

function computeFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('the owner that has had the least time is next, and its work is done in the order in which it came', async (t) => {
  const turns = createLongTurns()
  const done: string[] = []
  const job = async (name: string, ms: number) => {
    await turns.take(name[0] ?? '')
    computeFor(ms)
    done.push(name)
  }
  await Promise.all([job('a1', 30), job('a2', 30), job('a3', 30), job('b1', 1), job('b2', 1), job('c1', 1)])
  t.deepEqual(done, ['a1', 'b1', 'c1', 'b2', 'a2', 'a3'])
})

test('the event loop is free for as long as a turn took before the next one begins', async (t) => {
  const turns = createLongTurns()
  const times: (readonly [began: number, ended: number])[] = []
  const job = async (ms: number) => {
    await turns.take('a')
    const began = performance.now()
    computeFor(ms)
    // What follows without waiting is part of the turn.
    await Promise.resolve()
    computeFor(ms)
    times.push([began, performance.now()])
  }
  await Promise.all([job(15), job(15), job(15)])
  for (const [at, [began, ended]] of times.entries()) {
    const next = times[at + 1]
    if (next !== undefined) t.true(next[0] - ended >= (ended - began) * 0.9, `${ended - began} ms, then ${next[0] - ended} ms`)
  }
})

test('a step waits when it is long and its turn has no time left for it', async (t) => {
  const turns = createLongTurns()
  t.is(turns.before('a', longBytes), null)
  await turns.before('a', longBytes + 1)
  t.is(turns.before('a', longBytes + 1), null)
  t.not(turns.before('b', longBytes + 1), null)
  computeFor(25)
  const next = turns.before('a', longBytes + 1)
  t.not(next, null)
  await next
})

test('more bodies of one owner than may wait are refused, and another owner waits as before', async (t) => {
  const turns = createLongTurns()
  const bytes = 100 * 1024 * 1024
  const waiting = [turns.take('a', { bytes }), turns.take('a', { bytes })]
  await t.throwsAsync(turns.take('a', { bytes }), { message: /wait for their turn/ })
  await Promise.all([...waiting, turns.take('b', { bytes })])
  await turns.take('a', { bytes: bytes * 3 })
  t.pass()
})

test('work that is not wanted any longer keeps no other waiting', async (t) => {
  const turns = createLongTurns()
  const done: string[] = []
  const job = async (name: string, isWanted: () => boolean) => {
    await turns.take('a', { isWanted })
    done.push(name)
    await new Promise(setImmediate)
    done.push(`${name} later`)
  }
  await Promise.all([job('left', () => false), job('left too', () => false), job('wanted', () => true)])
  t.deepEqual(done.slice(0, 3), ['left', 'left too', 'wanted'])
})

test('a long stream goes on in pieces, one that is left alone stays as it is, and all of it comes', async (t) => {
  const stream = new PassThrough({ highWaterMark: 16 * 1024 * 1024 })
  const pace = paceOf('a', stream)
  let [size, stops] = [0, 0]
  stream.on('pause', () => (stops += 1))
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    pace.took(chunk.length)
  })
  const all = 2 * 1024 * 1024
  for (let sent = 0; sent < all; sent += 64 * 1024) stream.write(Buffer.alloc(64 * 1024))
  stream.end()
  await new Promise((resolve) => stream.once('end', resolve))
  t.is(size, all)
  t.true(stops >= 10, String(stops))
  const left = new PassThrough()
  const ended = paceOf('a', left)
  ended.took(longBytes + 1)
  ended.end()
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  t.true(left.isPaused())
})
