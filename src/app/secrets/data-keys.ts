import { randomBytes } from 'node:crypto'
import type { PoolClient } from 'pg'
import { uuidv7 } from '../../lib/uuid.ts'
import type { SidePool } from '../database/side-pool.ts'
import { fingerprint, type KeyRing } from './encryption-key.ts'
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
  readonly kek_fingerprint: string
}

/** The number of the key-encryption key in the values that it seals; `kek_fingerprint` identifies that key. */
const kekVersion = 0

/**
 * The wrapped data keys of all organisations, opened once and then kept in memory. They are read on connections of the side pool: code that seals a value
 * mostly holds a connection of the main pool already, and as many of them as the pool is large would wait for each other for ever.
 */
export function openDataKeys(side: SidePool, ring: KeyRing): DataKeys {
  const connections = side.of('vault')
  const loading = new Map<string, Promise<readonly SealingKey[]>>()

  /** One load at a time for an organisation; a failed one is forgotten. */
  const load = (organisationId: string): Promise<readonly SealingKey[]> => {
    const known = loading.get(organisationId)
    if (known !== undefined) return known
    const keys = connections.inOrganisation(organisationId, async (connection) =>
      (await readOrCreate(connection, organisationId, ring)).map((row) => unwrap(row, organisationId, ring)),
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

async function readOrCreate(connection: PoolClient, organisationId: string, ring: KeyRing): Promise<readonly KeyRow[]> {
  const rows = await read(connection, organisationId)
  if (rows.length > 0) return rows
  const kek = await keyInUse(connection, ring)
  const [id, version] = [uuidv7(), 1]
  const wrapped = wrapDataKey({ id, version, organisationId }, randomBytes(32), kek)
  await connection.query(
    'INSERT INTO data_keys (id, organisation_id, version, wrapped, kek_fingerprint) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (organisation_id, version) DO NOTHING',
    [id, organisationId, version, wrapped, fingerprint(kek)],
  )
  return read(connection, organisationId)
}

/** Between a new ENCRYPTION_KEY and `rewrap`, the former one is used on: processes that do not have the new one yet must open it too. */
async function keyInUse(connection: PoolClient, ring: KeyRing): Promise<Buffer> {
  await connection.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [rewrapLock])
  const { rows } = await connection.query<{ kek_fingerprint: string }>('SELECT kek_fingerprint FROM instance_secrets LIMIT 1')
  return keyOf(ring, rows[0]?.kek_fingerprint ?? fingerprint(ring.key))
}

async function read(connection: PoolClient, organisationId: string): Promise<readonly KeyRow[]> {
  const { rows } = await connection.query<KeyRow>(
    'SELECT id, version, wrapped, kek_fingerprint FROM data_keys WHERE organisation_id = $1 ORDER BY version DESC',
    [organisationId],
  )
  return rows
}

const unwrap = (row: KeyRow, organisationId: string, ring: KeyRing): SealingKey => ({
  version: row.version,
  bytes: unwrapDataKey({ ...row, organisationId }, ring),
})

/** Held shared while a data key is made, and alone while all are sealed anew. */
export const rewrapLock = 'gatehouse:rewrap'

/** The place where a data key is stored. */
export interface DataKeyPlace {
  readonly id: string
  readonly version: number
  readonly organisationId: string
}

/** The data key, sealed by a key-encryption key for its row. */
export const wrapDataKey = (row: DataKeyPlace, dataKey: Uint8Array, kek: Buffer): Buffer =>
  seal({ version: kekVersion, bytes: kek }, place(row), dataKey)

/** The data key of a row. Throws when no key of the ring sealed it, or it was changed or moved. */
export const unwrapDataKey = (row: DataKeyPlace & Pick<KeyRow, 'wrapped' | 'kek_fingerprint'>, ring: KeyRing): Buffer =>
  open({ version: kekVersion, bytes: keyOf(ring, row.kek_fingerprint) }, place(row), row.wrapped)

/** The key with that fingerprint. */
function keyOf(ring: KeyRing, wanted: string): Buffer {
  const key = ring.byFingerprint.get(wanted)
  if (key === undefined) throw new Error(`it was sealed with another encryption key, whose fingerprint is ${wanted}`)
  return key
}

const place = ({ id, version, organisationId }: DataKeyPlace) => ({
  organisationId,
  table: 'data_keys',
  column: 'wrapped',
  rowId: `${id}/${version}`,
})
