import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { connect } from '../../../src/app/database/connect.ts'
import { startEmbedded, type EmbeddedDatabase } from '../../../src/app/database/embedded/embedded.ts'
import { chooseAccount } from '../../../src/app/database/embedded/account.ts'
import { migrate } from '../../../src/app/database/schema/migrate.ts'
import { asSystem, openOrm } from '../../../src/app/database/orm.ts'
import type { DbSslMode } from '../../../src/config/choices.ts'
import type { DatabaseConfig } from '../../../src/config/config.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { hasOpenssl, makeAuthority, makeCertificate, type Certificate } from '../../support/certificates.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { verdictOf } from '../../support/preflight.ts'
import { environment } from '../../support/process.ts'

/** Two real servers: one without TLS, one that lets the product in with TLS alone. Its certificate is for `localhost`, not `127.0.0.1`. */
interface Stage {
  readonly folder: string
  readonly authority: Certificate
  readonly stranger: Certificate
  readonly client: Certificate
  readonly serverFiles: { readonly cert: string; readonly key: string }
  readonly tls: EmbeddedDatabase
  readonly plain: TestDatabase
}

let stage: Stage | undefined
const the = (): Stage => {
  if (stage === undefined) throw new Error('not set up')
  return stage
}

// Loud on purpose: a machine without openssl must not look as if TLS had been tested.
const check = hasOpenssl ? test.serial : test.serial.skip

test.before(async (t) => {
  if (!hasOpenssl) return t.log('SKIPPED: openssl is not on the PATH, so that no certificates can be made; DB_SSL is not tested here')
  t.timeout(60_000)
  stage = await setUp()
})

test.after.always(async () => {
  await stage?.tls.stop()
  await stage?.plain.drop()
  if (stage !== undefined) await rm(stage.folder, { recursive: true })
})

async function setUp(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-tls-'))
  await chmod(folder, 0o755)
  const authority = makeAuthority('Our authority')
  const serverFiles = { cert: join(folder, 'server.crt'), key: join(folder, 'server.key') }
  await install(makeCertificate(authority, 'localhost'), serverFiles)
  await writeFile(join(folder, 'ca.crt'), authority.cert)
  await writeFile(join(folder, 'hba.conf'), access)
  const settings = {
    ssl: 'on',
    ssl_cert_file: serverFiles.cert,
    ssl_key_file: serverFiles.key,
    ssl_ca_file: join(folder, 'ca.crt'),
    hba_file: join(folder, 'hba.conf'),
  }
  const tls = await startEmbedded({ dataDir: join(folder, 'data'), log: silent, settings: { ...settings, fsync: 'off' } })
  const client = makeCertificate(authority, 'a client')
  return {
    folder,
    authority,
    stranger: makeAuthority('Another authority'),
    client,
    serverFiles,
    tls,
    plain: await testDatabase({ empty: true }),
  }
}

/** The server's keeper comes as the superuser, without TLS; the product needs TLS, and a client certificate for the database `postgres`. */
const access = `
host all postgres 127.0.0.1/32 scram-sha-256
hostssl postgres gatehouse 127.0.0.1/32 scram-sha-256 clientcert=verify-ca
hostssl all gatehouse 127.0.0.1/32 scram-sha-256
`

/** PostgreSQL wants its key to belong to the account that it runs as. */
async function install(certificate: Certificate, files: Stage['serverFiles']): Promise<void> {
  await writeFile(files.cert, certificate.cert)
  await writeFile(files.key, certificate.key, { mode: 0o600 })
  const account = chooseAccount('/nonexistent')
  if (account !== null) await chown(files.key, account.uid, account.gid)
}

type ServerName = 'plain' | 'tls'
type Ssl = Partial<Omit<DatabaseConfig['ssl'], 'mode'>> & { readonly host?: string; readonly name?: string; readonly password?: string }

function configFor(server: ServerName, mode: DbSslMode, { host = 'localhost', name, password, ...rest }: Ssl = {}): DatabaseConfig {
  const ssl = { mode, ca: null, cert: null, key: null, ...rest }
  if (server === 'plain') return { ...the().plain.config, host: host === 'localhost' ? '127.0.0.1' : host, ssl }
  const { tls, plain } = the()
  return {
    ...plain.config,
    host,
    port: tls.port,
    user: tls.user,
    password: new Secret(password ?? tls.password),
    name: name ?? tls.name,
    ssl,
  }
}

