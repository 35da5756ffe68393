import test from 'ava'
import { rawHeaderText } from '../../../../src/gateway/egress/raw-headers.ts'

const cut = (text: string, ...ranges: readonly (readonly [number, number])[]) => {
  const bytes = Buffer.from(text, 'latin1')
  return ranges.map(([start, end]) => bytes.subarray(start, end))
}

test('none', (t) => {
  t.deepEqual(rawHeaderText(null), [])
  t.deepEqual(rawHeaderText([]), [])
})

test('views of one piece of memory', (t) => {
  t.deepEqual(rawHeaderText(cut('A: caf\u00e9\r\nb: \r\n', [0, 1], [3, 7], [9, 10], [12, 12])), ['A', 'caf\u00e9', 'b', ''])
})

test('views of different memory', (t) => {
  t.deepEqual(rawHeaderText([Buffer.from('A'), Buffer.alloc(3, 'x'), Buffer.from('B'), Buffer.from('\u00e9', 'latin1')]), [
    'A',
    'xxx',
    'B',
    '\u00e9',
  ])
})

test('views out of order, and far apart', (t) => {
  t.deepEqual(rawHeaderText(cut('b: 2, A: 1', [6, 7], [9, 10], [0, 1], [3, 4])), ['A', '1', 'b', '2'])
  t.deepEqual(rawHeaderText(cut(`A${' '.repeat(500)}1`, [0, 1], [501, 502])), ['A', '1'])
})
