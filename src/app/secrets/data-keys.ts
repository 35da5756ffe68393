import { randomBytes } from 'node:crypto'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import { uuidv7 } from '../../lib/uuid.ts'
import { inTenant } from '../database/orm.ts'
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

/** The wrapped data keys of all organisations, opened once and then kept in memory. */
export function openDataKeys(orm: MikroORM, kek: Buffer): DataKeys {
  const loading = new Map<string, Promise<readonly SealingKey[]>>()

  /** One load at a time for an organisation; a failed one is forgotten. */
  const load = (organisationId: string): Promise<readonly SealingKey[]> => {
    const known = loading.get(organisationId)
    if (known !== undefined) return known
    const keys = inTenant(orm, organisationId, async (em) =>
      (await readOrCreate(em, organisationId, kek)).map((row) => unwrap(row, organisationId, kek)),
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

async function readOrCreate(em: EntityManager, organisationId: string, kek: Buffer): Promise<readonly KeyRow[]> {
  const rows = await read(em, organisationId)
  if (rows.length > 0) return rows
  const [id, version] = [uuidv7(), 1]
  const wrapped = seal({ version: kekVersion, bytes: kek }, place({ id, version }, organisationId), randomBytes(32))
  await em.execute(
    'INSERT INTO data_keys (id, organisation_id, version, wrapped, kek_fingerprint) VALUES (?, ?, ?, ?, ?) ON CONFLICT (organisation_id, version) DO NOTHING',
    [id, organisationId, version, wrapped, fingerprint(kek)],
  )
  return read(em, organisationId)
}

const read = (em: EntityManager, organisationId: string) =>
  em.execute<KeyRow[]>('SELECT id, version, wrapped FROM data_keys WHERE organisation_id = ? ORDER BY version DESC', [organisationId])

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
