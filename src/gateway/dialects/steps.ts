import type { Fields } from '../../lib/json/fields.ts'

/** The request to which an answer leads. */
export interface NextStep {
  /** A path below the provider's base URL, asked with the credential; or a whole address, which is asked without it. */
  readonly at: { readonly path: string } | { readonly url: string }
  readonly accept: string
  /** The wait before it. */
  readonly afterMs: number
}

/** How a provider that answers in several steps is followed to its answer. Pure, as all dialects. */
export interface Steps {
  /** Returns the next step after a JSON answer, the first of which is number 0; null: it is the answer. */
  next(json: Fields, step: number): NextStep | null
  /** Returns the path at which abandoned work is ended; null: none runs. */
  cancelPath(json: Fields): string | null
  /** Returns the step behind a stream, whose answer is its last event; null: none. */
  afterStream(json: Fields): NextStep | null
  /** The hosts that answers may name beside that of the provider. */
  readonly hosts: RegExp
}

/** The name of the event that is added to a stream. */
export const lastEvent = 'gatehouse.last'
