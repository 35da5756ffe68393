import test from 'ava'
import { readCursor, writeCursor } from '../../../../src/features/logs/cursor.ts'

test('a cursor comes back', (t) => {
  const cursor = { createdAt: 1_764_000_000_123, id: '019ab000-0000-7000-8000-00000000000a' }
  t.deepEqual(readCursor(writeCursor(cursor)), cursor)
})

test('anything else is none', (t) => {
  for (const text of ['', 'x', Buffer.from('1.2').toString('base64url'), Buffer.from("1.'; DROP TABLE logs; --").toString('base64url')]) {
    t.is(readCursor(text), null, text)
  }
})
