import { randomBytes } from 'node:crypto'
import type { MikroORM } from '@mikro-orm/postgresql'
import { asSystem } from '../database/orm.ts'
import { rewrapLock } from './data-keys.ts'
import { fingerprint, type KeyRing } from './encryption-key.ts'
import { open, seal } from './envelope.ts'

/** Secrets of the whole installation: 32 bytes each. */
export type InstanceSecretName = 'api_key_pepper' | 'log_key'

/** One of them as it is stored. */
export interface InstanceSecret {
  readonly name: string
  readonly wrapped: Uint8Array
  readonly kek_fingerprint: string
}

/** Reads a secret; null when it was never made. */
export const readInstanceSecret = (orm: MikroORM, name: InstanceSecretName): Promise<InstanceSecret | null> =>
  asSystem(orm, async (em) => {
    const rows = await em.execute<InstanceSecret[]>('SELECT name, wrapped, kek_fingerprint FROM instance_secrets WHERE name = ?', [name])
    return rows[0] ?? null
  })

/**
 * Creates a secret. If several processes start at once, one wins, and all use its secret. It is sealed with the key that seals the others: between a
 * new ENCRYPTION_KEY and `rewrap` that is the former one, which every process has.
 */
export async function createInstanceSecret(orm: MikroORM, name: InstanceSecretName, ring: KeyRing): Promise<InstanceSecret> {
  await asSystem(orm, async (em) => {
    await em.execute('SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [rewrapLock])
    const others = await em.execute<Pick<InstanceSecret, 'kek_fingerprint'>[]>('SELECT kek_fingerprint FROM instance_secrets LIMIT 1')
    const kek = ring.byFingerprint.get(others[0]?.kek_fingerprint ?? '') ?? ring.key
    const wrapped = wrapInstanceSecret(name, randomBytes(32), kek)
    await em.execute('INSERT INTO instance_secrets (name, wrapped, kek_fingerprint) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING', [
      name,
      wrapped,
      fingerprint(kek),
    ])
  })
  const stored = await readInstanceSecret(orm, name)
  if (stored === null) throw new Error(`the secret ${name} could not be stored`)
  return stored
}

/** Seals a secret for its row with a key-encryption key. */
export const wrapInstanceSecret = (name: string, secret: Uint8Array, kek: Buffer): Buffer =>
  seal({ version: 0, bytes: kek }, place(name), secret)

/** Opens a secret; null when no key of the ring opens it. */
export function openInstanceSecret({ name, wrapped, kek_fingerprint }: InstanceSecret, { byFingerprint }: KeyRing): Buffer | null {
  const kek = byFingerprint.get(kek_fingerprint)
  if (kek === undefined) return null
  try {
    return open({ version: 0, bytes: kek }, place(name), wrapped)
  } catch {
    return null
  }
}

const place = (name: string) => ({ organisationId: '', table: 'instance_secrets', column: 'wrapped', rowId: name })
