import type { Client, ClientConfig } from 'pg'
import { enter, sessionClient } from '../session.ts'
import { patience } from './apply-migration.ts'
import { assertLockHeldElsewhere } from './migration-lock.ts'

/** Runs `work` on a connection of its own. */
export async function withClient<T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = sessionClient(config)
  await enter(client, config)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Runs `work` on a connection for migrations, which is closed when the lock is lost. */
export const withWorker = <T>(client: ClientConfig, lost: AbortSignal, work: (worker: Client) => Promise<T>): Promise<T> =>
  withClient(client, async (worker) => {
    const stop = () => void worker.end().catch(() => {})
    lost.addEventListener('abort', stop, { once: true })
    await assertLockHeldElsewhere(worker)
    await worker.query(`SET statement_timeout = 0; SET client_min_messages = warning; ${patience}`)
    lost.throwIfAborted()
    return work(worker).finally(() => lost.removeEventListener('abort', stop))
  })
