import type { Fields } from '../../../lib/json/fields.ts'
import type { HeaderList } from '../../wire/header-list.ts'
import type { Loss } from '../neutral/loss.ts'
import type { TokenUsage } from '../neutral/token-usage.ts'
import type { Steps } from '../steps.ts'
import type { Traits } from '../traits.ts'

/** Bytes with their type: forms, sound, texts. */
export interface TypedBytes {
  readonly contentType: string
  readonly bytes: Buffer
}

/** A file of a form. */
export interface SentFile {
  /** The name of its field. */
  readonly name: string
  readonly mediaType: string
  readonly bytes: Buffer
}

/** A body as it is sent or answered: JSON, or bytes of another type. */
export type TaskBody = { readonly json: Fields } | TypedBytes

/** One answer of a provider to a task. */
export interface TaskAnswer extends TypedBytes {
  /** Undefined: it is no JSON. */
  readonly json: unknown
  readonly rawHeaders: HeaderList
}

/** An answer in the caller's words. */
export interface WrittenAnswer {
  readonly body: TaskBody
  /** Null: the provider did not state it. */
  readonly usage: TokenUsage | null
  /** Absent: that of the provider. */
  readonly status?: number
}

/** A task that is no conversation, in its provider's words. */
export interface TaskTranslation {
  /** The bodies of the calls that do it together, in the order of the caller's items. All of them have one content type. */
  readonly bodies: readonly TaskBody[]
  /** More headers for the provider, flat. */
  readonly headers?: readonly string[]
  /** The end of the provider's path, and its query. */
  readonly suffix?: string
  /** How the answer to each call is reached where it takes several steps. */
  readonly steps?: Steps
  /** The caller's stream out of the provider's; absent: none is asked for, or it is written when the answer is whole. */
  readonly stream?: TaskStream
  readonly loss: Loss
  /** How one of several answers is read; absent: there is one. */
  readonly part?: PartReader
  /** How the caller's answer comes about. `as it comes`: out of the one call, whose bytes are the caller's. */
  readonly write: WriteAnswer | 'as it comes'
}

/** Turns the events of a provider's stream into those of the caller, as text. */
export interface TaskStream {
  /** Returns the caller's form of an event of the provider's; empty: it has none. */
  take(data: string): string
  /** Returns the end of the caller's stream; null: the provider's was cut. */
  end(): string | null
  /** Null: the provider stated no tokens. */
  usage(): TokenUsage | null
}

/** Reads the answer to one of several calls. */
export interface PartReader {
  isAnswer(answer: TaskAnswer, part: number): boolean
  /** Writes it as if it were all of them. */
  write(answer: TaskAnswer, part: number, nowSeconds: number): WrittenAnswer | null
}

/** Reads each answer once, although it is looked at when it comes and when all of them are there. */
export function readOnce<Read>(read: (answer: TaskAnswer) => Read): (answer: TaskAnswer) => Read {
  const held = new WeakMap<TaskAnswer, { readonly value: Read }>()
  return (answer) => {
    let found = held.get(answer)
    if (found === undefined) held.set(answer, (found = { value: read(answer) }))
    return found.value
  }
}

/** Writes the caller's answer out of those of all calls, in their order; null: one of them is no answer. */
export type WriteAnswer = (answers: readonly TaskAnswer[], nowSeconds: number) => WrittenAnswer | null

/** Facts that each call of a task is written with. */
export interface TaskContext {
  readonly model: string
  readonly traits: Traits
  readonly loss: Loss
}
