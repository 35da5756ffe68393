import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import type { ClientConfig } from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { ApiError } from '../../lib/errors.ts'
import { asSystem } from '../database/orm.ts'
import { openDataKeys } from './data-keys.ts'
import { chooseKey, fingerprint, type KeyRing } from './encryption-key.ts'
import { keyVersionOf, open, seal } from './envelope.ts'
import type { Place, SealedReason, Vault } from './vault.ts'

export interface VaultOptions {
  readonly orm: MikroORM
  /** `Connection.runtime`, for connections of the vault's own. */
  readonly client: ClientConfig
  readonly config: Config
  readonly log: Logger
}

/** Opens the vault with the key-encryption key and this database's pepper. Without the right key it is sealed, which is no error: the process says so and waits. */
export async function openVault(options: VaultOptions): Promise<Vault> {
  return openWith(await readPepper(options.orm), options)
}

/** The same for a database that was sealed before; null for one that was not, which stays as it is. */
export async function reopenVault(options: VaultOptions): Promise<Vault | null> {
  const stored = await readPepper(options.orm)
  return stored === null ? null : openWith(stored, options)
}

async function openWith(stored: PepperRow | null, options: VaultOptions): Promise<Vault> {
  const choice = await chooseKey(options.config, { mayCreate: stored === null })
  if ('sealed' in choice) return refuse(choice.sealed, options)
  const row = stored ?? (await createPepper(options.orm, choice.key))
  const pepper = openPepper(row, choice)
  if (pepper === null) return refuse('wrong_key', options)
  await asSystem(options.orm, (em) => noteKey(em, row.kek_fingerprint))
  if (row.kek_fingerprint !== fingerprint(choice.key))
    options.log.warn('the database is still sealed with a key of ENCRYPTION_KEY_PREVIOUS: run "gatehouse keys rewrap"')
  return openedVault(options.client, choice, pepper)
}

/** So that an operator can tell which of his keys a database needs, also while nothing runs. */
export const noteKey = (em: EntityManager, name: string) =>
  em.execute('UPDATE release_state SET encryption_key_fp = ?, updated_at = now() WHERE encryption_key_fp IS DISTINCT FROM ?', [name, name])

const advice: Readonly<Record<SealedReason, string>> = {
  missing_key: 'there is no encryption key: set ENCRYPTION_KEY to the key of this database, for a new one to "openssl rand -base64 32"',
  wrong_key: 'the encryption key is not the one that this database was sealed with: set ENCRYPTION_KEY to that key',
  invalid_key: 'the encryption key is malformed: ENCRYPTION_KEY must be 32 bytes in base64',
}

function refuse(reason: SealedReason, { log, config }: VaultOptions): Vault {
  const generated = config.encryptionKey === null && config.database.embedded ? ` (or restore ${config.dataDir}/encryption.key)` : ''
  log.error({ sealed: reason }, `sealed: ${advice[reason]}${generated}`)
  const fail = () => {
    throw new ApiError('sealed', `This server is sealed: ${advice[reason]}.`)
  }
  return { sealed: reason, encrypt: async () => fail(), decrypt: async () => fail(), hashKey: fail }
}

function openedVault(client: ClientConfig, ring: KeyRing, pepper: Buffer): Vault {
  const keys = openDataKeys(client, ring)
  const hmacKey = createSecretKey(pepper)
  return {
    sealed: null,
    async encrypt(place, plaintext) {
      return seal(await keys.current(place.organisationId), place, Buffer.from(plaintext))
    },
    async decrypt(place, ciphertext) {
      try {
        const key = await keys.version(place.organisationId, keyVersionOf(ciphertext))
        return open(key, place, ciphertext).toString()
      } catch (error) {
        throw unreadable(place, error)
      }
    },
    hashKey: (secret) => createHmac('sha256', hmacKey).update(secret).digest(),
  }
}

const unreadable = ({ table, column, rowId }: Place, cause: unknown) =>
  new Error(`${table}.${column} of row ${rowId} cannot be decrypted: it was changed, moved, or sealed with another key`, { cause })

/** The pepper as it is stored. */
export interface PepperRow {
  readonly wrapped: Uint8Array
  readonly kek_fingerprint: string
}

const pepperName = 'api_key_pepper'
const pepperPlace: Place = { organisationId: '', table: 'instance_secrets', column: 'wrapped', rowId: pepperName }

const readPepper = (orm: MikroORM): Promise<PepperRow | null> =>
  asSystem(orm, async (em) => {
    const rows = await em.execute<PepperRow[]>('SELECT wrapped, kek_fingerprint FROM instance_secrets WHERE name = ?', [pepperName])
    return rows[0] ?? null
  })

/** Of processes that start at once one wins, and all use its pepper. */
async function createPepper(orm: MikroORM, kek: Buffer): Promise<PepperRow> {
  const wrapped = wrapPepper(randomBytes(32), kek)
  await asSystem(orm, (em) =>
    em.execute('INSERT INTO instance_secrets (name, wrapped, kek_fingerprint) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING', [
      pepperName,
      wrapped,
      fingerprint(kek),
    ]),
  )
  const stored = await readPepper(orm)
  if (stored === null) throw new Error('the pepper of API keys could not be stored')
  return stored
}

/** The pepper, sealed by a key-encryption key. */
export const wrapPepper = (pepper: Uint8Array, kek: Buffer): Buffer => seal({ version: 0, bytes: kek }, pepperPlace, pepper)

/** The pepper; null when no key of the ring opens it. */
export function openPepper(stored: PepperRow, { byFingerprint }: KeyRing): Buffer | null {
  const kek = byFingerprint.get(stored.kek_fingerprint)
  if (kek === undefined) return null
  try {
    return open({ version: 0, bytes: kek }, pepperPlace, stored.wrapped)
  } catch {
    return null
  }
}
