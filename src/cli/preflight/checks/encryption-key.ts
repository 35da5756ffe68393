import type { Client } from 'pg'
import { chooseKey, fingerprint, type KeyRing } from '../../../app/secrets/encryption-key.ts'
import type { Config } from '../../../config/index.ts'
import { fail, ok, warn, type Check, type Verdict } from '../check.ts'
import { hasTable } from './schema.ts'

const make = 'Make a key with "openssl rand -base64 32", keep a copy apart from the backups of the database, and set ENCRYPTION_KEY.'

/** Checks that this process could open the sealed values of the database. */
export const encryptionKeyCheck: Check = {
  id: 'encryption-key',
  about: '`ENCRYPTION_KEY` is there, well-formed, and the key that the database was sealed with.',
  remedy: 'Set `ENCRYPTION_KEY` to the key of this database. A lost key cannot be restored: credentials must then be stored again.',
  quick: true,
  async run(stage) {
    const config = stage.settings()
    const reached = await stage.database().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
    const stored = reached instanceof Error ? null : await storedFingerprints(reached.client)
    const choice = await chooseKey(config, { mayCreate: false })
    if ('sealed' in choice) return judgeAbsent(choice.sealed === 'invalid_key', config, stored !== null && stored.length > 0)
    if (reached instanceof Error) throw reached
    return judgeKey(choice, stored ?? [])
  },
}

function judgeAbsent(malformed: boolean, config: Config, used: boolean): Verdict {
  const source = config.encryptionKey === null ? `${config.dataDir}/encryption.key` : 'ENCRYPTION_KEY'
  if (malformed) return fail(`${source} is malformed: it must be 32 bytes in base64`, used ? 'Set the key of this database.' : make)
  if (used)
    return fail(
      'there is no encryption key, and the database is sealed with one',
      'Set ENCRYPTION_KEY to the key of this database, or restore the file that held it.',
    )
  if (config.database.embedded) return ok('the first start makes a key in DATA_DIR')
  return fail('ENCRYPTION_KEY is not set: the process would start sealed', make)
}

function judgeKey({ key, byFingerprint }: KeyRing, stored: readonly StoredFingerprint[]): Verdict {
  const own = fingerprint(key)
  const others = stored.filter((entry) => !byFingerprint.has(entry.fingerprint))
  const previous = stored.some((entry) => entry.fingerprint !== own)
  if (others.length === 0 && previous)
    return warn('the database is still sealed with a key of ENCRYPTION_KEY_PREVIOUS', 'Run "gatehouse keys rewrap".')
  if (others.length === 0)
    return ok(stored.length === 0 ? 'well-formed; no value is sealed yet' : `the key of this database (fingerprint ${own})`)
  const named = others.map(({ what, fingerprint: of }) => `${what} with ${of}`).join(', ')
  return fail(
    `ENCRYPTION_KEY has the fingerprint ${own}, and the database was sealed by another: ${named}`,
    'Set ENCRYPTION_KEY to the key with that fingerprint.',
  )
}

interface StoredFingerprint {
  readonly what: string
  readonly fingerprint: string
}

/** The fingerprints of the keys that something in the database was sealed with. */
async function storedFingerprints(client: Client): Promise<readonly StoredFingerprint[]> {
  if (!(await hasTable(client, 'instance_secrets')) || !(await hasTable(client, 'data_keys'))) return []
  await client.query(`BEGIN READ ONLY; SET LOCAL app.scope = 'system'`)
  try {
    const { rows } = await client.query<StoredFingerprint>(
      `SELECT CASE name WHEN 'log_key' THEN 'request logs' ELSE 'the hashes of API keys' END AS what, kek_fingerprint AS fingerprint FROM instance_secrets
       UNION SELECT 'stored credentials', kek_fingerprint FROM data_keys ORDER BY what`,
    )
    return rows
  } finally {
    await client.query('ROLLBACK')
  }
}
