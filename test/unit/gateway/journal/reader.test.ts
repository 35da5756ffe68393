import test from 'ava'
import { randomBytes } from 'node:crypto'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { encodeFrame, endFrame } from '../../../../src/gateway/journal/frame.ts'
import { createSegmentReader, type ReadOptions } from '../../../../src/gateway/journal/reader.ts'
import type { Segment } from '../../../../src/gateway/journal/segment.ts'
import { recordText, temporaryDirectory } from '../../../support/journal.ts'

const directory = temporaryDirectory()
test.after.always(() => directory.remove())

let segments = 0

/** A segment of frames whose records are `"0"`, `"1"` ... and whose bodies have the given sizes. */
function segmentOf(sizes: readonly number[], { ended = false, tail = Buffer.alloc(0) } = {}): { segment: Segment; starts: number[] } {
  const mark = randomBytes(8)
  const starts: number[] = []
  let bytes = Buffer.alloc(0)
  for (const [index, size] of sizes.entries()) {
    starts.push(bytes.length)
    const frame = {
      record: recordText(`"${index}"`),
      request: randomBytes(size),
      response: null,
      requestTruncated: false,
      responseTruncated: false,
      sealed: null,
    }
    bytes = Buffer.concat([bytes, ...encodeFrame(mark, frame).buffers])
  }
  starts.push(bytes.length)
  const name = `${String((segments += 1)).padStart(10, '0')}.${mark.toString('hex')}.seg`
  const file = path.join(directory.path, name)
  writeFileSync(file, Buffer.concat([bytes, ...(ended ? endFrame(mark).buffers : []), tail]))
  return { segment: { seq: segments, name, path: file, mark }, starts }
}

/** Reads to the end of the frames. */
function readAll(segment: Segment, options: Partial<ReadOptions> = {}) {
  const read = createSegmentReader()
  const records: string[] = []
  let offset = 0
  for (let batches = 1; ; batches += 1) {
    const batch = read(segment, { offset, closed: false, maxFrames: 1000, maxBytes: 1 << 20, ...options })
    records.push(...batch.frames.map(({ frame }) => frame.record.toString()))
    offset = batch.offset
    if (batch.state !== 'more') return { records, offset, state: batch.state, batches }
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `"${index}"`)

test('an open segment is read to its end, and waited for', (t) => {
  const { segment, starts } = segmentOf([10, 20, 30])
  t.like(readAll(segment), { records: numbered(3), offset: starts[3], state: 'waiting' })
})

test('a reused file: what another segment left behind is not read', (t) => {
  const { segment, starts } = segmentOf([10, 20], { tail: randomBytes(5000) })
  t.like(readAll(segment), { records: numbered(2), offset: starts[2], state: 'waiting' })
})

test('a segment that was closed ends', (t) => {
  const { segment, starts } = segmentOf([10, 20], { ended: true, tail: randomBytes(5000) })
  for (const closed of [true, false]) t.like(readAll(segment, { closed }), { records: numbered(2), offset: starts[2], state: 'ended' })
})

test('frames larger than the first read, than a batch, and many batches', (t) => {
  const sizes = [100, 70_000, 3_000_000, 1, 500_000, ...Array.from({ length: 300 }, () => 5_000)]
  const { segment } = segmentOf(sizes, { ended: true })
  t.like(readAll(segment, { maxBytes: 1 << 20, maxFrames: 7 }), { records: numbered(sizes.length), state: 'ended' })
  t.like(readAll(segment, { maxBytes: 200_000 }), { records: numbered(sizes.length), state: 'ended' })
})

test('a torn last frame: everything before it is read, whatever byte it was torn at', (t) => {
  const whole = segmentOf([10, 40])
  const [, second = 0, end = 0] = whole.starts
  for (let length = end - 1; length >= second; length -= 1) {
    truncateSync(whole.segment.path, length)
    t.like(readAll(whole.segment), { records: ['"0"'], offset: second, state: 'waiting' })
    t.like(readAll(whole.segment, { closed: true }), { records: ['"0"'], state: 'ended' })
  }
})

test('damage in the middle of a closed segment costs only the frames it hit', (t) => {
  const { segment, starts } = segmentOf([10, 20, 30, 40], { ended: true })
  const fd = starts[1] ?? 0
  overwrite(segment.path, fd + 40, 0xff)
  t.like(readAll(segment, { closed: true }), { records: ['"0"', '"2"', '"3"'], state: 'ended' })
})

test('a body that holds a frame of another segment is a body', (t) => {
  const inner = encodeFrame(randomBytes(8), {
    record: recordText('"forged"'),
    request: null,
    response: null,
    requestTruncated: false,
    responseTruncated: false,
    sealed: null,
  })
  const forged = Buffer.concat(inner.buffers)
  const { segment, starts } = segmentOf([10, 20], { tail: forged })
  overwrite(segment.path, (starts[1] ?? 0) + 36, 0xff)
  t.like(readAll(segment, { closed: true }), { records: ['"0"'], state: 'ended' })
})

test('an empty segment', (t) => {
  const { segment } = segmentOf([])
  t.like(readAll(segment), { records: [], offset: 0, state: 'waiting' })
  t.like(readAll(segment, { closed: true }), { records: [], state: 'ended' })
})

function overwrite(file: string, position: number, value: number): void {
  const bytes = readFileSync(file)
  bytes[position] = (bytes[position] ?? 0) ^ value
  writeFileSync(file, bytes)
}
