import type { Fields } from '../../lib/json/fields.ts'
import type { OwnData } from '../../lib/access/rank.ts'
import type { ProviderScope } from '../callers/key.ts'

/** A response that is kept, with all that it was the answer to. */
export interface StoredResponse {
  /** As its caller got it. */
  readonly response: Fields
  /** The items of the whole conversation before it, those of earlier responses among them. */
  readonly input: readonly Fields[]
}

/** The caller that a response answers. */
export interface ResponseOwner extends ProviderScope {
  readonly apiKeyId: string
  readonly userId: string | null
}

/** A caller that asks for kept responses. */
export interface ResponseReader extends ProviderScope {
  /** Null: it may read all of its workspace. */
  readonly own: OwnData | null
  /** True: it is limited to its own data, and so reads no response whose owner is unknown. */
  readonly isLimited: boolean
}

/**
 * Keeps responses for providers that keep none. Each belongs to one workspace, and there to its owner: no other ever gets it, except those that
 * may read its log. All reject with `dependency_unavailable`.
 */
export interface ResponseStore {
  /** True while responses are kept at all. */
  readonly keeps: boolean
  /** Null: there is none for this reader, or its time is over. */
  get(id: string, reader: ResponseReader): Promise<StoredResponse | null>
  /** Resolves when every process can read it. */
  put(id: string, owner: ResponseOwner, stored: StoredResponse): Promise<void>
  /** Resolves to false if there was none for this reader. */
  remove(id: string, reader: ResponseReader): Promise<boolean>
}
