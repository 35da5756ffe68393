import test from 'ava'
import fc from 'fast-check'
import { Capture } from '../../../../src/gateway/wire/capture.ts'

const tailBytes = 32 * 1024

test('head and tail are the first and the last bytes, however the answer is cut', (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(30_000), { maxLength: 12 }), (sizes) => {
      let n = 0
      const chunks = sizes.map((size) => Buffer.from(Array.from({ length: size }, () => (n += 1) % 251)))
      const whole = Buffer.concat(chunks)
      const capture = new Capture(40_000)
      for (const chunk of chunks) capture.add(chunk)
      const head = capture.head()
      const tail = capture.tail()
      return (
        capture.size === whole.length &&
        head.equals(whole.subarray(0, 40_000)) &&
        (whole.length <= 40_000 ? tail === head : tail.equals(whole.subarray(Math.max(40_000, whole.length - tailBytes))))
      )
    }),
  )
  t.pass()
})

test('byte by byte costs a list, not an object for each', (t) => {
  const capture = new Capture(64 * 1024)
  for (let i = 0; i < 200_000; i += 1) capture.add(Buffer.from([i % 251]))
  t.is(capture.size, 200_000)
  t.is(capture.head().length, 64 * 1024)
  t.is(capture.tail().length, tailBytes)
})