const outcome = async (config: DatabaseConfig): Promise<string> => {
  try {
    const { encrypted, login } = await connect(config, silent)
    const { rows } = await inDatabase(login, (client) =>
      client.query<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'),
    )
    return encrypted === rows[0]?.ssl ? (encrypted ? 'TLS' : 'plain') : `said ${String(encrypted)}, was ${String(rows[0]?.ssl)}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const given = {
  'no CA': () => ({}),
  'the right CA': () => ({ ca: the().authority.cert }),
  'the right CA as a path': () => ({ ca: the().authority.certFile }),
  'another CA': () => ({ ca: the().stranger.cert }),
  'the right CA, wrong name': () => ({ ca: the().authority.cert, host: '127.0.0.1' }),
  'another CA, wrong name': () => ({ ca: the().stranger.cert, host: '127.0.0.1' }),
} as const

const cell = test.macro({
  async exec(t, server: ServerName, mode: DbSslMode, circumstances: keyof typeof given, expected: string | RegExp) {
    const got = await outcome(configFor(server, mode, given[circumstances]()))
    if (typeof expected === 'string') t.is(got, expected)
    else t.regex(got, expected)
  },
  title: (_, server: ServerName, mode: DbSslMode, circumstances: keyof typeof given, expected: string | RegExp) =>
    `DB_SSL=${mode}, ${server} server, ${circumstances}: ${String(expected)}`,
})

const noTls = /does not offer TLS, and DB_SSL=\w+ demands it/
const wrongAuthority = /not signed by a trusted authority .*set DB_SSL_CA/
const wrongName = /is for another name than DB_HOST=127\.0\.0\.1/

check(cell, 'plain', 'DISABLED', 'no CA', 'plain')
check(cell, 'plain', 'PREFERRED', 'no CA', 'plain')
check(cell, 'plain', 'REQUIRED', 'no CA', noTls)
check(cell, 'plain', 'VERIFY_CA', 'the right CA', noTls)
check(cell, 'plain', 'VERIFY_IDENTITY', 'the right CA', noTls)
check(cell, 'plain', 'MANAGED', 'no CA', noTls)

check(cell, 'tls', 'DISABLED', 'no CA', /refuses connections without TLS .*set DB_SSL=REQUIRED/)
check(cell, 'tls', 'PREFERRED', 'no CA', 'TLS')
check(cell, 'tls', 'PREFERRED', 'another CA, wrong name', 'TLS')
check(cell, 'tls', 'REQUIRED', 'no CA', 'TLS')
check(cell, 'tls', 'REQUIRED', 'another CA, wrong name', 'TLS')
check(cell, 'tls', 'VERIFY_CA', 'no CA', wrongAuthority)
check(cell, 'tls', 'VERIFY_CA', 'the right CA', 'TLS')
check(cell, 'tls', 'VERIFY_CA', 'the right CA as a path', 'TLS')
check(cell, 'tls', 'VERIFY_CA', 'the right CA, wrong name', 'TLS')
check(cell, 'tls', 'VERIFY_CA', 'another CA', wrongAuthority)
check(cell, 'tls', 'VERIFY_IDENTITY', 'no CA', wrongAuthority)
check(cell, 'tls', 'VERIFY_IDENTITY', 'the right CA', 'TLS')
check(cell, 'tls', 'VERIFY_IDENTITY', 'the right CA, wrong name', wrongName)
check(cell, 'tls', 'VERIFY_IDENTITY', 'another CA', wrongAuthority)
check(cell, 'tls', 'MANAGED', 'no CA', wrongAuthority)
check(cell, 'tls', 'MANAGED', 'the right CA', 'TLS')
check(cell, 'tls', 'MANAGED', 'the right CA, wrong name', wrongName)
check(cell, 'tls', 'MANAGED', 'another CA', wrongAuthority)

check('preflight tells how the way to the database is protected, and when the certificate ends', async (t) => {
  const verdict = ({ host, port, name }: DatabaseConfig, env: Readonly<Record<string, string>>) =>
    verdictOf('postgres-tls', { ...environment(configFor('tls', 'REQUIRED')), DB_HOST: host, DB_PORT: String(port), DB_NAME: name, ...env })
  const server = configFor('tls', 'REQUIRED')
  const verified = await verdict(server, { DB_SSL: 'VERIFY_IDENTITY', DB_SSL_CA: the().authority.cert })
  // The server's certificate of these tests ends in two days.
  t.is(verified.status, 'warn')
  t.regex(verified.detail, /^the certificate of PostgreSQL \(localhost\) ends on \d{4}-\d\d-\d\d$/)
})

check('PREFERRED does not fall back to plain text on anything but a server without TLS', async (t) => {
  t.regex(
    await outcome(configFor('tls', 'PREFERRED', { password: 'wrong' })),
    /refused the login of user "gatehouse" .*check DB_USER and DB_PASS/,
  )
})

check('a client certificate is sent when the server asks for one, and its lack is named', async (t) => {
  const { authority, client } = the()
  t.regex(await outcome(configFor('tls', 'REQUIRED', { name: 'postgres' })), /wants a client certificate .*set DB_SSL_CERT and DB_SSL_KEY/)
  t.is(
    await outcome(
      configFor('tls', 'VERIFY_IDENTITY', { name: 'postgres', ca: authority.cert, cert: client.cert, key: new Secret(client.key) }),
    ),
    'TLS',
  )
  t.is(await outcome(configFor('tls', 'REQUIRED', { name: 'postgres', cert: client.certFile, key: new Secret(client.keyFile) })), 'TLS')
})

check('an unusable PEM, path or key pair is named before anything is sent', async (t) => {
  const { authority, client, stranger } = the()
  const faults: readonly [Ssl, RegExp][] = [
    [{ ca: '/nonexistent/ca.pem' }, /^DB_SSL_CA is neither a PEM nor the path of a file/],
    [{ ca: join(the().folder, 'hba.conf') }, /^DB_SSL_CA holds no certificate/],
    [{ ca: authority.cert.replace(/\n[^-]+\n/, '\nAAAA\n') }, /^DB_SSL_CA holds no certificate/],
    [{ cert: client.key, key: new Secret(client.key) }, /^DB_SSL_CERT holds no certificate/],
    [{ cert: client.cert, key: new Secret(client.cert) }, /^DB_SSL_KEY holds no private key/],
    [{ cert: client.cert, key: new Secret(stranger.key) }, /^DB_SSL_CERT and DB_SSL_KEY do not belong together/],
  ]
  for (const [ssl, expected] of faults) t.regex(await outcome(configFor('tls', 'REQUIRED', ssl)), expected)
})

check('the pool of the ORM uses the same TLS settings, private key included', async (t) => {
  const { authority, client } = the()
  const ssl = { name: 'postgres', ca: authority.cert, cert: client.cert, key: new Secret(client.key) }
  const { runtime } = await connect(configFor('tls', 'VERIFY_IDENTITY', ssl), silent)
  const orm = await openOrm({ client: runtime, poolSize: 2, entities: [] })
  const rows = await asSystem(orm, (em) =>
    em.execute<{ ssl: boolean; client_dn: string }[]>('SELECT ssl, client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()'),
  )
  await orm.close()
  t.deepEqual(rows, [{ ssl: true, client_dn: '/CN=a client' }])
})

check('migrations run over TLS', async (t) => {
  const { login } = await connect(configFor('tls', 'VERIFY_IDENTITY', { ca: the().authority.cert }), silent)
  t.true((await migrate(login, silent)).length > 0)
})

check('an expired certificate is named', async (t) => {
  const { authority, serverFiles, tls } = the()
  await install(makeCertificate(authority, 'localhost', -1), serverFiles)
  const superuser = { host: tls.host, port: tls.port, ...tls.superuser, database: 'postgres' }
  await inDatabase(superuser, (client) => client.query('SELECT pg_reload_conf()'))
  t.regex(await outcome(configFor('tls', 'VERIFY_CA', { ca: authority.cert })), /is not valid now .*renew it/)
})
