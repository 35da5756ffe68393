import type { Pool, PoolClient } from 'pg'
import { streamOf } from './session.ts'

/**
 * Returns the place of a dead connection to the pool, whichever code holds it: Kysely never returns one whose BEGIN, COMMIT or ROLLBACK failed, so
 * that each would cost a place for good and `pool.end()` would wait for ever. A connection whose server owes an answer for longer than `silenceMs`
 * counts as dead, because TCP alone would wait a quarter of an hour.
 */
export function replaceDead(pool: Pool, silenceMs: number): void {
  const held = new Set<PoolClient>()
  pool.on('acquire', (client) => held.add(client))
  pool.on('release', (_error, client) => held.delete(client))
  pool.on('connect', (client) => {
    endSilent(client, silenceMs)
    client.once('end', () => {
      if (!held.has(client)) return
      client.release(true)
      // Its holder may return it too, if only to get the error of the query.
      client.release = () => {}
    })
  })
}

function endSilent(client: PoolClient, silenceMs: number): void {
  const stream = streamOf(client)
  stream.setTimeout(silenceMs)
  // When the thread was held up, the answer may be there already: it is read before the check.
  stream.on('timeout', () =>
    setImmediate(() => {
      if (owesAnswer(client)) stream.destroy(noAnswer(silenceMs))
    }),
  )
}

/** Carries the network's code, from which the answer to the caller follows: the database cannot be reached. */
const noAnswer = (silenceMs: number): Error =>
  Object.assign(new Error(`the database did not answer for ${silenceMs} ms`), { code: 'ETIMEDOUT' })

const owesAnswer = (client: PoolClient): boolean => 'readyForQuery' in client && client.readyForQuery === false
