import test from 'ava'
import { uuidv7 } from '../../../src/lib/uuid.ts'

test('version 7: the time first, so that text order is time order', (t) => {
  const id = uuidv7(0x0123_4567_89ab)
  t.regex(id, /^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.true(uuidv7(1000) < uuidv7(1001))
})

test('ids of one millisecond differ', (t) => {
  t.is(new Set(Array.from({ length: 10_000 }, () => uuidv7(1))).size, 10_000)
})
