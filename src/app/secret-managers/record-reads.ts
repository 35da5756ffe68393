import type { Logger } from 'pino'
import type { SecretOutcome } from '../../gateway/ports/secrets.ts'
import { cleanText } from '../journal/clean-text.ts'
import type { SidePool } from '../database/side-pool.ts'
import type { OpenSigning } from './open-signing.ts'

export interface RecordingOptions {
  readonly side: SidePool
  readonly log: Logger
  readonly signing: OpenSigning
}

export interface ReadRecorder {
  /** Writes waiting outcomes. */
  flush(): Promise<void>
  stop(): void
}

const everyMs = 1000
/** Outcomes that wait for a database that is away; later ones of the same reference take their place. */
const mostWaiting = 10_000

const success = `
  INSERT INTO secret_reference_reads (reference_id, organisation_id, last_fetched_at)
    SELECT id, organisation_id, $2 FROM secret_references WHERE id = $1
    ON CONFLICT (reference_id) DO UPDATE SET last_fetched_at = greatest(secret_reference_reads.last_fetched_at, excluded.last_fetched_at),
      failing_since = NULL, failed_at = NULL, reason = NULL, message = NULL, is_stale = false`
const failure = `
  INSERT INTO secret_reference_reads (reference_id, organisation_id, failing_since, failed_at, reason, message, is_stale)
    SELECT id, organisation_id, $2, $2, $3, $4, $5 FROM secret_references WHERE id = $1
    ON CONFLICT (reference_id) DO UPDATE SET failing_since = coalesce(secret_reference_reads.failing_since, excluded.failing_since),
      failed_at = excluded.failed_at, reason = excluded.reason, message = excluded.message, is_stale = excluded.is_stale`

interface QueuedOutcome extends SecretOutcome {
  readonly at: Date
}

/** Notes in the database the outcome of each read of a secret, so that people see it for all processes. No request waits for it. */
export function recordReads({ side, log, signing }: RecordingOptions): ReadRecorder {
  const waiting = new Map<string, QueuedOutcome>()
  const failing = new Set<string>()
  const connections = side.of('secrets')
  signing.tell((outcome) => {
    const { reference, fault, isStale } = outcome
    tellChange({ ...outcome, failing, log })
    if (waiting.size < mostWaiting || waiting.has(reference.id)) waiting.set(reference.id, { reference, fault, isStale, at: new Date() })
  })
  const write = ({ at, fault, isStale, reference: { id } }: QueuedOutcome): Promise<unknown> =>
    fault === null
      ? connections.query(success, [id, at])
      : connections.query(failure, [id, at, fault.reason, cleanText(fault.message.slice(0, 1000)), isStale])
  /** An outcome waits until it is written, or until a later one of the same reference takes its place. */
  const writeAll = async () => {
    let fault: Error | null = null
    for (const [id, outcome] of waiting) {
      const error = await write(outcome).then(() => null, toError)
      if (error !== null && !isRefused(error)) {
        if (stateOf(error) === '') throw error
        fault ??= error
        continue
      }
      if (error !== null)
        log.warn({ err: error, secret_reference_id: id }, 'the outcome of reading a secret is not noted: the database refuses it')
      if (waiting.get(id) === outcome) waiting.delete(id)
    }
    if (fault !== null) throw fault
  }
  let running: Promise<void> | null = null
  const flush = () => (running ??= writeAll().finally(() => (running = null)))
  const timer = setInterval(() => {
    if (waiting.size > 0) flush().catch((error: unknown) => log.debug({ err: error }, 'the outcomes of reading secrets cannot be noted'))
  }, everyMs).unref()
  return {
    flush,
    stop: () => clearInterval(timer),
  }
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** Returns the SQLSTATE of an answer of the database; empty: it did not answer. */
const stateOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : ''

/** True for values that the database would refuse again: values that it cannot take, or that break its rules. */
const isRefused = (error: Error): boolean => /^2[23]/.test(stateOf(error))

interface ReportContext extends SecretOutcome {
  /** Ids of the references whose last question failed. */
  readonly failing: Set<string>
  readonly log: Logger
}

/** Logs once that a secret cannot be read, and once that it can again. */
function tellChange({ reference, fault, isStale, failing, log }: ReportContext): void {
  const facts = { secret_reference: reference.slug, secret_reference_id: reference.id, manager: reference.manager }
  if (fault === null) {
    if (failing.delete(reference.id)) log.info(facts, 'a secret can be read from its manager again')
    return
  }
  if (failing.has(reference.id)) return
  failing.add(reference.id)
  const said = isStale ? 'the value that was read last serves on' : 'there is no value that could serve'
  log.warn({ ...facts, reason: fault.reason, detail: fault.message }, `a secret cannot be read from its manager: ${said}`)
}
