import test from 'ava'
import { createWeighed } from '../../../../src/lib/collections/weighed.ts'

test('no owner has more than its share, and over the whole the heaviest gives way', (t) => {
  const kept = createWeighed<number>({ most: 10, mostOfOne: 6 })
  for (let at = 0; at < 5; at += 1) kept.set('a', String(at), { value: at, weight: 2 })
  t.deepEqual(
    [0, 1, 2, 3, 4].map((at) => kept.get('a', String(at))),
    [undefined, undefined, 2, 3, 4],
  )
  kept.set('b', 'x', { value: 1, weight: 4 })
  kept.set('c', 'y', { value: 2, weight: 3 })
  t.is(kept.get('b', 'x'), 1)
  t.is(kept.get('c', 'y'), 2)
  t.deepEqual(
    [2, 3, 4].map((at) => kept.get('a', String(at))),
    [undefined, undefined, 4],
  )
})

test('what is used stays, and what is too heavy is not kept', (t) => {
  const kept = createWeighed<number>({ most: 10, mostOfOne: 4 })
  kept.set('a', '1', { value: 1, weight: 2 })
  kept.set('a', '2', { value: 2, weight: 2 })
  kept.get('a', '1')
  kept.set('a', '3', { value: 3, weight: 2 })
  kept.set('a', '4', { value: 4, weight: 5 })
  t.deepEqual(
    [1, 2, 3, 4].map((at) => kept.get('a', String(at))),
    [1, undefined, 3, undefined],
  )
})

test('what one owner had is dropped at once, and its weight is free again', (t) => {
  const kept = createWeighed<number>({ most: 10, mostOfOne: 10 })
  kept.set('a', '1', { value: 1, weight: 6 })
  kept.set('b', '1', { value: 2, weight: 4 })
  kept.forget('a')
  kept.forget('nobody')
  t.is(kept.get('a', '1'), undefined)
  t.is(kept.weight(), 4)
  kept.set('a', '2', { value: 3, weight: 6 })
  t.deepEqual([kept.get('b', '1'), kept.get('a', '2')], [2, 3])
})
