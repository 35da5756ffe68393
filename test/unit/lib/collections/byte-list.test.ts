import test from 'ava'
import { ByteList } from '../../../../src/lib/collections/byte-list.ts'

test('bytes come out as they went in, however small the pieces', (t) => {
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 251))
  const list = new ByteList()
  for (const byte of bytes) list.push(Buffer.from([byte]))
  t.is(list.size, bytes.length)
  t.deepEqual(list.join(), bytes)
  list.push(Buffer.from('more'))
  t.deepEqual(list.join(), Buffer.concat([bytes, Buffer.from('more')]))
  list.clear()
  t.is(list.join().length, 0)
})

test('a single piece is not copied', (t) => {
  const piece = Buffer.from('whole')
  const list = new ByteList()
  list.push(piece)
  t.is(list.join(), piece)
})
