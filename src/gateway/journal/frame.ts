import zlib from 'node:zlib'
import type { JsonWriter } from '../../lib/json/json-writer.ts'

/**
 * One exchange on disk: a 32-byte header, the record as JSON text, the request body, the response body. Little-endian.
 *
 * | at | bytes | |
 * | 0 | 8 | mark: random for each segment, so that no body can pose as a frame and old bytes of a reused file are not frames |
 * | 8 | 4 | CRC-32 of everything from 12 on |
 * | 12 | 4 | length of the frame |
 * | 16 | 4 | length of the record; 0 in the last frame of a segment, which has nothing but a header |
 * | 20 | 4 | length of the request body, `absent` when there is none |
 * | 24 | 4 | the same for the response body |
 * | 28 | 4 | flags: 1 the request body was cut, 2 the response body was cut, 4 sealed |
 *
 * In a sealed frame one sealed value stands in place of both bodies, and the record has nothing confidential: see `confidential.ts`. It goes
 * into its row as it is, so that shipping needs no key.
 */
export const headerBytes = 32
/** Bytes of a segment's mark. */
export const markBytes = 8
/** Stands for the mark in a frame that goes to the shipper from memory. */
export const memoryMark: Uint8Array = new Uint8Array(markBytes)

const at = { crc: 8, total: 12, record: 16, request: 20, response: 24, flags: 28 } as const
const absent = 0xff_ff_ff_ff
const flags = { requestTruncated: 1, responseTruncated: 2, sealed: 4 } as const

/** The parts of a frame. */
export interface Frame extends FrameBodies {
  /** JSON text, see `record.ts`, behind room for the header: a writer with `headerBytes` reserved. */
  readonly record: JsonWriter
  /** The pieces of one sealed value, in place of the bodies; null: not sealed. */
  readonly sealed: readonly Uint8Array[] | null
}

/** A frame as it was read: views of the reader's buffer, valid until it reads again. */
export interface StoredFrame extends FrameBodies {
  readonly record: Buffer
  readonly sealed: Buffer | null
}

interface FrameBodies {
  readonly request: Uint8Array | null
  readonly response: Uint8Array | null
  readonly requestTruncated: boolean
  readonly responseTruncated: boolean
}

/** Bytes ready to be written, in order; they may be views of the record's memory, valid until that is written again. */
export interface EncodedFrame {
  readonly buffers: readonly Uint8Array[]
  readonly length: number
}

/** Encodes a frame in the memory of its record, so that a small exchange costs one copy and one write. */
export function encodeFrame(mark: Uint8Array, frame: Frame): EncodedFrame {
  const { bytes: head, end } = frame.record
  const bodies = bodiesOf(frame)
  const length = end + bytesOf(bodies)
  writeHeader(head, { mark, frame, recordBytes: end - headerBytes, total: length })
  const buffers = length <= head.length ? [joined(head, end, bodies)] : [head.subarray(0, end), ...bodies]
  head.writeUInt32LE(checksum(buffers), at.crc)
  return { buffers, length }
}

const none: readonly Uint8Array[] = []

function bodiesOf({ request, response, sealed }: Frame): readonly Uint8Array[] {
  if (sealed !== null) return sealed
  if (request !== null) return response === null ? [request] : [request, response]
  return response === null ? none : [response]
}

/** The last frame of a segment that was closed in order: no frame follows it. */
export function endFrame(mark: Uint8Array): EncodedFrame {
  const head = Buffer.alloc(headerBytes)
  const nothing = { request: null, response: null, requestTruncated: false, responseTruncated: false, sealed: null }
  writeHeader(head, { mark, frame: nothing, recordBytes: 0, total: headerBytes })
  head.writeUInt32LE(checksum([head]), at.crc)
  return { buffers: [head], length: headerBytes }
}

