import test from 'ava'
import { checkLine, type InputLine, linesOf, readLine } from '../../../../src/gateway/managed/input-lines.ts'

async function linesIn(text: string, bytesOfChunk: number, { longest = 1000, blankUpTo = 1000 } = {}): Promise<readonly InputLine[]> {
  const bytes = Buffer.from(text)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += bytesOfChunk) yield bytes.subarray(at, at + bytesOfChunk)
  }
  return Array.fromAsync(linesOf(chunks(), { longest, blankUpTo }))
}

test('lines are cut at any place of the chunks, each with its place in the file, and blank ones are left out up to a bound', async (t) => {
  const text = 'one\n\nthrée\r\n \n\t\r\nlast\n'
  for (const size of [1, 2, 3, 7, 100]) {
    const lines = await linesIn(text, size)
    t.deepEqual(
      lines.map(({ line, bytes }) => [line, bytes?.toString()]),
      [
        [1, 'one'],
        [3, 'thrée\r'],
        [6, 'last'],
      ],
    )
    const bounded = await linesIn(text, size, { blankUpTo: 3 })
    t.deepEqual(
      bounded.map(({ line }) => line),
      [1, 3, 4, 5, 6],
    )
    for (const { start, bytes } of lines) t.deepEqual(Buffer.from(text).subarray(start, start + (bytes?.length ?? 0)), bytes)
  }
})

test('a line that is too long is not held, and the next one is read', async (t) => {
  const lines = await linesIn(`${'x'.repeat(50)}\nshort`, 8, { longest: 20 })
  t.deepEqual(
    lines.map(({ line, start, bytes }) => [line, start, bytes?.toString() ?? null]),
    [
      [1, 0, null],
      [2, 51, 'short'],
    ],
  )
  const [long] = lines
  if (long === undefined) throw new Error('there is no line')
  t.like(checkLine(long, '/v1/embeddings', 20), { faults: [{ line: 1, code: 'line_too_long' }] })
})

test('numbers of a body keep their text', (t) => {
  const body = readLine(Buffer.from('{"custom_id":"a","body":{"seed":12345678901234567890}}'))
  t.true('seed' in body)
})
