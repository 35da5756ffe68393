import test from 'ava'
import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import {
  encodeFrame,
  endFrame,
  headerBytes,
  parseFrame,
  type Frame as Encoded,
  type StoredFrame,
} from '../../../../src/gateway/journal/frame.ts'
import { recordText } from '../../../support/journal.ts'

const mark = Buffer.from('0123456789abcdef', 'hex')
type Frame = Omit<Encoded, 'record'> & { readonly record: string }
const bytesOf = (frame: Frame) => Buffer.concat(encodeFrame(mark, { ...frame, record: recordText(frame.record) }).buffers)
const frame = (fields: Partial<Frame> = {}): Frame => ({
  record: '[1,"ä"]',
  request: Buffer.from('request'),
  response: Buffer.from('response'),
  requestTruncated: false,
  responseTruncated: false,
  sealed: null,
  ...fields,
})

const roundTrip = test.macro({
  exec(t, given: Frame) {
    const bytes = Buffer.concat([Buffer.from('before'), bytesOf(given)])
    const parsed = parseFrame(bytes, 6, mark)
    t.is(parsed.kind, 'frame')
    if (parsed.kind !== 'frame') return
    t.is(parsed.next, bytes.length)
    t.deepEqual(toFrame(parsed.frame), given)
  },
  title: (name = '') => `round trip: ${name}`,
})
const copy = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes)
const toFrame = (stored: StoredFrame): Frame => ({
  ...stored,
  record: stored.record.toString(),
  request: copy(stored.request),
  response: copy(stored.response),
  sealed: stored.sealed && [Buffer.from(stored.sealed)],
})

test('small', roundTrip, frame())
test('no bodies', roundTrip, frame({ request: null, response: null }))
test('empty bodies are not absent ones', roundTrip, frame({ request: Buffer.alloc(0), response: null }))
test('request cut', roundTrip, frame({ requestTruncated: true }))
test('response cut', roundTrip, frame({ responseTruncated: true }))
test('both cut', roundTrip, frame({ requestTruncated: true, responseTruncated: true }))
test('bodies larger than the scratch', roundTrip, frame({ request: randomBytes(100_000), response: randomBytes(70_000) }))
test('record larger than the scratch', roundTrip, frame({ record: JSON.stringify('€'.repeat(60_000)) }))

test('sealed', roundTrip, frame({ request: null, response: null, sealed: [Buffer.from('sealed value')], responseTruncated: true }))
test('sealed, larger than the scratch', roundTrip, frame({ request: null, response: null, sealed: [randomBytes(100_000)] }))

test('the pieces of a sealed value are one', (t) => {
  const parsed = parseFrame(bytesOf(frame({ request: null, response: null, sealed: [Buffer.from('a'), Buffer.from('bc')] })), 0, mark)
  t.is(parsed.kind === 'frame' ? parsed.frame.sealed?.toString() : null, 'abc')
})

test('any frame comes back', (t) => {
  const body = fc.option(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)))
  const frames = fc.record({
    record: fc.string({ minLength: 1, unit: 'grapheme' }),
    request: body,
    response: body,
    requestTruncated: fc.boolean(),
    responseTruncated: fc.boolean(),
    sealed: fc.constant(null),
  })
  fc.assert(
    fc.property(frames, (given) => {
      const parsed = parseFrame(bytesOf(given), 0, mark)
      t.is(parsed.kind, 'frame')
      if (parsed.kind === 'frame') t.deepEqual(toFrame(parsed.frame), given)
    }),
  )
})

test('the end frame', (t) => {
  t.is(endFrame(mark).length, headerBytes)
  t.deepEqual(parseFrame(Buffer.concat(endFrame(mark).buffers), 0, mark), { kind: 'end' })
})

test('a frame cut at any byte is never a frame, and says how much it needs once its header is there', (t) => {
  const whole = bytesOf(frame())
  for (let length = 0; length < whole.length; length += 1) {
    const bytes = length < headerBytes ? headerBytes : whole.length
    t.deepEqual(parseFrame(whole.subarray(0, length), 0, mark), { kind: 'short', bytes })
  }
})

test('a frame with any one bit wrong is never a frame', (t) => {
  const whole = bytesOf(frame())
  for (let bit = 0; bit < whole.length * 8; bit += 1) {
    const damaged = Buffer.from(whole)
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    t.not(parseFrame(damaged, 0, mark).kind, 'frame')
  }
})

test("another segment's frame is none here", (t) => {
  t.deepEqual(parseFrame(bytesOf(frame()), 0, Buffer.alloc(8)), { kind: 'none' })
})
