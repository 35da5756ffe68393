import type { MikroORM } from '@mikro-orm/postgresql'
import { asSystem } from '../database/orm.ts'
import { rewrapLock, unwrapDataKey, wrapDataKey } from './data-keys.ts'
import { fingerprint, type KeyRing } from './encryption-key.ts'
import { openInstanceSecret, wrapInstanceSecret, type InstanceSecret } from './instance-secrets.ts'
import { noteKey } from './open-vault.ts'

interface DataKeyRow extends Omit<InstanceSecret, 'name'> {
  readonly id: string
  readonly organisation_id: string
  readonly version: number
}

/**
 * Seals the data keys, the pepper of API keys and the log key with `ring.key`, in one transaction: all of them, or none. The credentials and logs
 * that they seal are not touched. Processes that run keep working, if they have both keys. @returns how many were sealed anew; 0 when all were sealed
 * with that key already.
 */
export const rewrap = (orm: MikroORM, ring: KeyRing): Promise<number> =>
  asSystem(orm, async (em) => {
    await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [rewrapLock])
    const current = fingerprint(ring.key)
    const keys = await em.execute<DataKeyRow[]>(
      'SELECT id, organisation_id, version, wrapped, kek_fingerprint FROM data_keys WHERE kek_fingerprint <> ?',
      [current],
    )
    for (const row of keys) {
      const place = { id: row.id, version: row.version, organisationId: row.organisation_id }
      const wrapped = wrapDataKey(place, unwrapDataKey({ ...row, ...place }, ring), ring.key)
      await em.execute('UPDATE data_keys SET wrapped = ?, kek_fingerprint = ? WHERE id = ?', [wrapped, current, row.id])
    }
    const secrets = await em.execute<InstanceSecret[]>(
      'SELECT name, wrapped, kek_fingerprint FROM instance_secrets WHERE kek_fingerprint <> ?',
      [current],
    )
    for (const row of secrets) {
      const secret = openInstanceSecret(row, ring)
      if (secret === null) throw new Error(`no key that is set opens the secret ${row.name}: it was sealed with ${row.kek_fingerprint}`)
      await em.execute('UPDATE instance_secrets SET wrapped = ?, kek_fingerprint = ? WHERE name = ?', [
        wrapInstanceSecret(row.name, secret, ring.key),
        current,
        row.name,
      ])
    }
    const sealed = await em.execute('SELECT FROM instance_secrets LIMIT 1')
    if (sealed.length > 0) await noteKey(em, current)
    return keys.length + secrets.length
  })
