import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiError, toApiError } from '../../lib/errors.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { InnerAnswer, InnerRequest } from '../exchange/inner-exchange.ts'
import type { ClaimedLine, LineQueue, LineResult, OpenBatch } from './batch-store.ts'
import type { FileStore } from './file-store.ts'
import { readLineOf } from './read-line.ts'
import { failedWithout, type LineEnd, logIdOf, runLine } from './run-line.ts'

/** A line that this process holds. */
export interface HeldLine {
  readonly batch: OpenBatch
  readonly line: ClaimedLine
}

export interface HeldMeans {
  readonly queue: LineQueue
  readonly files: FileStore
  readonly perform: (request: InnerRequest) => Promise<InnerAnswer>
  readonly report: (error: ApiError, what: string) => void
  readonly counts: { done: number; failed: number; repeated: number }
}

/** So often a line is begun that no process brings to an end. */
const mostAttempts = 20

/** Runs a line and writes its result. Never rejects: a line that cannot be written is claimed again when its lease is over. */
export async function runHeld(state: HeldMeans, held: HeldLine, signal: AbortSignal): Promise<void> {
  try {
    // It may have waited for its place for long.
    if (!(await state.queue.isOpen(held.batch))) return await state.queue.release(held.batch, [held.line.line])
    const end = await endOf(state, held, signal)
    if (!signal.aborted) await written(state, held, { end, signal })
  } catch (error) {
    state.report(toApiError(error), 'a line of a batch cannot be run')
  }
}

async function endOf(state: HeldMeans, { batch, line }: HeldLine, signal: AbortSignal): Promise<LineEnd> {
  if (line.attempts > mostAttempts) return failure({ batch, line }, givenUp)
  const request = await requestOf(state, { batch, line })
  if ('result' in request) return { kind: 'done', ...request }
  const logged = line.isDoubtful ? await state.queue.logged(logIdOf(batch, line), line.begunAt) : null
  if (line.isDoubtful) state.counts.repeated += 1
  // By its log it has failed: the next request has one of its own.
  if (logged === 'broken') return { kind: 'again', waitMs: 0 }
  return runLine({ batch, line, ...request, signal, isSettled: logged === 'complete', perform: state.perform })
}

/** Reads the body of a line; the result of one that cannot be read, such as of a file that is gone. */
async function requestOf(
  { files }: HeldMeans,
  { batch, line }: HeldLine,
): Promise<{ readonly body: Fields } | { readonly result: LineResult }> {
  try {
    return { body: await readLineOf(files, batch, line) }
  } catch (error) {
    const { code, message, status } = toApiError(error)
    if (status >= 500) throw error
    return { result: failedWithout({ batch, line }, { code, message }) }
  }
}

interface EndOfLine {
  readonly end: LineEnd
  readonly signal: AbortSignal
}

/** So often a write is tried, for about as long as a lease. */
const mostWrites = 10

/**
 * The database may be away for a moment: the result is kept as long as the lease of the line. One that the database takes at no time ends as a
 * failure, so that its line takes no place for ever.
 */
async function written(state: HeldMeans, held: HeldLine, { end, signal }: EndOfLine): Promise<void> {
  for (let [writes, waitMs] = [1, 100]; ; writes += 1, waitMs = Math.min(waitMs * 2, 2000)) {
    try {
      return await write(state, held, writes < mostWrites ? end : failure(held, unwritten))
    } catch (error) {
      if (signal.aborted || writes > mostWrites) throw error
      await sleep(waitMs, undefined, { ref: false })
    }
  }
}

async function write(state: HeldMeans, { batch, line: { line } }: HeldLine, end: LineEnd): Promise<void> {
  if (end.kind === 'again') await state.queue.retry(batch, line, end.waitMs)
  else if (await state.queue.finish(batch, line, end.result)) count(state, end.result)
}

interface Failure {
  readonly code: string
  readonly message: string
}
const unwritten: Failure = { code: 'result_not_stored', message: 'The request was made, and its result could not be stored.' }
const givenUp: Failure = {
  code: 'line_given_up',
  message: `The line was begun ${mostAttempts} times, and the processes that ran it ended without a result.`,
}

const failure = (held: HeldLine, error: Failure): LineEnd => ({ kind: 'done', result: failedWithout(held, error) })

function count({ counts }: HeldMeans, { failed }: LineResult): void {
  counts[failed ? 'failed' : 'done'] += 1
}
