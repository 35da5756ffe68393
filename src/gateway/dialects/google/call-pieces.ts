import type { Fields } from '../../../lib/json/fields.ts'
import { saidText } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'
import { PartialArguments } from './partial-args.ts'

/** A call that is whole. */
export interface WholeCall {
  readonly call: Fields
  /** Its arguments as JSON. */
  readonly text: string
  readonly signature: string | null
}

interface Pieces {
  readonly call: Fields
  readonly args: PartialArguments
  signature: string | null
}

const none: readonly WholeCall[] = []

/** The calls of a candidate, which come whole or in pieces of which only the first has its name. A class, because it keeps the received pieces. */
export class CallPieces {
  #pieces: Pieces | null = null

  /** True if more arguments are held than may be. */
  get overflows(): boolean {
    return this.#pieces?.args.overflows === true
  }

  /** Takes a call, or a piece of one. Returns the calls that are whole now. */
  push(call: Fields, signature: string | null): readonly WholeCall[] {
    const name = saidText(call, 'name') || null
    const before = name !== null && name !== this.#pieces?.call['name'] ? this.end() : none
    if (this.#pieces === null) {
      if (name === null) return before
      if (call['willContinue'] !== true && !('partialArgs' in call))
        return [...before, { call, text: argumentsText(call['args']), signature }]
    }
    this.#pieces ??= { call, args: new PartialArguments(), signature }
    this.#pieces.args.add(call)
    this.#pieces.signature ??= signature
    return call['willContinue'] === true ? before : [...before, ...this.end()]
  }

  /** Returns the call that has not ended, as far as it came. */
  end(): readonly WholeCall[] {
    if (this.#pieces === null) return none
    const { call, args, signature } = this.#pieces
    this.#pieces = null
    return [{ call, text: args.text, signature }]
  }
}
