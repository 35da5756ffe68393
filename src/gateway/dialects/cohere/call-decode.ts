import type { Fields } from '../../../lib/json/fields.ts'
import type { BlockTurn } from '../neutral/block-turns.ts'
import { plainEnd } from '../neutral/events.ts'
import { saidFields } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'

/** One call whose arguments come in pieces. A class, because it is a state machine. */
export class CallDecoder {
  readonly index: unknown
  readonly #turn: BlockTurn
  #hasArguments = false
  isOver = false

  constructor(index: unknown, turn: BlockTurn) {
    this.index = index
    this.#turn = turn
  }

  push(piece: Fields): void {
    const given = saidFields(piece, 'function')?.['arguments'] ?? ''
    const text = typeof given === 'string' ? given : argumentsText(given)
    if (text === '') return
    this.#hasArguments = true
    this.#turn.held.push({ type: 'delta', choice: 0, text })
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    if (!this.#hasArguments) this.#turn.held.push({ type: 'delta', choice: 0, text: '{}' })
    endTurn(this.#turn)
  }
}

/** Ends a block. */
export function endTurn(turn: BlockTurn): void {
  turn.isOver = true
  turn.held.push({ type: 'block-end', choice: 0, end: plainEnd })
}
