import test from 'ava'
import fc from 'fast-check'
import { sortShort } from '../../../../src/lib/collections/sort-short.ts'

test('sorts as the runtime does, equal ones in their order', (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat()), { maxLength: 80 }), (pairs) => {
      t.deepEqual(
        sortShort([...pairs], ([one], [other]) => one < other),
        pairs.toSorted(([one], [other]) => one - other),
      )
    }),
  )
})
