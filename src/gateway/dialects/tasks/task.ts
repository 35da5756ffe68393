import type { Fields } from '../../../lib/json/fields.ts'
import type { HeaderList } from '../../wire/header-list.ts'
import type { Loss } from '../neutral/loss.ts'
import type { TokenUsage } from '../neutral/token-usage.ts'
import type { Traits } from '../traits.ts'

/** One answer of a provider to a task that is answered with one JSON. */
export interface TaskAnswer {
  readonly json: unknown
  readonly rawHeaders: HeaderList
}

/** An answer in the caller's words. */
export interface WrittenAnswer {
  readonly body: Fields
  /** Null: the provider did not say. */
  readonly usage: TokenUsage | null
}

/** A task that is no conversation, in its provider's words. */
export interface TaskTranslation {
  /** The bodies of the calls that do it together, in the order of the caller's items. */
  readonly bodies: readonly Fields[]
  readonly loss: Loss
  /** Writes the caller's answer out of those of all calls, in their order; null: one of them is no answer. */
  write(answers: readonly TaskAnswer[]): WrittenAnswer | null
}

/** Facts that each call of a task is written with. */
export interface TaskContext {
  readonly model: string
  readonly traits: Traits
  readonly loss: Loss
}
