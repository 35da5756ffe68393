import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { createHeldShipper } from './held-shipper.ts'
import { createDrain, type Drain } from './drain.ts'
import { unpackConnection, type FromWorker, type ToWorker, type WorkerInput } from './messages.ts'
import { keepReject } from './rejects.ts'
import { createSession } from './session.ts'
import { createStore } from './store.ts'
import { decodeRecord } from '../../gateway/ports/journal.ts'
import { openExporter } from './open-exporter.ts'
import type { SpanCounts } from './span-exporter.ts'

/** How soon after an append the record is shipped. */
const pollEveryMs = 200
const longestBackoffMs = 5_000
const syncEveryMs = 1_000
/** How long the spans that wait at the end may take. */
const exportGraceMs = 2_000
const noSpans: SpanCounts = { exported: 0, dropped: 0 }

const input: WorkerInput = workerData
const post = (message: FromWorker) => parentPort?.postMessage(message)
const counts = { own: 0, adopted: 0, rejected: 0 }
let fault: string | null = null
let spansFault: string | null = null
let failures = 0
let stopping = false
let pending: number[] = []
let wake = new AbortController()
let reported: { readonly fault: string | null; readonly heldTo: number } = { fault: null, heldTo: 0 }

const exporter = input.spans === null ? null : await openExporter(input.spans)
const session = createSession('journal', unpackConnection(input.connection))
const store = createStore({
  session,
  queuesBodies: input.queuesBodies,
  wordsUnder: input.wordsUnder,
  shipped({ frames, own }) {
    counts[own ? 'own' : 'adopted'] += frames.length
    if (exporter !== null) for (const { frame } of frames) exporter.add(decodeRecord(frame.record.toString()))
  },
  rejected(frame, reason) {
    counts.rejected += 1
    keepReject(input.root, frame, reason)
    post({ type: 'log', level: 'warn', message: 'the database refuses a log record; it is kept in rejected.bad', fields: { reason } })
  },
})

const held = createHeldShipper(store, input.memory)

parentPort?.on('message', (message: ToWorker) => {
  if (message.type === 'hold') return held.add(message.held)
  if (message.type === 'stop') stopping = true
  else pending.push(message.id)
  wake.abort()
})

const told = new Set<string>()

await run(createDrain({ ...input, store, now: Date.now, unusable }))

async function run(drain: Drain): Promise<void> {
  const syncing = setInterval(() => fault !== null && attempt(() => drain.sync()), syncEveryMs)
  while (!(await tick(drain))) await pause()
  clearInterval(syncing)
  await exporter?.stop(exportGraceMs)
  report()
  await session.drop()
  post({ type: 'stopped' })
  parentPort?.close()
}

/** Passes until no record is left. Returns true when that was the last time: asked to stop before it began. */
async function tick(drain: Drain): Promise<boolean> {
  const last = stopping
  const asked = pending
  pending = []
  try {
    for (let more = true; more;) {
      more = await drain.pass()
      await held.ship()
      if (more) report()
    }
    recovered()
  } catch (error) {
    pending = [...asked, ...pending]
    await failed(drain, error)
    return false
  }
  report()
  for (const id of asked) post({ type: 'flushed', id })
  return last
}

function recovered(): void {
  if (fault !== null) post({ type: 'log', level: 'info', message: 'log records reach the database again', fields: { failures } })
  failures = 0
  fault = null
}

async function failed(drain: Drain, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error)
  if (fault === null) post({ type: 'log', level: 'warn', message: 'log records wait on disk for the database', fields: { reason } })
  fault = reason
  failures += 1
  report()
  drain.reset()
  await session.drop()
}

/** Logs once that spans are not taken, and once that they are again. */
function reportSpans(): void {
  const reason = exporter?.fault() ?? null
  if (reason !== null && spansFault === null)
    post({ type: 'log', level: 'warn', message: 'the receiver of OTLP does not take spans', fields: { reason } })
  if (reason === null && spansFault !== null)
    post({ type: 'log', level: 'info', message: 'the receiver of OTLP takes spans again', fields: {} })
  spansFault = reason
}

function report(): void {
  reportSpans()
  const heldTo = held.shippedTo()
  const spans = exporter?.takeCounts() ?? noSpans
  const counted = counts.own + counts.adopted + counts.rejected + spans.exported + spans.dropped
  if (fault === reported.fault && heldTo === reported.heldTo && counted === 0) return
  post({ type: 'progress', ...counts, spans, heldTo, fault })
  Object.assign(counts, { own: 0, adopted: 0, rejected: 0 })
  reported = { fault, heldTo }
}

function unusable(directory: string, reason: string): void {
  if (told.has(directory)) return
  told.add(directory)
  post({ type: 'log', level: 'warn', message: 'a journal directory cannot be used', fields: { reason } })
}

/** Until the next poll or, after failures, twice as long each time with jitter. A message ends it. */
async function pause(): Promise<void> {
  const backoffMs = Math.min(longestBackoffMs, 100 * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2)
  await sleep(failures === 0 ? pollEveryMs : backoffMs, undefined, { signal: wake.signal }).catch(() => {})
  wake = new AbortController()
}

function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // The file was shipped and removed meanwhile, or the disk refuses; the next second tries again.
  }
}
