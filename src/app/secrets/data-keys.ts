import { randomBytes } from 'node:crypto'
import { Pool, type ClientConfig, type PoolClient } from 'pg'
import { uuidv7 } from '../../lib/uuid.ts'
import { fingerprint } from './encryption-key.ts'
import { open, seal, type SealingKey } from './envelope.ts'

export interface DataKeys {
  /** The organisation's newest key; its first one is made on demand. */
  current(organisationId: string): Promise<SealingKey>
  /** The key with this number, also an older one. */
  version(organisationId: string, version: number): Promise<SealingKey>
}

interface KeyRow {
  readonly id: string
  readonly version: number
  readonly wrapped: Uint8Array
}

/** The number of the key-encryption key in the values that it seals; `kek_fingerprint` says which key that is. */
const kekVersion = 0

/**
 * The wrapped data keys of all organisations, opened once and then kept in memory. They are read on connections of their own: who
 * seals a value mostly holds a connection of the main pool already, and as many of them as the pool is large would wait for each
 * other for ever.
 */
export function openDataKeys(client: ClientConfig, kek: Buffer): DataKeys {
  const pool = new Pool({ ...client, max: 2, idleTimeoutMillis: 1000, allowExitOnIdle: true, application_name: 'gatehouse-vault' })
  pool.on('error', () => {})
  const loading = new Map<string, Promise<readonly SealingKey[]>>()

  /** One load at a time for an organisation; a failed one is forgotten. */
  const load = (organisationId: string): Promise<readonly SealingKey[]> => {
    const known = loading.get(organisationId)
    if (known !== undefined) return known
    const keys = inOrganisation(pool, organisationId, async (connection) =>
      (await readOrCreate(connection, organisationId, kek)).map((row) => unwrap(row, organisationId, kek)),
    )
    loading.set(organisationId, keys)
    keys.catch(() => loading.delete(organisationId))
    return keys
  }

  const reload = (organisationId: string) => {
    loading.delete(organisationId)
    return load(organisationId)
  }

  return {
    async current(organisationId) {
      const [newest] = await load(organisationId)
      if (newest === undefined) throw new Error(`organisation ${organisationId} has no data key`)
      return newest
    },
    async version(organisationId, version) {
      const wanted = (key: SealingKey) => key.version === version
      const key = (await load(organisationId)).find(wanted) ?? (await reload(organisationId)).find(wanted)
      if (key === undefined) throw new Error(`organisation ${organisationId} has no data key of version ${version}`)
      return key
    },
  }
}

/** One transaction that sees one organisation's rows. */
async function inOrganisation<T>(pool: Pool, organisationId: string, work: (connection: PoolClient) => Promise<T>): Promise<T> {
  const connection = await pool.connect()
  let failure: Error | undefined
  try {
    await connection.query('BEGIN')
    await connection.query("SELECT set_config('app.organisation_id', $1, true)", [organisationId])
    const result = await work(connection)
    await connection.query('COMMIT')
    return result
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    // A connection whose transaction failed is closed, which rolls it back.
    connection.release(failure)
  }
}

async function readOrCreate(connection: PoolClient, organisationId: string, kek: Buffer): Promise<readonly KeyRow[]> {
  const rows = await read(connection, organisationId)
  if (rows.length > 0) return rows
  const [id, version] = [uuidv7(), 1]
  const wrapped = seal({ version: kekVersion, bytes: kek }, place({ id, version }, organisationId), randomBytes(32))
  await connection.query(
    'INSERT INTO data_keys (id, organisation_id, version, wrapped, kek_fingerprint) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (organisation_id, version) DO NOTHING',
    [id, organisationId, version, wrapped, fingerprint(kek)],
  )
  return read(connection, organisationId)
}

async function read(connection: PoolClient, organisationId: string): Promise<readonly KeyRow[]> {
  const { rows } = await connection.query<KeyRow>(
    'SELECT id, version, wrapped FROM data_keys WHERE organisation_id = $1 ORDER BY version DESC',
    [organisationId],
  )
  return rows
}

const unwrap = (row: KeyRow, organisationId: string, kek: Buffer): SealingKey => ({
  version: row.version,
  bytes: open({ version: kekVersion, bytes: kek }, place(row, organisationId), row.wrapped),
})

const place = ({ id, version }: Pick<KeyRow, 'id' | 'version'>, organisationId: string) => ({
  organisationId,
  table: 'data_keys',
  column: 'wrapped',
  rowId: `${id}/${version}`,
})
