import type { ExchangeRecord } from '../../gateway/ports.ts'
import { type StoredFrame, decodeRecord } from '../../gateway/ports/journal.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { createArrayWriter } from './binary-array.ts'
import { bodyColumns, type LoggedExchange, logColumns } from './columns.ts'
import { createWordsEncoder, type EncodedWords } from './words-rows.ts'

/** A batch as parameters of its inserts; valid until the next batch is encoded. */
export interface EncodedRows {
  readonly count: number
  /** The days of its logs, `2026-01-31`. */
  readonly days: readonly string[]
  readonly logs: readonly Buffer[]
  readonly bodies: readonly Buffer[]
  /** Null: words are not kept. */
  readonly words: EncodedWords | null
  /** The batches that its exchanges began by stored providers. */
  readonly batches: readonly BegunBatch[]
}

/** A row of `provider_batches`; times are epoch milliseconds. */
export interface BegunBatch {
  readonly id: string
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly provider: string
  readonly provider_slug: string
  readonly batch_id: string
  readonly begun_ms: number
  readonly provider_id: string | null
  readonly host: string | null
  /** Null for the job of the last attempt, which has the id of its log. */
  readonly log_id: string | null
  readonly attempt: number | null
}

/** A record that cannot become a row, in any state of the database. */
export class UnreadableRowError extends Error {}

const dayMs = 24 * 60 * 60 * 1000
/** A `Date` ends there. */
const lastMs = 8.64e15

/** An encoder with its own memory. Each record is decoded and written before the next, so that little of it has to be collected. */
export function createRowEncoder(
  wordsOf: ((log: LoggedExchange) => readonly number[]) | null = null,
): (frames: readonly StoredFrame[]) => EncodedRows {
  const logs = logColumns.map(createArrayWriter)
  const bodies = bodyColumns.map(createArrayWriter)
  const all = [...logs, ...bodies]
  const words = wordsOf === null ? null : createWordsEncoder(wordsOf)
  return (frames) => {
    const days = new Set<number>()
    const batches: BegunBatch[] = []
    for (const array of all) array.reset()
    words?.reset()
    try {
      for (const frame of frames) {
        const row = { record: decodeRecord(frame.record.toString()), bodies: frame }
        days.add(Math.floor(row.record.createdAt / dayMs))
        if (row.record.jobs !== null) batches.push(...begunBatches(row.record, row.record.jobs))
        for (const array of all) array.add(row)
        words?.add(row)
      }
    } catch (error) {
      throw new UnreadableRowError('a record is no row', { cause: error })
    }
    const finish = (arrays: typeof all) => arrays.map((array) => array.finish(frames.length))
    return {
      count: frames.length,
      days: [...days].map(toDate),
      logs: finish(logs),
      bodies: finish(bodies),
      words: words?.finish() ?? null,
      batches,
    }
  }
}

function begunBatches(
  { id, organisationId, workspaceId, createdAt, retryCount }: ExchangeRecord,
  jobs: NonNullable<ExchangeRecord['jobs']>,
): readonly BegunBatch[] {
  return jobs.map(({ attempt, provider, slug, noted, providerId, host }) => ({
    ...(attempt === retryCount ? { id, log_id: null, attempt: null } : { id: uuidv7(createdAt), log_id: id, attempt }),
    organisation_id: organisationId,
    workspace_id: workspaceId,
    provider,
    provider_slug: slug,
    batch_id: noted,
    begun_ms: createdAt,
    provider_id: providerId,
    host,
  }))
}

function toDate(day: number): string {
  if (Math.abs(day * dayMs) > lastMs) throw new UnreadableRowError('a record has no valid time')
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