export type ParsedFrame =
  | { readonly kind: 'frame'; readonly frame: StoredFrame; readonly next: number }
  | { readonly kind: 'end' }
  /** The header is plausible, and the frame needs `bytes` in all. */
  | { readonly kind: 'short'; readonly bytes: number }
  /** No whole frame begins here: none was written, or it was torn or damaged. */
  | { readonly kind: 'none' }

/** The frame that begins at `offset`. */
export function parseFrame(buffer: Buffer, offset: number, mark: Uint8Array): ParsedFrame {
  const left = buffer.length - offset
  if (left < headerBytes) return { kind: 'short', bytes: headerBytes }
  if (buffer.compare(mark, 0, markBytes, offset, offset + markBytes) !== 0) return { kind: 'none' }
  const lengths = readLengths(buffer, offset)
  if (lengths === null) return { kind: 'none' }
  if (left < lengths.total) return { kind: 'short', bytes: lengths.total }
  const next = offset + lengths.total
  if (zlib.crc32(buffer.subarray(offset + at.total, next)) !== buffer.readUInt32LE(offset + at.crc)) return { kind: 'none' }
  if (lengths.record === 0) return { kind: 'end' }
  return { kind: 'frame', frame: readParts(buffer.subarray(offset, next), lengths), next }
}

interface Header {
  readonly mark: Uint8Array
  readonly frame: Omit<Frame, 'record'>
  readonly recordBytes: number
  readonly total: number
}

function writeHeader(head: Buffer, { mark, frame, recordBytes, total }: Header): void {
  head.set(mark, 0)
  head.writeUInt32LE(total, at.total)
  head.writeUInt32LE(recordBytes, at.record)
  head.writeUInt32LE(frame.sealed === null ? (frame.request?.length ?? absent) : bytesOf(frame.sealed), at.request)
  head.writeUInt32LE(frame.response?.length ?? absent, at.response)
  head.writeUInt32LE(
    (frame.requestTruncated ? flags.requestTruncated : 0) +
      (frame.responseTruncated ? flags.responseTruncated : 0) +
      (frame.sealed === null ? 0 : flags.sealed),
    at.flags,
  )
}

const bytesOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, part) => sum + part.length, 0)

function joined(head: Buffer, headBytes: number, bodies: readonly Uint8Array[]): Buffer {
  let end = headBytes
  for (const body of bodies) {
    head.set(body, end)
    end += body.length
  }
  return head.subarray(0, end)
}

function checksum([head, ...bodies]: readonly Uint8Array[]): number {
  let crc = head === undefined ? 0 : zlib.crc32(head.subarray(at.total))
  for (const body of bodies) crc = zlib.crc32(body, crc)
  return crc
}

interface Lengths {
  readonly total: number
  readonly record: number
  readonly request: number | null
  readonly response: number | null
}

/** Null when the lengths contradict each other. */
function readLengths(buffer: Buffer, offset: number): Lengths | null {
  const body = (position: number) => {
    const length = buffer.readUInt32LE(offset + position)
    return length === absent ? null : length
  }
  const total = buffer.readUInt32LE(offset + at.total)
  const record = buffer.readUInt32LE(offset + at.record)
  const [request, response] = [body(at.request), body(at.response)]
  return total === headerBytes + record + (request ?? 0) + (response ?? 0) ? { total, record, request, response } : null
}

function readParts(frame: Buffer, { record, request, response }: Lengths): StoredFrame {
  const requestAt = headerBytes + record
  const responseAt = requestAt + (request ?? 0)
  const bits = frame.readUInt32LE(at.flags)
  const sealed = hasFlag(bits, flags.sealed)
  const first = request === null ? null : frame.subarray(requestAt, responseAt)
  return {
    record: frame.subarray(headerBytes, requestAt),
    request: sealed ? null : first,
    response: response === null ? null : frame.subarray(responseAt, responseAt + response),
    requestTruncated: hasFlag(bits, flags.requestTruncated),
    responseTruncated: hasFlag(bits, flags.responseTruncated),
    sealed: sealed ? first : null,
  }
}

const hasFlag = (bits: number, flag: number): boolean => Math.floor(bits / flag) % 2 === 1
