import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { bytesOf, openForm } from '../../../../src/gateway/managed/upload-form.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const contentType = 'multipart/form-data; boundary=b'
const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n'

/** Returns a body that comes byte by byte. */
function byteByByte(bytes: Buffer): Readable {
  let at = 0
  return new Readable({
    highWaterMark: 1,
    read() {
      this.push(at < bytes.length ? bytes.subarray(at, (at += 1)) : null)
    },
  })
}

test('a form that comes byte by byte is held in little more memory than its bytes', async (t) => {
  const bytes = Buffer.from(`${head}${'x'.repeat(200_000)}`)
  const body = byteByByte(bytes)
  collect()
  const before = process.memoryUsage().heapUsed
  const form = await openForm(body, contentType, 'o')
  collect()
  t.true(process.memoryUsage().heapUsed - before < 8 * 1024 * 1024)
  t.true(form?.held.equals(bytes))
})

test('bytes of a form that are held are read in slices, and other work goes on meanwhile', async (t) => {
  const held = Buffer.alloc(1024 * 1024, 'x')
  let [slices, turns, isOver] = [0, 0, false]
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  for await (const slice of bytesOf(Readable.from([]), { held, isWhole: true }, 'o')) slices += slice.length > 0 ? 1 : 0
  isOver = true
  t.is(slices, 8)
  t.true(turns >= slices)
})
