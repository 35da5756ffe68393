import { Socket } from 'node:net'
import { Client, Pool, type ClientBase, type ClientConfig, type PoolConfig } from 'pg'

/**
 * The settings that the statements of Gatehouse rely on, independent of the defaults of the server, the database and the role. `options` of a
 * ClientConfig (`-c name=value`) adds to them.
 */
const fixed: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
  row_security: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
}

const settleWithinMs = 2000

/** Faults after which a connection is of no use: its server is a standby, is going away, or is another one behind the same address. */
const ends = /^(?:25006|57P0[1235]|08...|28...)$/

/**
 * Makes a client for `enter`. Its settings are not sent with the start of the connection, because a pooler refuses or drops them there.
 */
export function sessionClient(config: ClientConfig): Client {
  const client = new Client({ ...config, options: undefined })
  client.on('error', () => {})
  return client
}

/** Connects a client, and gives its session the settings of `config`. Throws if the session is not kept together, or takes no writes. */
export async function enter(client: Client, config: ClientConfig): Promise<void> {
  await client.connect()
  try {
    await settle(client, config)
  } catch (error) {
    // A server that does not answer has no goodbye either.
    streamOf(client).destroy()
    throw error
  }
}

/** Makes a pool whose connections have the settings of `config`. */
export const sessionPool = (config: PoolConfig): Pool => new Pool(sessionPoolOptions(config))

/** The options of such a pool, for a library that makes pools by itself. */
export function sessionPoolOptions({ options, ...config }: PoolConfig): PoolConfig {
  const entered = { ...config, ...(options === undefined ? {} : { options }) }
  return { ...config, onConnect: (client) => settle(client, entered) }
}

/** Sets all settings in one statement, and reads them in a further one: a pooler that shares its connections may have taken another by then. */
async function settle(client: ClientBase, { options = '' }: ClientConfig): Promise<void> {
  // Each fault reaches the query, or the pool that holds the connection idle; an error without a listener would end the process.
  client.on('error', () => {})
  endAfter(client, ends)
  const settings = [...new Map([...Object.entries(fixed), ...readOptions(options)])]
  const values = settings.flat()
  const timer = setTimeout(() => streamOf(client).destroy(lateError()), settleWithinMs)
  try {
    const set = settings.map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, false)`)
    const { rows: made } = await client.query<{ made: readonly string[] }>(`SELECT ARRAY[${set.join(', ')}] AS made`, values)
    const read = settings.map((_, at) => `current_setting($${at + 1}, true)`)
    const { rows: held } = await client.query<{ held: readonly (string | null)[]; standby: boolean }>(
      `SELECT ARRAY[${read.join(', ')}] AS held, pg_catalog.pg_is_in_recovery() AS standby`,
      settings.map(([name]) => name),
    )
    if (held[0]?.standby === true) throw standby()
    if (made[0]?.made.some((value, at) => value !== held[0]?.held[at]) !== false) throw scattered()
  } finally {
    clearTimeout(timer)
  }
}

/** Reads `-c name=value -c …`; the last value of a name counts. */
const readOptions = (options: string): readonly (readonly [string, string])[] =>
  [...options.matchAll(/-c (\S+?)=(\S*)/g)].map(([, name = '', value = '']) => [name, value])

const lateError = () => Object.assign(new Error(`the database did not answer for ${settleWithinMs} ms`), { code: 'ETIMEDOUT' })
const standby = () => Object.assign(new Error('PostgreSQL is a read-only standby'), { code: '25006' })
const scattered = () =>
  Object.assign(new Error('a connection pooler in transaction mode stands before PostgreSQL: the settings of a session get lost'), {
    code: '08P01',
  })

/** Closes a connection after an error of these codes has reached the holder, so that no pool gives it away again. */
function endAfter(client: ClientBase, codes: RegExp): void {
  connectionOf(client).on('errorMessage', (message: unknown) => {
    const code: unknown = typeof message === 'object' && message !== null ? Reflect.get(message, 'code') : null
    if (typeof code === 'string' && codes.test(code)) setImmediate(() => streamOf(client).destroy())
  })
}

interface WireConnection {
  readonly stream: unknown
  on(event: 'errorMessage', listener: (message: unknown) => void): unknown
}

/** pg has it in every client, and its types leave it out. */
function connectionOf(client: ClientBase): WireConnection {
  const connection: unknown = Reflect.get(client, 'connection')
  if (isConnection(connection)) return connection
  throw new Error('pg keeps the connection of a client elsewhere than before')
}

const isConnection = (value: unknown): value is WireConnection =>
  typeof value === 'object' && value !== null && 'stream' in value && 'on' in value && typeof value.on === 'function'

/** Returns the socket of a client. */
export function streamOf(client: ClientBase): Socket {
  const { stream } = connectionOf(client)
  if (stream instanceof Socket) return stream
  throw new Error('pg keeps the socket of a connection elsewhere than before')
}
