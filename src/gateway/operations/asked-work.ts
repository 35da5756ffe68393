import type { DialectId } from '../dialects/dialect.ts'
import type { Operation, Task } from './operations.ts'

/** The work of a model that a request asks for, as far as its method and path show it. */
export interface AskedWork {
  /** Null: the path is the provider's own, and its work is unknown. */
  readonly task: Task | null
  /** Null: unknown. */
  readonly dialect: DialectId | null
  /** The operation that asks for the like of it; null: there is none. */
  readonly operation: Operation | null
  /** True if it costs when it has ended, which no answer of its own states. */
  readonly beginsJob: boolean
}
