import type { Fields } from '../../lib/json/fields.ts'
import type { ClaimedLine, OpenBatch } from './batch-store.ts'
import type { FileStore } from './file-store.ts'
import { readLine } from './input-lines.ts'
import { workTurn } from './work-turn.ts'

/** Reads the body of the request of a line when it is the organisation's turn. Throws ApiError when there is none. */
export async function readLineOf(
  files: Pick<FileStore, 'read'>,
  batch: Pick<OpenBatch, 'inputFileId' | 'organisationId' | 'workspaceId'>,
  { start, bytes }: Pick<ClaimedLine, 'start' | 'bytes'>,
): Promise<Fields> {
  const pieces: Buffer[] = []
  for await (const piece of files.read(batch.inputFileId, batch, { start, end: start + bytes })) pieces.push(piece)
  await workTurn(batch.organisationId, bytes)
  return readLine(Buffer.concat(pieces))
}
