import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { enter } from '../database/session.ts'
import { sideClient, systemSession } from '../database/side-sessions.ts'
import { channel } from './notice.ts'

export interface HearOptions {
  readonly client: ClientConfig
  readonly log: Logger
  readonly signal: AbortSignal
  readonly heard: (payload: string) => void
  /** Called at the begin and at the end of each session, with whether notifications arrive. */
  readonly live: (isLive: boolean) => void
  /** Notifications may have been missed. */
  readonly missed: () => void
}

const longestBackoffMs = 5_000
const proofMs = 2_000

/** Listens to the notifications of the database until the signal; a connection that is lost is made anew. */
export async function hearNotifications(options: HearOptions): Promise<void> {
  const { log, signal, live, missed } = options
  for (let failures = 0; !signal.aborted; failures += 1) {
    const from = performance.now()
    await session(options).catch((error: unknown) => {
      if (failures === 0) log.warn({ err: error }, 'events of other processes cannot be received')
    })
    live(false)
    if (signal.aborted) return
    if (performance.now() - from > longestBackoffMs) failures = 0
    missed()
    const backoffMs = Math.min(100 * 2 ** Math.min(failures, 10), longestBackoffMs) * (0.5 + Math.random() / 2)
    await sleep(backoffMs, undefined, { signal }).catch(() => {})
  }
}

async function session({ client, log, signal, heard, live }: HearOptions): Promise<void> {
  const config = systemSession(client)
  const connection = sideClient('events', config)
  const [closed, proven] = [Promise.withResolvers<false>(), Promise.withResolvers<true>()]
  const proof = JSON.stringify({ topic: 'proof', token: randomUUID() })
  connection.on('error', () => closed.resolve(false))
  connection.on('end', () => closed.resolve(false))
  connection.on('notification', ({ payload = '' }) => {
    if (payload === proof) proven.resolve(true)
    else heard(payload)
  })
  try {
    await enter(connection, config)
    await connection.query('SET idle_session_timeout = 0')
    await connection.query(`LISTEN ${channel}`)
    await connection.query('SELECT pg_notify($1, $2)', [channel, proof])
    const isLive = await Promise.race([proven.promise, sleep(proofMs, false, { ref: false }), closed.promise])
    if (!isLive) log.warn('notifications of the database do not arrive: event streams are silent, and mark it')
    live(isLive)
    await Promise.race([closed.promise, aborted(signal)])
  } finally {
    await Promise.race([connection.end().catch(() => {}), sleep(1000, undefined, { ref: false })])
  }
}

const aborted = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, 'abort'))
