import test from 'ava'
import type { ConnectionOptions } from 'node:tls'
import { sslOptions } from '../../../../src/app/database/ssl.ts'
import { packConnection, unpackConnection } from '../../../../src/app/journal/messages.ts'
import type { DbSslMode } from '../../../../src/config/choices.ts'
import type { DatabaseConfig } from '../../../../src/config/config.ts'
import { Secret } from '../../../../src/lib/secret.ts'

const database = (mode: DbSslMode): DatabaseConfig => ({
  embedded: false,
  host: 'db.example.com',
  port: 5433,
  user: 'app',
  password: new Secret('pass'),
  name: 'logs',
  poolSize: 5,
  connectTimeoutMs: 2000,
  ssl: { mode, ca: null, cert: null, key: null },
})

const login = { host: 'db.example.com', port: 5433, user: 'app', password: 'pass', database: 'logs', options: '-c role=app' }

const copied = test.macro({
  exec(t, mode: DbSslMode) {
    const client = { ...login, ssl: sslOptions(database(mode)) }
    const { ssl, ...rest } = unpackConnection(structuredClone(packConnection(database(mode), client)))
    t.deepEqual(rest, login)
    t.deepEqual(shape(ssl), shape(client.ssl))
  },
  title: (_, mode: DbSslMode) => `a connection reaches the thread as it was: ${mode}`,
})

const shape = (ssl: boolean | ConnectionOptions | undefined) =>
  typeof ssl !== 'object'
    ? ssl
    : { ...ssl, secureContext: typeof ssl.secureContext, checkServerIdentity: ssl.checkServerIdentity?.('other.example.com', {} as never) }

for (const mode of ['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY', 'MANAGED'] as const) test(copied, mode)

test('PREFERRED that fell back stays without TLS', (t) => {
  const packed = packConnection(database('PREFERRED'), { ...login, ssl: false })
  t.is(unpackConnection(structuredClone(packed)).ssl, false)
})
