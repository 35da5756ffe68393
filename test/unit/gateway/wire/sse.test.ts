import test from 'ava'
import fc from 'fast-check'
import { cutFrames, dataOf, FrameCutter, withData } from '../../../../src/gateway/wire/sse.ts'

const pass = test.macro({
  exec(t, chunks: readonly string[], expected: readonly (string | null)[], rest: string | null) {
    const cutter = new FrameCutter()
    t.deepEqual(
      chunks.map((chunk) => cutter.push(Buffer.from(chunk))?.toString() ?? null),
      [...expected],
    )
    t.is(cutter.rest()?.toString() ?? null, rest)
  },
  title: (name = '') => `frames: ${name}`,
})

test('a whole frame passes', pass, ['data: 1\n\n'], ['data: 1\n\n'], null)
test('two frames in one chunk pass together', pass, ['data: 1\n\ndata: 2\n\n'], ['data: 1\n\ndata: 2\n\n'], null)
test('half a frame waits', pass, ['data: 1\n\nda', 'ta: 2\n\n'], ['data: 1\n\n', 'data: 2\n\n'], null)
test('a blank line split over chunks is found', pass, ['data: 1\n', '\n'], [null, 'data: 1\n\n'], null)
test('CRLF ends frames', pass, ['data: 1\r\n\r\ndata: 2'], ['data: 1\r\n\r\n'], 'data: 2')
test('CRLF split between its characters', pass, ['data: 1\r\n\r', '\ndata'], [null, 'data: 1\r\n\r\n'], 'data')
test('CR alone ends frames', pass, ['data: 1\r\rdata: 2'], ['data: 1\r\r'], 'data: 2')
test('comments and pings are frames', pass, [': ping\n\n'], [': ping\n\n'], null)

test('a frame without end is passed on once it is too long to hold', (t) => {
  const cutter = new FrameCutter()
  const long = Buffer.alloc(1024 * 1024 + 1, 'x')
  t.deepEqual(cutter.push(long), long)
  t.is(cutter.rest(), null)
})

test('no byte is lost, added or reordered, however the stream is cut', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', '\n', '\r\n', '\n\n', 'data: é\n'), { maxLength: 40 }),
      fc.array(fc.nat(7), { maxLength: 40 }),
      (parts, sizes) => {
        const bytes = Buffer.from(parts.join(''))
        const cutter = new FrameCutter()
        const out: Buffer[] = []
        let at = 0
        for (const size of [...sizes, bytes.length]) {
          const passed = cutter.push(bytes.subarray(at, at + size))
          if (passed !== null) out.push(passed)
          at += Math.min(size, bytes.length - at)
        }
        out.push(cutter.rest() ?? Buffer.alloc(0))
        return Buffer.concat(out).equals(bytes)
      },
    ),
  )
  t.pass()
})

for (const end of ['\n', '\r\n', '\r'])
  test(`frames are cut, read and written anew, with lines that end in ${JSON.stringify(end)}`, (t) => {
    const frames = [`event: a${end}data: {"x":${end}data:1}${end}${end}`, `: ping${end}${end}`, 'data: 2']
    const cut = cutFrames(Buffer.from(frames.join('')))
    t.deepEqual(cut.map(String), frames)
    t.deepEqual(cut.map(dataOf), ['{"x":\n1}', '', '2'])
    t.is(String(withData(cut[0] ?? Buffer.alloc(0), 'a\nb')), 'event: a\ndata: a\ndata: b\n\n')
  })

test('a byte order mark hides no data', (t) => t.is(dataOf(Buffer.from('\ufeffdata: 1\n\n')), '1'))
