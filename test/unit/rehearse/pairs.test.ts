import test from 'ava'
import { deal } from '../../../scripts/rehearse/pair-workers.ts'
import { allPairs, changes, neighbours, readPairs } from '../../../scripts/rehearse/pairs.ts'
import { readOwnTable } from '../../../src/app/level/release-records.ts'

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

const own = readOwnTable()

test('the releases that there are make 210 pairs, 20 neighbours, and 6 changes', (t) => {
  const known = own.releases.map(({ version }) => version)
  t.is(allPairs(known).length, 210)
  t.is(neighbours(known).length, 21)
  t.deepEqual(neighbours(known).at(-1), ['1.3.0', '1.12.0'])
  t.deepEqual(changes(own).map(String), [
    '1.3.0,1.4.0',
    '1.4.0,1.5.0',
    '1.5.0,1.6.0',
    '1.6.0,1.7.3',
    '1.7.3,1.11.0',
    '1.11.0,1.12.0',
    '1.3.0,1.12.0',
  ])
})

test('pairs are named by a word or one by one; what leads nowhere is refused', (t) => {
  t.is(readPairs('all', own).length, 210)
  t.deepEqual(readPairs('changes', own), changes(own))
  t.deepEqual(readPairs('1.3.0-1.12.0,1.4.0-1.5.0', own), [
    ['1.3.0', '1.12.0'],
    ['1.4.0', '1.5.0'],
  ])
  for (const wrong of ['', 'some', '1.12.0-1.3.0', '1.3.0-1.3.0', '1.3.0-9.0.0'])
    t.throws(() => readPairs(wrong, own), { instanceOf: RangeError, message: /is no upgrade: write all, neighbours, changes/ }, wrong)
})

test('upgrades are dealt in shares of about one size, those from one release together', (t) => {
  const all = allPairs(releases)
  for (const count of [1, 2, 3, 8]) {
    const shares = deal(all, count)
    t.deepEqual(shares.flat().map(String).toSorted(), all.map(String).toSorted())
    const sizes = shares.map(({ length }) => length)
    t.true(Math.max(...sizes) - Math.min(...sizes) <= releases.length, sizes.join(' '))
    for (const [from] of all) t.is(shares.filter((share) => share.some((jump) => jump[0] === from)).length, 1)
  }
  t.deepEqual(deal(neighbours(releases).slice(0, 2), 8).length, 2)
})
