import { ApiError } from '../../lib/errors.ts'
import { type EndedLine, type EndingBatch, endingMs, type LineQueue } from './batch-store.ts'
import type { FileStore, FileWriter } from './file-store.ts'
import { failedWithout } from './run-line.ts'

export interface EndMeans {
  readonly files: FileStore
  readonly queue: LineQueue
}

const linesAtOnce = 256
const newLine = Buffer.from('\n')

/** Why lines of a batch never ran. */
const unrun = {
  completed: { code: 'batch_failed', message: 'This request could not be run.' },
  expired: { code: 'batch_expired', message: 'This request could not be executed before the completion window expired.' },
  cancelled: { code: 'batch_cancelled', message: 'This request was not begun before the batch was cancelled.' },
} as const

/**
 * Writes the files of a batch whose lines have ended, and then its end. The files of a process that dies meanwhile are never seen. Rejects when the
 * signal is aborted, and when the claim is lost: another process writes the files anew.
 */
export async function endBatch(means: EndMeans, batch: EndingBatch, stopping: AbortSignal): Promise<void> {
  const { queue } = means
  const claim = holdClaim(queue, batch)
  const signal = AbortSignal.any([stopping, claim.lost])
  try {
    const output = lazyFile(means, batch, 'output')
    const error = lazyFile(means, batch, 'error')
    for (let lines = await queue.ended(batch, 0, linesAtOnce); lines.length > 0;) {
      signal.throwIfAborted()
      const [succeeded, failed]: [Buffer[], Buffer[]] = [[], []]
      for (const line of lines)
        (line.failed || line.result === null ? failed : succeeded).push(line.result ?? withoutRun(batch, line), newLine)
      await output.write(succeeded)
      await error.write(failed)
      lines = await queue.ended(batch, lines.at(-1)?.line ?? 0, linesAtOnce)
    }
    const files = { output: await output.end(), error: await error.end() }
    signal.throwIfAborted()
    await queue.close(batch, files)
  } catch (error) {
    // A process that ends lets another begin at once.
    if (stopping.aborted) await queue.leave(batch)
    throw error
  } finally {
    claim.end()
  }
}

/** Holds the claim of a batch until it is ended: by the clock, however long a page of lines takes. */
function holdClaim(queue: LineQueue, batch: EndingBatch): { readonly lost: AbortSignal; end(): void } {
  const lost = new AbortController()
  let heldAt = performance.now()
  const hold = async (): Promise<void> => {
    const at = performance.now()
    // A database that is away may be back before the claim is over.
    const isHeld = await queue.hold(batch).catch(() => null)
    if (isHeld === true) heldAt = at
    if (isHeld === false || performance.now() - heldAt > endingMs)
      lost.abort(new ApiError('busy', `Another process writes the files of ${batch.id}.`))
  }
  const holding = setInterval(() => void hold(), endingMs / 6).unref()
  return { lost: lost.signal, end: () => clearInterval(holding) }
}

/** A file that is begun with its first line. */
function lazyFile({ files }: EndMeans, batch: EndingBatch, kind: 'output' | 'error') {
  let writer: FileWriter | null = null
  const owner = { organisationId: batch.organisationId, workspaceId: batch.workspaceId, apiKeyId: batch.apiKeyId, userId: batch.userId }
  return {
    async write(texts: readonly Buffer[]): Promise<void> {
      if (texts.length === 0) return
      writer ??= await files.begin(owner, {
        name: `${batch.id}_${kind}.jsonl`,
        purpose: 'batch_output',
        livesSeconds: batch.outputSeconds,
        batchId: batch.id,
      })
      await writer.write(Buffer.concat(texts))
    },
    end: async (): Promise<string | null> => (writer === null ? null : writer.flush()),
  }
}

const withoutRun = (batch: EndingBatch, { line, customId }: EndedLine): Buffer =>
  failedWithout({ batch, line: { line, customId, attempts: 0, failures: 0 } }, unrun[batch.outcome]).text
