import type { EndedLine, EndingBatch, LineQueue } from './batch-store.ts'
import type { FileStore, FileWriter } from './file-store.ts'
import { type LineRequest, readLine } from './input-lines.ts'
import { failedWithout } from './run-line.ts'
import { workTurn } from './work-turn.ts'

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

/** Writes the files of a batch whose lines have ended, and then its end. The files of a process that dies meanwhile are never seen. */
export async function endBatch(means: EndMeans, batch: EndingBatch): Promise<void> {
  const { queue } = means
  const output = lazyFile(means, batch, 'output')
  const error = lazyFile(means, batch, 'error')
  for (let lines = await queue.ended(batch, 0, linesAtOnce); lines.length > 0;) {
    const [succeeded, failed]: [Buffer[], Buffer[]] = [[], []]
    for (const line of lines)
      (line.failed || line.result === null ? failed : succeeded).push(line.result ?? (await withoutRun(means, batch, line)), newLine)
    await output.write(succeeded)
    await error.write(failed)
    await queue.hold(batch)
    lines = await queue.ended(batch, lines.at(-1)?.line ?? 0, linesAtOnce)
  }
  await queue.close(batch, { output: await output.end(), error: await error.end() })
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

async function withoutRun({ files }: EndMeans, batch: EndingBatch, line: EndedLine): Promise<Buffer> {
  const customId = await customIdOf(files, batch, line)
  return failedWithout({ batch, line: { line: line.line, attempts: 0, failures: 0 }, request: { customId } }, unrun[batch.outcome]).text
}

/** An input file whose time is over does not keep its batch from ending. */
async function customIdOf(files: FileStore, batch: EndingBatch, { line, start, bytes }: EndedLine): Promise<string> {
  try {
    return (await readLineOf(files, batch, { start, bytes })).customId
  } catch {
    return `line ${line}`
  }
}

/** Reads a line of the input file when it is the organisation's turn. Throws ApiError when it is none. */
export async function readLineOf(
  files: Pick<FileStore, 'read'>,
  batch: Pick<EndingBatch, 'inputFileId' | 'organisationId' | 'workspaceId'>,
  { start, bytes }: Pick<EndedLine, 'start' | 'bytes'>,
): Promise<LineRequest> {
  const pieces: Buffer[] = []
  for await (const piece of files.read(batch.inputFileId, batch, { start, end: start + bytes })) pieces.push(piece)
  await workTurn(batch.organisationId, bytes)
  return readLine(Buffer.concat(pieces))
}
