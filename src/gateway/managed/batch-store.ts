import type { ProviderScope } from '../callers/key.ts'
import type { ResponseOwner, ResponseReader } from '../stored-responses/response-store.ts'

export type BatchState = 'validating' | 'in_progress' | 'finalizing' | 'completed' | 'expired' | 'cancelling' | 'cancelled'

/** The wishes of the maker of a batch, beside its lines. */
export interface BatchOptions {
  readonly metadata: Readonly<Record<string, string>> | null
  /** The headers that every line is sent with, flat: config, provider, metadata. */
  readonly headers: readonly string[]
}

/** A batch before its lines. */
export interface NewBatch {
  readonly endpoint: string
  readonly inputFileId: string
  readonly window: string
  readonly windowSeconds: number
  /** The life of its output and error file. */
  readonly outputSeconds: number
  readonly options: BatchOptions
  readonly clientAddress: string
}

/** A request of a batch: where it stands in the input file. */
export interface NewLine {
  /** From 1. */
  readonly line: number
  readonly start: number
  readonly bytes: number
  readonly customId: string
}

export interface BatchTimes {
  readonly created: number
  readonly inProgress: number | null
  readonly expires: number | null
  readonly finalizing: number | null
  readonly completed: number | null
  readonly expired: number | null
  readonly cancelling: number | null
  readonly cancelled: number | null
}

/** A batch as it stands. Times are epoch seconds. */
export interface StoredBatch {
  readonly id: string
  readonly state: BatchState
  readonly endpoint: string
  readonly inputFileId: string
  readonly window: string
  readonly metadata: BatchOptions['metadata']
  readonly times: BatchTimes
  readonly total: number
  readonly completed: number
  readonly failed: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly outputFileId: string | null
  readonly errorFileId: string | null
}

export interface BatchPage {
  readonly limit: number
  readonly after: string | null
}

/** Batches as their makers see them. All reject with `dependency_unavailable`. */
export interface BatchStore {
  /** Rejects with `rate_limited` when the organisation has too many that have not ended. Returns the id. */
  begin(owner: ResponseOwner, batch: NewBatch): Promise<string>
  addLines(id: string, scope: ProviderScope, lines: readonly NewLine[]): Promise<void>
  /** Returns the lines whose `custom_id` an earlier line has, in their order. */
  doubles(id: string, scope: ProviderScope, most: number): Promise<readonly number[]>
  /** From here on its lines run. */
  start(id: string, scope: ProviderScope, total: number): Promise<void>
  /** Forgets a batch that never started. */
  drop(id: string, scope: ProviderScope): Promise<void>
  get(id: string, reader: ResponseReader): Promise<StoredBatch | null>
  list(reader: ResponseReader, page: BatchPage): Promise<readonly StoredBatch[]>
  /** Lines that have not begun never do. A batch that has ended stays as it is. */
  cancel(id: string, reader: ResponseReader): Promise<void>
}

/** A batch whose lines run. */
export interface OpenBatch extends ProviderScope {
  readonly id: string
  readonly endpoint: string
  readonly inputFileId: string
  readonly apiKeyId: string
  readonly clientAddress: string
  readonly headers: readonly string[]
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** A line that this process holds, under a lease. */
export interface ClaimedLine {
  readonly line: number
  readonly customId: string
  readonly start: number
  readonly bytes: number
  /** How often it was begun, with this time. */
  readonly attempts: number
  /** How many of them ended in a failure that may pass. */
  readonly failures: number
  /** Epoch milliseconds: when its log begins, the same for each time that it is begun anew after a process died. */
  readonly begunAt: number
  /** True if a process that died may have been answered already, and charged. */
  readonly isDoubtful: boolean
}

/** The result of a line. */
export interface LineResult {
  readonly failed: boolean
  /** The line of the output or error file, without its end. */
  readonly text: Buffer
  readonly inputTokens: number
  readonly outputTokens: number
}

/** A batch whose last lines have ended, for the one process that writes its files. */
export interface EndingBatch extends OpenBatch {
  readonly userId: string | null
  readonly outputSeconds: number
  readonly outcome: 'completed' | 'expired' | 'cancelled'
}

/** A line of a batch that ends; `result` is null when it never ran. */
export interface EndedLine {
  readonly line: number
  readonly customId: string
  readonly failed: boolean
  readonly result: Buffer | null
}

/** The lines of all batches, as the processes that run them see them. A process that has lost its lease writes no more. */
export interface LineQueue {
  /** Batches that may have lines to run, the oldest first. */
  open(): Promise<readonly OpenBatch[]>
  claim(batch: OpenBatch, most: number): Promise<readonly ClaimedLine[]>
  /** Holds lines of this process for another lease; one that it has let go is free when its lease is over. */
  renew(held: readonly { readonly batch: OpenBatch; readonly line: ClaimedLine }[]): Promise<void>
  /** Resolves to false when the line is not held any more. */
  finish(batch: OpenBatch, line: number, result: LineResult): Promise<boolean>
  /** Gives a line back, which is to be tried again as another request after some time. */
  retry(batch: OpenBatch, line: number, waitMs: number): Promise<void>
  /** Resolves to false when lines that have not begun never do: the batch was cancelled, or its time is over. */
  isOpen(batch: OpenBatch): Promise<boolean>
  /** Gives lines back that were not begun. */
  release(batch: OpenBatch, lines: readonly number[]): Promise<void>
  /** Returns how the request of a line ended whose log began at this time; null: it has no log. */
  logged(logId: string, begunAt: number): Promise<'complete' | 'broken' | null>
  /** Claims a batch whose lines have all ended, of none of these organisations; null: there is none. */
  ending(without: readonly string[]): Promise<EndingBatch | null>
  /** Returns the next lines, fewer where their results are long; none: all were returned. */
  ended(batch: EndingBatch, after: number, most: number): Promise<readonly EndedLine[]>
  /** Holds the claim of an ending batch for `endingMs` more. Resolves to false when it was lost. */
  hold(batch: EndingBatch): Promise<boolean>
  /** Gives up the claim of an ending batch. */
  leave(batch: EndingBatch): Promise<void>
  /** Makes the files and the end of a batch visible in one step. */
  close(batch: EndingBatch, files: { readonly output: string | null; readonly error: string | null }): Promise<void>
}

export const leaseMs = 15_000
/** A process that writes the files of a batch holds it for so long at a time. */
export const endingMs = 60_000
