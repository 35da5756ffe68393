import { createHmac, createSecretKey } from 'node:crypto'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { createLogSeal } from '../../gateway/ports/journal.ts'
import { ApiError } from '../../lib/errors.ts'
import { asSystem } from '../database/orm.ts'
import type { SidePool } from '../database/side-pool.ts'
import { openDataKeys, type DataKeys } from './data-keys.ts'
import { chooseKey, fingerprint, type KeyRing } from './encryption-key.ts'
import { keyVersionOf, open, seal } from './envelope.ts'
import { createInstanceSecret, openInstanceSecret, readInstanceSecret, type InstanceSecret } from './instance-secrets.ts'
import { createWordHash } from './word-hash.ts'
import type { Place, SealedReason, Vault } from './vault.ts'

export interface VaultOptions {
  readonly orm: MikroORM
  readonly side: SidePool
  readonly config: Config
  readonly log: Logger
}

/**
 * Opens the vault with the key-encryption key and this database's pepper. Without the right key it is sealed, which is no error: the process reports
 * it and waits.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  return openWith(await readInstanceSecret(options.orm, 'api_key_pepper'), options)
}

/** The same for a database that was sealed before; null for one that was not, which stays as it is. */
export async function reopenVault(options: VaultOptions): Promise<Vault | null> {
  const stored = await readInstanceSecret(options.orm, 'api_key_pepper')
  return stored === null ? null : openWith(stored, options)
}

async function openWith(stored: InstanceSecret | null, options: VaultOptions): Promise<Vault> {
  const choice = await chooseKey(options.config, { mayCreate: stored === null })
  if ('sealed' in choice) return refuse(choice.sealed, options)
  const row = stored ?? (await createInstanceSecret(options.orm, 'api_key_pepper', choice))
  const pepper = openInstanceSecret(row, choice)
  if (pepper === null) return refuse('wrong_key', options)
  const logKey = openInstanceSecret(await logKeyRow(options.orm, choice), choice)
  if (logKey === null) return refuse('wrong_key', options)
  await asSystem(options.orm, (em) => noteKey(em, row.kek_fingerprint))
  if (row.kek_fingerprint !== fingerprint(choice.key))
    options.log.warn('the database is still sealed with a key of ENCRYPTION_KEY_PREVIOUS: run "gatehouse keys rewrap"')
  return openedVault(openDataKeys(options.side, choice), { pepper, logKey })
}

const logKeyRow = async (orm: MikroORM, ring: KeyRing): Promise<InstanceSecret> =>
  (await readInstanceSecret(orm, 'log_key')) ?? createInstanceSecret(orm, 'log_key', ring)

/** So that an operator can see which key a database needs, even while no process runs. */
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
  return {
    sealed: reason,
    encrypt: async () => fail(),
    decrypt: async () => fail(),
    hashKey: fail,
    logs: { seal: fail, open: fail },
    words: { of: fail },
    logKey: fail,
  }
}

function openedVault(keys: DataKeys, { pepper, logKey }: { readonly pepper: Buffer; readonly logKey: Buffer }): Vault {
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
    logs: createLogSeal(logKey),
    words: createWordHash(logKey),
    logKey: () => logKey,
  }
}

const unreadable = ({ table, column, rowId }: Place, cause: unknown) =>
  new Error(`${table}.${column} of row ${rowId} cannot be decrypted: it was changed, moved, or sealed with another key`, { cause })
