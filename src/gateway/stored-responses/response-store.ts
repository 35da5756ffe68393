import type { Fields } from '../../lib/json/fields.ts'
import type { ProviderScope } from '../callers/key.ts'

/** A response that is kept, with all that it was the answer to. */
export interface StoredResponse {
  /** As its caller got it. */
  readonly response: Fields
  /** The items of the whole conversation before it, those of earlier responses among them. */
  readonly input: readonly Fields[]
}

/** Keeps responses for providers that keep none. Each belongs to one workspace; no other ever gets it. All reject with `dependency_unavailable`. */
export interface ResponseStore {
  /** True while responses are kept at all. */
  readonly keeps: boolean
  /** Null: there is none, or its time is over. */
  get(id: string, scope: ProviderScope): Promise<StoredResponse | null>
  /** Resolves when every process can read it. */
  put(id: string, scope: ProviderScope, stored: StoredResponse): Promise<void>
  /** Resolves to false if there was none. */
  remove(id: string, scope: ProviderScope): Promise<boolean>
}
