import { codeOf } from './connection-error.ts'

const mostTries = 4

/**
 * Does work again that PostgreSQL gave up to end a deadlock: a migration locks the tables in another order than whoever reads several
 * of them. What was given up has changed nothing, so the work must be a statement, or a whole transaction.
 */
export async function unlessDeadlocked<T>(work: () => Promise<T>, tries = mostTries): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (tries <= 1 || codeOf(error) !== deadlockDetected) throw error
    return unlessDeadlocked(work, tries - 1)
  }
}

const deadlockDetected = '40P01'
