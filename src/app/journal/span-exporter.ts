import { setTimeout as sleep } from 'node:timers/promises'
import type { Egress, SmallResponse } from '../../gateway/ports/egress.ts'
import type { ExchangeRecord } from '../../gateway/ports.ts'
import { createShares } from '../../lib/shares/shares.ts'
import { attributesOf, type ExportedSpan, toSpans } from './exported-spans.ts'

export interface SpanExporterOptions {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
  readonly timeoutMs: number
  readonly serviceName: string
  readonly serviceVersion: string
  readonly egress: Pick<Egress, 'exchange' | 'close'>
  /** The wait before the first repetition; then twice as long each time. */
  readonly backoffMs?: number
}

/** Counts since the last time they were taken. */
export interface SpanCounts {
  readonly exported: number
  /** Spans that were too many, or that the receiver did not take. */
  readonly dropped: number
}

/** Sends spans of requests to an OTLP receiver. Spans that the receiver does not take are dropped: the logs have it all. */
export interface SpanExporter {
  add(record: ExchangeRecord): void
  takeCounts(): SpanCounts
  /** Why spans are not taken; null: they are. */
  fault(): string | null
  /** Sends waiting spans, once, within the deadline in milliseconds. */
  stop(deadlineMs: number): Promise<void>
}

/** Most spans that wait; further ones are dropped. One organisation has half of them at most, so that those of others still wait. */
const waitingBound = { most: 8192, mostOfOne: 4096 }
const batchSize = 512
const mostTries = 5
const longestBackoffMs = 30_000
/** The statuses that OTLP lets a sender try again. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504])

interface QueuedSpan {
  readonly owner: string
  readonly span: ExportedSpan
}

/** Builds an exporter. It holds no connection while no span waits. */
export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const { serviceName, serviceVersion, backoffMs = 1000 } = options
  const resource = { attributes: attributesOf({ 'service.name': serviceName, 'service.version': serviceVersion }) }
  const stopping = new AbortController()
  let waiting: QueuedSpan[] = []
  const shares = createShares(waitingBound)
  let [exported, dropped, fault]: [number, number, string | null] = [0, 0, null]
  let sending: Promise<void> | null = null

  const sendBatch = async (spans: readonly ExportedSpan[]): Promise<void> => {
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'gatehouse' }, spans }] }] })
    for (let tries = 1; ; tries += 1) {
      const outcome = await post(options, body)
      fault = outcome.fault
      if (outcome.fault === null || !outcome.passes || tries === mostTries || stopping.signal.aborted) {
        const refused = outcome.fault === null ? Math.min(outcome.rejected, spans.length) : spans.length
        exported += spans.length - refused
        dropped += refused
        return
      }
      const wait = outcome.retryAfterMs ?? backoffMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2)
      await sleep(Math.min(wait, longestBackoffMs), undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  const sendAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize)
      waiting = waiting.slice(batchSize)
      for (const { owner } of batch) shares.giveBack(owner)
      await sendBatch(batch.map(({ span }) => span))
    }
    sending = null
  }

  return {
    add(record) {
      const owner = record.organisationId
      const spans = toSpans(record)
      const taken = spans.filter(() => shares.take(owner))
      if (taken.length < spans.length) {
        for (const _ of taken) shares.giveBack(owner)
        dropped += spans.length
      } else {
        waiting.push(...spans.map((span) => ({ owner, span })))
        // After the batch that this record came with.
        sending ??= Promise.resolve().then(sendAll)
      }
    },
    takeCounts() {
      const counts = { exported, dropped }
      ;[exported, dropped] = [0, 0]
      return counts
    },
    fault: () => fault,
    async stop(deadlineMs) {
      stopping.abort()
      if (sending !== null) await Promise.race([sending, sleep(deadlineMs, undefined, { ref: false })])
      // Not waited for: the receiver may be silent.
      void options.egress.close()
    },
  }
}

interface Outcome {
  readonly fault: string | null
  /** Another try may help. */
  readonly passes: boolean
  readonly retryAfterMs: number | null
  /** Spans that the receiver took not, although it took the batch. */
  readonly rejected: number
}

async function post({ egress, url, headers, contentType, timeoutMs }: SpanExporterOptions, body: string): Promise<Outcome> {
  try {
    const answer = await egress.exchange({
      url,
      method: 'POST',
      headers: { ...headers, 'content-type': contentType },
      body,
      timeoutMs,
      named: 'by catalogue',
    })
    const taken = answer.status >= 200 && answer.status < 300
    return {
      fault: taken ? null : `the receiver answers ${answer.status}`,
      passes: passing.has(answer.status),
      retryAfterMs: retryAfter(answer),
      rejected: taken ? rejectedOf(answer.text) : 0,
    }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error), passes: true, retryAfterMs: null, rejected: 0 }
  }
}

function retryAfter({ headers }: SmallResponse): number | null {
  const seconds = Number(headers['retry-after'] ?? Number.NaN)
  return seconds >= 0 ? seconds * 1000 : null
}

/** `partialSuccess` of the answer. */
function rejectedOf(text: string): number {
  const [, count] = /"rejectedSpans"\s*:\s*"?(\d{1,9})/.exec(text) ?? []
  return Number(count ?? 0)
}

/** Reads `name=value,other=value`, the values percent-encoded. Other parts are left out. */
export function readHeaders(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').flatMap((pair) => {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/s.exec(pair) ?? []
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), decoded(value)] as const]
  })
  return Object.fromEntries(pairs)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
