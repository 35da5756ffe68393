import { tlsFacts, type TlsFacts } from '../../../app/database/tls-facts.ts'
import type { DatabaseConfig, DbSslMode } from '../../../config/index.ts'
import { ok, warn, type Check, type Verdict } from '../check.ts'

const warnDays = 21
const dayMs = 86_400_000
const verified: ReadonlySet<DbSslMode> = new Set(['VERIFY_CA', 'VERIFY_IDENTITY', 'MANAGED'])
const isNear = ({ host, embedded }: DatabaseConfig) => embedded || /^(?:\/|127\.|::1$|localhost$)/.test(host)

/** How the way to the database is protected. */
export const tlsCheck: Check = {
  id: 'postgres-tls',
  about: 'The connection to PostgreSQL is encrypted as `DB_SSL` demands, and the certificate of the server stays valid for a while.',
  remedy: 'Set `DB_SSL=VERIFY_IDENTITY` and `DB_SSL_CA`; renew a certificate that ends soon.',
  quick: true,
  async run(stage) {
    const { client, config } = await stage.database()
    const facts = tlsFacts(client)
    return facts === null ? judgePlain(config) : judgeEncrypted(config, facts)
  },
}

/** Returns the verdict on a connection without TLS. */
export function judgePlain(config: DatabaseConfig): Verdict {
  const { mode } = config.ssl
  if (isNear(config)) return ok(`no TLS, on this machine (DB_SSL=${mode})`)
  const why = mode === 'DISABLED' ? 'DB_SSL=DISABLED' : 'the server offers none, and DB_SSL=PREFERRED goes on without it'
  return warn(
    `passwords and data cross the network unencrypted: ${why}`,
    'Turn TLS on in PostgreSQL, and set DB_SSL=VERIFY_IDENTITY with DB_SSL_CA.',
  )
}

/** Returns the verdict on an encrypted connection. An unverified server is worth a warning, unless it is on this machine. */
export function judgeEncrypted(config: DatabaseConfig, { protocol, certificateName, certificateEnds }: TlsFacts): Verdict {
  const leftMs = certificateEnds === null ? Number.POSITIVE_INFINITY : certificateEnds.getTime() - Date.now()
  if (leftMs < warnDays * dayMs) {
    const when = `${leftMs < 0 ? 'ended' : 'ends'} on ${certificateEnds?.toISOString().slice(0, 10)}`
    return warn(`the certificate of PostgreSQL (${certificateName}) ${when}`, 'Renew the certificate of the server.')
  }
  const { mode } = config.ssl
  if (verified.has(mode)) return ok(`${protocol}, and the server proved who it is (DB_SSL=${mode})`)
  const weak =
    mode === 'PREFERRED' ? 'an attacker on the network can turn it off or read along' : 'an attacker on the network can read along'
  const seen = `${protocol}, but the server is not verified: ${weak} (DB_SSL=${mode})`
  return isNear(config)
    ? ok(seen)
    : warn(seen, 'Set DB_SSL=VERIFY_IDENTITY with DB_SSL_CA; MANAGED trusts the authorities of the large clouds.')
}
