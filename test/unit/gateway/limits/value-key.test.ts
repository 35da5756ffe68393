import test from 'ava'
import fc from 'fast-check'
import { groupsOf, valueKeyOf } from '../../../../src/gateway/limits/value-key.ts'

test('a value key reads as the groups that it names, also where values hold what joins them', (t) => {
  const groups = fc.array(fc.tuple(fc.string({ unit: fc.constantFrom('a', '|', ':', '%', '7', 'C') }), fc.string()), { minLength: 1 })
  fc.assert(fc.property(groups, (given) => t.deepEqual(groupsOf(valueKeyOf(given)), given)))
})

test('the hash that stands for a long value key is a group without a key', (t) => {
  t.deepEqual(groupsOf('0a1b'), [['', '0a1b']])
})

test('a value key without such signs is plain', (t) => {
  t.is(
    valueKeyOf([
      ['api_key', '0190'],
      ['metadata.team', 'a:b'],
    ]),
    'api_key:0190|metadata.team:a:b',
  )
})
