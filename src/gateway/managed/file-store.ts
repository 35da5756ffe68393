import type { ProviderScope } from '../callers/key.ts'
import type { ResponseOwner, ResponseReader } from '../stored-responses/response-store.ts'

/** A file that Gatehouse keeps. Times are epoch seconds. */
export interface StoredFile {
  readonly id: string
  readonly name: string
  readonly purpose: string
  readonly bytes: number
  readonly createdAt: number
  /** Null: it stays until it is deleted. */
  readonly expiresAt: number | null
}

/** The facts of an upload that may stand behind its bytes. */
export interface FileFacts {
  readonly purpose: string
  /** Null: it stays until it is deleted. */
  readonly livesSeconds: number | null
}

/** A file before its bytes. */
export interface NewFile extends FileFacts {
  readonly name: string
  /** The batch whose results it has, with whose end it becomes visible; null: it is uploaded. */
  readonly batchId: string | null
}

/** Takes the bytes of one file, one piece after the other. */
export interface FileWriter {
  /** Rejects with `payload_too_large` beyond the quota. */
  write(piece: Buffer): Promise<void>
  /** Makes an uploaded file visible. */
  commit(facts: FileFacts): Promise<StoredFile>
  /** Writes all bytes of a file of a batch, and returns its id. */
  flush(): Promise<string>
  /** Deletes all that was written. Does not reject. */
  abandon(): Promise<void>
}

/** A page of a list, as its query asks for it. */
export interface FilePage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The id after which the page begins; null: at the beginning. */
  readonly after: string | null
  readonly purpose: string | null
}

/** A part of a file: from `start` up to, but without, `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Files of tenants, sealed and in pieces, so that none is ever in memory as a whole. Each belongs to one workspace, and there to the key that made
 * it: others read it only where they may read its logs. All reject with `dependency_unavailable`.
 */
export interface FileStore {
  /** Rejects with `payload_too_large` when the quota is used up. */
  begin(owner: ResponseOwner, file: NewFile): Promise<FileWriter>
  /** Returns the bytes that a workspace may still store, fewer than none beyond its quota. */
  left(scope: ProviderScope): Promise<number>
  get(id: string, reader: ResponseReader): Promise<StoredFile | null>
  list(reader: ResponseReader, page: FilePage): Promise<readonly StoredFile[]>
  read(id: string, scope: ProviderScope, range: ByteRange): AsyncIterable<Buffer>
  remove(id: string, reader: ResponseReader): Promise<'removed' | 'absent' | 'in use'>
}
