import fs from 'node:fs'
import { JsonWriter } from '../../lib/json/json-writer.ts'
import { encodeConfidential, withoutConfidential } from './confidential.ts'
import type { ExchangeBodies, ExchangeRecord, Journal } from './log-record.ts'
import { encodeFrame, headerBytes, memoryMark, type EncodedFrame, type Frame } from './frame.ts'
import type { LogSeal } from './log-seal.ts'
import { writeRecord } from './record.ts'
import { openSpool, type Write } from './spool.ts'

export interface JournalOptions {
  /** Shared by all processes of one data directory; each writes a directory of its own below it. */
  readonly directory: string
  readonly maxBodyBytes: number
  /** Most bytes of this process that wait on disk. The last eighth is kept for records without their bodies. */
  readonly maxSpoolBytes: number
  /** Size at which the next segment begins. Small, so that segments stay in the cache while they are written over. */
  readonly segmentBytes?: number
  /** Seals confidential data before it is written; null: it is written in the clear. */
  readonly seal?: LogSeal | null
  /** Epoch milliseconds. */
  readonly now?: () => number
  readonly write?: Write
  /**
   * Takes a copy of a frame that the disk refused, to be shipped from memory; false when there is no room. `lean`: it has no bodies. Absent: refused
   * frames are dropped.
   */
  readonly hold?: (frame: EncodedFrame, lean: boolean) => boolean
}

export interface JournalStats {
  /** Bytes that wait on disk for the database; the open segment counts until it is full and shipped. */
  readonly bytes: number
  /** Records appended since the start. */
  readonly records: number
  /** Exchanges that were kept without their bodies, and exchanges that were not kept at all. */
  readonly dropped: { readonly body: number; readonly record: number }
  /** Why the disk refuses; null when it took all of the last append, or can be written again. */
  readonly fault: string | null
}

export interface OpenJournal extends Journal {
  /** Ends writing; existing frames wait for a shipper. Appending afterwards drops. */
  close(): Promise<void>
  stats(): JournalStats
}

const defaultSegmentBytes = 4 * 1024 * 1024

/**
 * Opens this process's journal. An append is one positioned write into the page cache, which outlives a kill -9; a torn frame is written over by the
 * next one, and is recognised by its CRC. Never throws: frames that the disk refuses are held in memory as long as there is room, else they are
 * counted.
 */
export function openJournal(options: JournalOptions): OpenJournal {
  const {
    maxBodyBytes,
    maxSpoolBytes,
    directory,
    segmentBytes = defaultSegmentBytes,
    seal = null,
    now = Date.now,
    write = fs.writevSync,
    hold,
  } = options
  const spool = openSpool({ directory, maxSpoolBytes, segmentBytes: Math.min(segmentBytes, Math.ceil(maxSpoolBytes / 8)), now, write })
  const text = new JsonWriter({ reserved: headerBytes })
  const dropped = { body: 0, record: 0 }
  let records = 0
  let fault: string | null = null

  const keep = (frame: Frame, lean: boolean): boolean => {
    try {
      spool.write((mark) => encodeFrame(mark, frame), lean)
      records += 1
      return true
    } catch (error) {
      fault = spool.refusal() === null ? String(error) : null
      return false
    }
  }

  const holdInMemory = (frame: Frame, lean: boolean): boolean => {
    if (hold?.(encodeFrame(memoryMark, frame), lean) !== true) return false
    records += 1
    return true
  }

  /** Null when the record cannot be written as JSON, which its type rules out, or cannot be sealed. */
  const frameOf = (record: ExchangeRecord, bodies: ExchangeBodies): Frame | null => {
    try {
      text.reset()
      writeRecord(text, seal === null ? record : withoutConfidential(record))
      return seal === null ? plainFrame(text, bodies) : sealedFrame(text, bodies, seal.seal(record, encodeConfidential(record, bodies)))
    } catch (error) {
      fault = String(error)
      return null
    }
  }

  const keepWithoutBodies = (record: ExchangeRecord, bodies: ExchangeBodies): boolean => {
    const frame = hasBody(bodies) ? frameOf(record, withoutBodies(bodies)) : null
    return frame !== null && (keep(frame, true) || holdInMemory(frame, true))
  }

  return {
    maxBodyBytes,
    append(record, bodies) {
      const frame = frameOf(record, bodies)
      const lean = !hasBody(bodies)
      if (frame === null) dropped.record += 1
      else if (keep(frame, lean)) fault = null
      else if (holdInMemory(frame, lean)) return
      else if (keepWithoutBodies(record, bodies)) dropped.body += 1
      else dropped.record += 1
    },
    close: async () => spool.close(),
    stats: () => ({ bytes: spool.bytes(), records, dropped: { ...dropped }, fault: fault ?? spool.refusal() }),
  }
}

const hasBody = ({ request, response }: ExchangeBodies) => request !== null || response !== null

const plainFrame = (record: JsonWriter, { request, response, requestTruncated, responseTruncated }: ExchangeBodies): Frame => ({
  record,
  request,
  response,
  requestTruncated,
  responseTruncated,
  sealed: null,
})

const sealedFrame = (
  record: JsonWriter,
  { requestTruncated, responseTruncated }: ExchangeBodies,
  sealed: readonly Uint8Array[],
): Frame => ({ record, request: null, response: null, requestTruncated, responseTruncated, sealed })

const withoutBodies = ({ request, response, requestTruncated, responseTruncated }: ExchangeBodies): ExchangeBodies => ({
  request: null,
  response: null,
  requestTruncated: requestTruncated || request !== null,
  responseTruncated: responseTruncated || response !== null,
})
