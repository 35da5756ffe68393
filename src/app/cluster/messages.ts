import { z } from 'zod'
import type { DatabaseConfig } from '../../config/config.ts'
import { Secret } from '../../lib/secret.ts'

/** What the primary process and its workers tell each other, over the channel that only they share. */
const database = z.object({ host: z.string(), port: z.int(), user: z.string(), password: z.string().nullable(), name: z.string() })

const toWorker = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('database'), database }),
  z.object({ kind: z.literal('listen') }),
  z.object({ kind: z.literal('drain'), now: z.boolean() }),
  z.object({ kind: z.literal('metrics'), id: z.int(), text: z.string() }),
])
const toPrimary = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), port: z.int() }),
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('metrics'), id: z.int() }),
])

export type ToWorker = z.infer<typeof toWorker>
export type ToPrimary = z.infer<typeof toPrimary>

/** The message, or null when it is somebody else's: prom-client uses the channel too. */
export const readToWorker = (message: unknown): ToWorker | null => toWorker.safeParse(message).data ?? null
export const readToPrimary = (message: unknown): ToPrimary | null => toPrimary.safeParse(message).data ?? null

/** Where the prepared database is; TLS settings come from the worker's own environment. */
export const packDatabase = ({ host, port, user, password, name }: DatabaseConfig): ToWorker => ({
  kind: 'database',
  database: { host, port, user, name, password: password?.reveal() ?? null },
})

/** The worker's database settings, pointed at the prepared database. */
export const unpackDatabase = (own: DatabaseConfig, { password, ...place }: z.infer<typeof database>): DatabaseConfig => ({
  ...own,
  ...place,
  password: password === null ? null : new Secret(password),
})
