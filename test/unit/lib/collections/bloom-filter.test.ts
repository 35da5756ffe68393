import { randomBytes } from 'node:crypto'
import test from 'ava'
import { createBloomFilter } from '../../../../src/lib/collections/bloom-filter.ts'

test('it never denies what was put in, and seldom takes a stranger for it', (t) => {
  const filter = createBloomFilter(20_000)
  const known = Array.from({ length: 20_000 }, () => randomBytes(16))
  for (const hash of known) filter.add(hash)
  t.true(known.every((hash) => filter.mayHold(hash)))
  const mistaken = Array.from({ length: 20_000 }, () => randomBytes(16)).filter((hash) => filter.mayHold(hash))
  t.true(mistaken.length < 40, `${mistaken.length} of 20,000`)
  t.false(filter.full())
})
