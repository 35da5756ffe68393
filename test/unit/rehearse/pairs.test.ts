import test from 'ava'
import { allPairs, neighbours, readPairs } from '../../../scripts/rehearse/pairs.ts'
import { readOwnTable } from '../../../src/app/release-records.ts'

const releases = ['1.0.0', '1.1.0', '1.2.0']

test('all pairs lead upward, neighbours cover every release, and the first leads to the last', (t) => {
  t.deepEqual(allPairs(releases), [
    ['1.0.0', '1.1.0'],
    ['1.0.0', '1.2.0'],
    ['1.1.0', '1.2.0'],
  ])
  t.deepEqual(neighbours(releases), [
    ['1.0.0', '1.1.0'],
    ['1.1.0', '1.2.0'],
    ['1.0.0', '1.2.0'],
  ])
  t.deepEqual(neighbours(['1.0.0', '1.1.0']), [['1.0.0', '1.1.0']])
})

test('the releases that there are make 210 pairs, and 20 neighbours', (t) => {
  const known = readOwnTable().releases.map(({ version }) => version)
  t.is(allPairs(known).length, 210)
  t.is(neighbours(known).length, 21)
  t.deepEqual(neighbours(known).at(-1), ['1.3.0', '1.12.0'])
})

test('pairs are named by a word or one by one; what leads nowhere is refused', (t) => {
  t.deepEqual(readPairs('all', releases), allPairs(releases))
  t.deepEqual(readPairs('1.0.0-1.2.0,1.1.0-1.2.0', releases), [
    ['1.0.0', '1.2.0'],
    ['1.1.0', '1.2.0'],
  ])
  for (const wrong of ['', 'some', '1.2.0-1.0.0', '1.0.0-1.0.0', '1.0.0-9.0.0'])
    t.throws(() => readPairs(wrong, releases), { instanceOf: RangeError, message: /is no upgrade: write all, neighbours/ }, wrong)
})
