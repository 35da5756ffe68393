/** Files and batches that Gatehouse keeps and runs itself. */
export type {
  BatchOptions,
  BatchStore,
  BatchTimes,
  ClaimedLine,
  EndedLine,
  EndingBatch,
  LineQueue,
  NewBatch,
  NewLine,
  OpenBatch,
  StoredBatch,
} from '../managed/batch-store.ts'
export { endingMs, leaseMs } from '../managed/batch-store.ts'
export type { ByteRange, FileFacts, FilePage, FileStore, FileWriter, NewFile, StoredFile } from '../managed/file-store.ts'
export { newOwnId } from '../managed/ids.ts'
export type { ManagedMeans } from '../managed/managed.ts'
export { type BatchRunner, startBatchRunner } from '../managed/runner.ts'
