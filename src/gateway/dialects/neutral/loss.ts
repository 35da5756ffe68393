import { ApiError } from '../../../lib/errors.ts'
import { oneLine } from '../../../lib/text/one-line.ts'
import type { FieldNames, RequestField } from './request.ts'

/** The request whose losses are reported, and the provider. */
interface LossOptions {
  readonly names: FieldNames
  readonly provider: string
  readonly strict: boolean
  /** Returns true for a field whose value has no effect; absent: each has one. */
  readonly isIdle?: (field: RequestField) => boolean
}

const never = (): boolean => false

/**
 * The losses of one translation. Loss of meaning is refused before any call. Loss of steering is dropped, clamped or defaulted, and the field is
 * reported to the caller; in strict mode it is refused too. A class, because it is one object per translation that collects as it goes.
 */
export class Loss {
  readonly #names: FieldNames
  readonly #provider: string
  readonly #strict: boolean
  readonly #isIdle: (field: RequestField) => boolean
  #dropped: Set<string> | null = null

  constructor(options: LossOptions) {
    this.#names = options.names
    this.#provider = options.provider
    this.#strict = options.strict
    this.#isIdle = options.isIdle ?? never
  }

  /** The fields that were dropped, in the caller's words, in the order in which it was noticed. */
  get dropped(): readonly string[] {
    return this.#dropped === null ? none : [...this.#dropped]
  }

  /** Notes a field of the request that steers and has no place at the provider, or got another value. */
  drop(field: RequestField, why = 'has no counterpart there'): void {
    if (!this.#isIdle(field)) this.dropAt(this.nameOf(field), why)
  }

  /** The same for a place in the caller's body: `messages[2].name`. */
  dropAt(place: string, why = 'has no counterpart there'): void {
    if (this.#strict) throw this.#refusal(place, `${why}, and this request forbids any loss`)
    this.note(place)
  }

  /** Names a value that was chosen for the caller, such as `max_tokens=4096`. It is no loss. */
  note(text: string): void {
    const dropped = (this.#dropped ??= new Set())
    if (dropped.size < mostNames) dropped.add(oneLine(text, mostLength))
  }

  /** Throws `invalid_request` for a field without which the request would mean something else. */
  refuse(field: RequestField, why: string): never {
    throw this.#refusal(this.nameOf(field), why)
  }

  /** The same for a place in the caller's body. */
  refuseAt(place: string, why: string): never {
    throw this.#refusal(place, why)
  }

  /** Returns the caller's name for a field. */
  nameOf(field: RequestField): string {
    return this.#names[field] ?? field
  }

  #refusal(given: string, why: string): ApiError {
    const place = oneLine(given, mostLength)
    return new ApiError('invalid_request', `${place} cannot be translated for ${this.#provider}: it ${why}.`, { param: place })
  }
}

/**
 * So many fields are named, each with so many characters: callers choose the names, and the answer header with them must neither grow with a request
 * nor hold invalid characters.
 */
const mostNames = 50
const mostLength = 80
const none: readonly string[] = []
