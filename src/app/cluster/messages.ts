import { z } from 'zod'
import type { DatabaseConfig } from '../../config/config.ts'
import { Secret } from '../../lib/secret.ts'

/** The address of the database in the messages between the primary process and its workers. Only they share that channel. */
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

/** The message, or null when it belongs to another user of the channel, such as prom-client. */
export const readToWorker = (message: unknown): ToWorker | null => toWorker.safeParse(message).data ?? null
export const readToPrimary = (message: unknown): ToPrimary | null => toPrimary.safeParse(message).data ?? null

/** Packs the address of the prepared database. The worker takes TLS settings from its own environment. */
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
