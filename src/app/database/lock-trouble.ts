import { codeOf } from './connection-error.ts'

const mostTries = 4

/** 55P03 lock_not_available, 40P01 deadlock_detected. */
const codes = new Set<unknown>(['55P03', '40P01'])

/** Returns whether PostgreSQL gave up a statement because other work holds a lock. That statement has had no effect. */
export const isLockTrouble = (error: unknown): boolean => codes.has(codeOf(error))

/**
 * Does work again that PostgreSQL gave up because of a lock: a migration holds several tables until it commits, and locks them in another
 * order than requests do. The work must be a statement, or a whole transaction.
 */
export async function retryLocked<T>(work: () => Promise<T>, tries = mostTries): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (tries <= 1 || !isLockTrouble(error)) throw error
    return retryLocked(work, tries - 1)
  }
}
