import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { ClientConfig } from 'pg'
import type { Logger } from 'pino'
import type { DatabaseConfig } from '../../config/config.ts'
import type { EncodedFrame } from '../../gateway/ports/journal.ts'
import { createHolder } from './holder.ts'
import { packConnection, type FromWorker, type SpanReceiver, type ToWorker, type WorkerInput } from './messages.ts'
import type { SpanCounts } from './span-exporter.ts'

export interface ShipperOptions {
  /** The journal's directory, which holds one directory per writer. */
  readonly directory: string
  /** `client.ssl` is built again from `database` in the worker: a TLS context cannot be copied to another thread. */
  readonly database: DatabaseConfig
  readonly client: ClientConfig
  readonly log: Logger
  /** True if a log store shall get the bodies. */
  readonly queuesBodies?: boolean
  /** The log key, under which hashes of the words of logs are kept; absent: they are not. */
  readonly wordsUnder?: Uint8Array | null
  /** The receiver of a span of every request; absent: there is none. */
  readonly spans?: SpanReceiver | null
  /** Starts its thread, which takes some 14 MB, with the first record only; absent: at once. */
  readonly sleeps?: boolean
}

/** Counts since the start. */
export interface ShipperStats {
  /** Records of this process's own journal that reached the database. */
  readonly shipped: number
  /** Records that dead processes had left. */
  readonly adopted: number
  /** Records that the database will never take; they are kept in `rejected.bad`. */
  readonly rejected: number
  readonly spans: SpanCounts
  /** Why records wait; null when they do not. */
  readonly fault: string | null
}

/** Ships the journal to the database, in a thread of its own. */
export interface Shipper {
  /** Starts the thread of one that sleeps. Called with each append. */
  wake(): void
  /** Takes a frame that the disk refused, and ships a copy from memory; false when too much waits there. Lost with the process. */
  hold(frame: EncodedFrame, lean: boolean): boolean
  /** Resolves when all that was appended before the call is in the database. */
  flushed(): Promise<void>
  /** Ships as much as it can within the deadline, in milliseconds, and ends. The rest stays on disk for the next start. */
  stop(deadlineMs?: number): Promise<void>
  stats(): ShipperStats
}

type Progress = Extract<FromWorker, { readonly type: 'progress' }>

type MutableStats = { -readonly [Name in keyof ShipperStats]: ShipperStats[Name] }

const nothingYet: ShipperStats = { shipped: 0, adopted: 0, rejected: 0, spans: { exported: 0, dropped: 0 }, fault: null }

function count(stats: MutableStats, { own, adopted, rejected, spans, fault }: Progress): void {
  stats.shipped += own
  stats.adopted += adopted
  stats.rejected += rejected
  stats.spans = { exported: stats.spans.exported + spans.exported, dropped: stats.spans.dropped + spans.dropped }
  stats.fault = fault
}

function reportLost(records: number, log: Logger): void {
  if (records > 0) log.error({ records }, 'log records that could not be written to disk are lost: the database did not take them in time')
}

const segmentBytes = 4 * 1024 * 1024
const respawnAfterMs = 1_000
const stopDeadlineMs = 5_000
/** Batches are bounded, so that little is enough; a leak ends the thread, which is then started again. */
const resourceLimits = { maxOldGenerationSizeMb: 128 }
const entry = new URL(import.meta.url.endsWith('.ts') ? './journal-worker.ts' : './journal-worker.js', import.meta.url)

const inputOf = ({ directory, database, client, queuesBodies = false, wordsUnder = null, spans = null }: ShipperOptions): WorkerInput => ({
  root: directory,
  segmentBytes,
  memory: randomUUID(),
  connection: packConnection(database, client),
  queuesBodies,
  wordsUnder,
  spans,
})

/** Starts shipping: first the records that dead processes left, then appended ones, within a second. */
export function startShipper(options: ShipperOptions): Shipper {
  const [{ log, sleeps = false }, workerData] = [options, inputOf(options)]
  const stats: MutableStats = { ...nothingYet }
  const flushes = new Map<number, () => void>()
  const ended = Promise.withResolvers<void>()
  let [asked, stopping] = [0, false]
  let worker: Worker | null = sleeps ? null : spawn()
  const awake = (): Worker => (worker ??= spawn())
  const holder = createHolder((held) => awake().postMessage({ type: 'hold', held } satisfies ToWorker))

  function spawn(): Worker {
    const thread = new Worker(entry, { workerData, env: {}, resourceLimits, name: 'journal' })
    thread.unref()
    thread.on('message', receive)
    thread.on('error', (error) => log.error({ err: error }, 'the journal thread failed'))
    thread.on('exit', () => (stopping ? ended.resolve() : setTimeout(respawn, respawnAfterMs).unref()))
    return thread
  }

  function respawn(): void {
    if (stopping) return ended.resolve()
    worker = spawn()
    holder.sendAgain()
    for (const id of flushes.keys()) send({ type: 'flush', id })
  }

  function send(message: ToWorker): void {
    awake().ref()
    awake().postMessage(message)
  }

  function receive(message: FromWorker): void {
    if (message.type === 'log') log[message.level](message.fields, message.message)
    if (message.type === 'progress') {
      count(stats, message)
      holder.release(message.heldTo)
    }
    if (message.type === 'flushed') {
      flushes.get(message.id)?.()
      flushes.delete(message.id)
      if (flushes.size === 0 && !stopping) worker?.unref()
    }
  }

  return {
    wake: () => void (stopping || awake()),
    stats: () => ({ ...stats }),
    hold: (frame, lean) => !stopping && holder.hold(frame, lean),
    flushed() {
      const { promise, resolve } = Promise.withResolvers<void>()
      asked += 1
      flushes.set(asked, resolve)
      send({ type: 'flush', id: asked })
      return promise
    },
    async stop(deadlineMs = stopDeadlineMs) {
      stopping = true
      if (worker === null) return
      send({ type: 'stop' })
      const deadline = setTimeout(() => void worker?.terminate(), deadlineMs)
      await ended.promise.finally(() => clearTimeout(deadline))
      reportLost(holder.waiting(), log)
    },
  }
}
