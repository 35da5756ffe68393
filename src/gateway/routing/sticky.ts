import { hash } from 'node:crypto'

/** Keeps requests that are alike on one target. */
export interface StickyRule {
  /** Reads of a request that make it alike: `metadata.user`, `params.user`, `headers.x-session`. Empty: the API key. */
  readonly fields: readonly string[]
  /** Milliseconds after which an identity may move to another target. */
  readonly ttlMs: number
}

export interface StickyTurn {
  /** Identifies the choice, so that two configs do not move together. */
  readonly choice: string
  /** Values of the fields. */
  readonly identity: readonly string[]
  readonly ttlMs: number
  /** Epoch milliseconds, since every process must see the same turn. */
  readonly now: number
}

const twoTo32 = 2 ** 32

/**
 * Returns the index of the target that an identity belongs to: the same in every process, without shared state (weighted rendezvous
 * hashing). A target that comes or goes moves only its own share. Null when all weights are 0.
 */
export function pickSticky(weights: readonly number[], turn: StickyTurn): number | null {
  const seed = hash('sha256', JSON.stringify([turn.choice, ...turn.identity]), 'base64')
  // Each identity has its own moment to move, so that a time to live does not move all at once.
  const round = Math.floor(turn.now / turn.ttlMs + drawn(seed, 'offset'))
  let best: number | null = null
  let bestScore = Infinity
  for (const [at, weight] of weights.entries()) {
    if (weight <= 0) continue
    const score = -Math.log(drawn(seed, `${round}/${at}`)) / weight
    if (score < bestScore) [best, bestScore] = [at, score]
  }
  return best
}

/** Returns a number in (0, 1) that depends on the texts only. */
const drawn = (seed: string, of: string): number =>
  (Number.parseInt(hash('sha256', `${seed}/${of}`, 'hex').slice(0, 8), 16) + 0.5) / twoTo32
