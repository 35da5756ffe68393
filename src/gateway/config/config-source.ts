import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { ProviderScope } from '../callers/key.ts'
import type { ActiveConfig } from './compile.ts'

/** A stored config, as far as the gateway needs it. */
export interface ConfigView {
  readonly id: string
  readonly slug: string
  /** Counted from 1. */
  readonly version: number
  readonly active: ActiveConfig
}

/** The port to the stored configs. */
export interface ConfigSource {
  /** The config with this slug or id, as the given workspace sees it. */
  config(scope: ProviderScope, reference: string): MaybePromise<ConfigView | null>
}
