import { ApiError } from '../../lib/errors.ts'
import { createTurns, type InTurn } from '../../lib/shares/turns.ts'
import { eighthOf } from '../../lib/shares/shares.ts'

/** The turns of organisations at the connections of one pool. */
export interface DatabaseTurns {
  /** Transactions of organisations; two connections stay for the process itself. One organisation has half of the pool. */
  readonly transactions: InTurn
  /** Requests that read much, each in one of these transactions: half of the pool, and an eighth of it for one organisation. */
  readonly costly: InTurn
}

const kept = 2
const mostWaiting = 500

const tooMany = () =>
  new ApiError('overloaded', 'Too many requests of the organisation wait for the database. Try again shortly.', { retryAfter: 1 })

/** Returns the turns at a pool of so many connections. */
export function createDatabaseTurns(poolSize: number): DatabaseTurns {
  const half = Math.max(1, Math.floor(poolSize / 2))
  return {
    transactions: createTurns({ most: Math.max(1, poolSize - kept), mostOfOne: half, mostWaiting, tooMany }),
    costly: createTurns({ most: half, mostOfOne: eighthOf(poolSize), mostWaiting: 100, tooMany }),
  }
}

const byPool = new WeakMap<object, DatabaseTurns>()

/** Makes the queue for the connections of a pool, fair between organisations, and keeps it for the ORM that has the pool. */
export const keepTurns = (orm: object, poolSize: number): void => void byPool.set(orm, createDatabaseTurns(poolSize))

/** A turn of an organisation, at a connection or for a request that reads much. */
interface Turn {
  readonly organisationId: string
  readonly kind: keyof DatabaseTurns
}

/** Does work when it is the organisation's turn. */
export const inDatabaseTurn = <T>(orm: object, { organisationId, kind }: Turn, work: () => Promise<T>): Promise<T> =>
  byPool.get(orm)?.[kind](organisationId, work) ?? work()
