import test from 'ava'
import { createRoster, type Member } from '../../../../src/lib/collections/indexed-set.ts'

test('whoever leaves is gone, whoever stays is there, in whichever order', (t) => {
  const roster = createRoster<Member>()
  const stay = new Set<Member>()
  const all = Array.from({ length: 200 }, (): Member => ({ place: -1 }))
  for (const [index, member] of all.entries()) {
    roster.add(member)
    stay.add(member)
    const leaves = all[(index * 7) % (index + 1)]
    if (leaves === undefined || index % 3 === 0) continue
    roster.remove(leaves)
    stay.delete(leaves)
    const there = [...roster]
    t.is(there.length, stay.size)
    t.true(there.every((other) => stay.has(other)))
  }
})

test('to leave twice, or without having come, changes nothing', (t) => {
  const roster = createRoster<Member>()
  const [first, second, third] = [{ place: -1 }, { place: -1 }, { place: -1 }]
  roster.add(first)
  roster.add(second)
  roster.remove(third)
  roster.remove(first)
  roster.remove(first)
  t.deepEqual([...roster], [second])
})

test('members that leave while the roster is walked do not disturb the walk', (t) => {
  const roster = createRoster<Member>()
  for (let count = 0; count < 10; count += 1) roster.add({ place: -1 })
  let seen = 0
  for (const member of roster) {
    roster.remove(member)
    seen += 1
  }
  t.is(seen, 10)
  t.deepEqual([...roster], [])
})
