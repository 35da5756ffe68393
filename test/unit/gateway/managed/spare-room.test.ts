import test from 'ava'
import { placesFor, shareOf } from '../../../../src/gateway/managed/spare-room.ts'

for (const [what, busyness, places] of [
  ['a process at rest', { live: 0, lateMs: 0 }, 16],
  ['requests of callers', { live: 5, lateMs: 0 }, 11],
  ['more requests than places, which may only wait', { live: 500, lateMs: 0 }, 8],
  ['a loop that is late', { live: 0, lateMs: 50 }, 8],
  ['a loop that is late of many requests', { live: 500, lateMs: 50 }, 4],
  ['a loop that is very late', { live: 0, lateMs: 150 }, 0],
  ['a line whose exchange has ended', { live: -1, lateMs: 0 }, 16],
] as const)
  test(`the places for lines beside ${what}`, (t) => {
    t.is(placesFor({ atOnce: 16, ...busyness }), places)
  })

for (const [places, share] of [
  [16, 12],
  [4, 3],
  [2, 1],
  [1, 1],
] as const)
  test(`one organisation has ${share} of ${places} places`, (t) => {
    t.is(shareOf(places), share)
  })
