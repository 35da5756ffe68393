import type { NeutralEvent } from './events.ts'

/** So many characters are held back of blocks that come while another is open. */
const mostHeld = 4 * 1024 * 1024

/** One block of a stream as it is read. */
export interface BlockTurn {
  /** Its events that were not given yet. */
  readonly held: NeutralEvent[]
  isOver: boolean
}

/**
 * Gives the events of blocks that overlap in their stream one block after the other: those of the first open one at once, those of the
 * others when it has ended. A class, because it holds events.
 */
export class BlockTurns {
  #turns: BlockTurn[] = []
  /** The turns before it are over and given. */
  #first = 0
  #size = 0

  /** True if more is held than may be. */
  get overflows(): boolean {
    return this.#size > mostHeld
  }

  begin(): BlockTurn {
    const turn = { held: [], isOver: false }
    this.#turns.push(turn)
    return turn
  }

  /** Gives all that is next, after a piece of so many characters was read. */
  give(size: number, events: NeutralEvent[]): void {
    const before = events.length
    for (let first = this.#turns[this.#first]; first !== undefined; first = this.#turns[this.#first]) {
      for (const event of first.held) events.push(event)
      first.held.length = 0
      if (!first.isOver) break
      this.#first += 1
    }
    if (this.#first * 2 > this.#turns.length) {
      this.#turns = this.#turns.slice(this.#first)
      this.#first = 0
    }
    if (this.#turns.length - this.#first < 2) this.#size = 0
    else if (events.length === before) this.#size += size
  }
}
