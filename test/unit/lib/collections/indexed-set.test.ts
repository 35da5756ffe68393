import test from 'ava'
import { createIndexedSet, type Member } from '../../../../src/lib/collections/indexed-set.ts'

test('whoever leaves is gone, whoever stays is there, in whichever order', (t) => {
  const set = createIndexedSet<Member>()
  const stay = new Set<Member>()
  const all = Array.from({ length: 200 }, (): Member => ({ slot: -1 }))
  for (const [index, member] of all.entries()) {
    set.add(member)
    stay.add(member)
    const leaves = all[(index * 7) % (index + 1)]
    if (leaves === undefined || index % 3 === 0) continue
    set.remove(leaves)
    stay.delete(leaves)
    const there = [...set]
    t.is(there.length, stay.size)
    t.true(there.every((other) => stay.has(other)))
  }
})

test('to leave twice, or without having come, changes nothing', (t) => {
  const set = createIndexedSet<Member>()
  const [first, second, third] = [{ slot: -1 }, { slot: -1 }, { slot: -1 }]
  set.add(first)
  set.add(second)
  set.remove(third)
  set.remove(first)
  set.remove(first)
  t.deepEqual([...set], [second])
})

test('members that leave while the set is walked do not disturb the walk', (t) => {
  const set = createIndexedSet<Member>()
  for (let count = 0; count < 10; count += 1) set.add({ slot: -1 })
  let seen = 0
  for (const member of set) {
    set.remove(member)
    seen += 1
  }
  t.is(seen, 10)
  t.deepEqual([...set], [])
})
