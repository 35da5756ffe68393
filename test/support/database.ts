import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { Client, DatabaseError, type ClientConfig } from 'pg'
import pino from 'pino'
import type { DatabaseConfig } from '../../src/config/config.ts'
import { startEmbedded, type EmbeddedDatabase } from '../../src/app/database/embedded/embedded.ts'
import { readMigrations } from '../../src/app/database/schema/migration-files.ts'
import { migrate } from '../../src/app/database/schema/migrate.ts'
import { Secret } from '../../src/lib/secret.ts'

export const silent = pino({ level: 'silent' })

export interface TestDatabase {
  readonly config: DatabaseConfig
  /** A superuser's connection settings to the same database, for looking past row-level security. */
  readonly superuser: ClientConfig
  readonly drop: () => Promise<void>
}

export interface TestDatabaseOptions {
  /** Without any migration. */
  readonly empty?: boolean
  /** `config` logs in as the superuser instead of a plain role. */
  readonly asSuperuser?: boolean
  /** A copy of this one, to which no client may be connected meanwhile. */
  readonly copyOf?: TestDatabase
}

/** The plain login of every test: no superuser, owner of its databases. */
const owner = { user: 'gatehouse_test', password: 'gatehouse_test' }

/**
 * A database of its own, cloned from one that is migrated once for all test files of a run. The server is the run's
 * (`GATEHOUSE_TEST_DB_HOST`, `_PORT`, `_USER`, `_PASS`: a superuser), else an embedded one that test files share and the last stops.
 */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = await enterServer()
  const name = `gatehouse_t_${randomBytes(8).toString('hex')}`
  const template = options.copyOf?.config.name ?? (options.empty === true ? 'template1' : await ensureTemplate(server))
  await inDatabase(server, (client) => createDatabase(client, name, template))
  const superuser = { ...server, database: name }
  const login = options.asSuperuser === true ? server : { ...server, ...owner }
  return {
    config: {
      embedded: false,
      host: login.host,
      port: login.port,
      user: login.user,
      password: new Secret(login.password),
      name,
      poolSize: 12,
      connectTimeoutMs: 2000,
      ssl: { mode: 'DISABLED', ca: null, cert: null, key: null },
    },
    superuser,
    drop: async () => {
      await inDatabase(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
      await leaveServer()
    },
  }
}

interface Server {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

let users = 0
let embedded: Promise<EmbeddedDatabase> | null = null

async function enterServer(): Promise<Server> {
  users += 1
  const given = givenServer()
  if (given !== null) return given
  const dataDir = join(tmpdir(), `gatehouse-test-${userInfo().uid}`)
  embedded ??= startEmbedded({ dataDir, log: silent, settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } })
  const { host, port, superuser } = await embedded
  return { host, port, ...superuser, database: 'postgres' }
}

function givenServer(): Server | null {
  const {
    GATEHOUSE_TEST_DB_HOST: host,
    GATEHOUSE_TEST_DB_PORT: port,
    GATEHOUSE_TEST_DB_USER: user,
    GATEHOUSE_TEST_DB_PASS: password,
  } = process.env
  if (host === undefined) return null
  return { host, port: Number(port ?? 5432), user: user ?? 'postgres', password: password ?? '', database: 'postgres' }
}

/** Its keeper connection would keep the test process alive. */
async function leaveServer(): Promise<void> {
  users -= 1
  if (users > 0 || embedded === null) return
  const last = await embedded
  embedded = null
  await last.stop()
}

/** Built under another name and renamed when complete, so that a run that was killed leaves no half-made one that another would clone. */
async function ensureTemplate(server: Server): Promise<string> {
  const name = `gatehouse_template_${await schemaHash()}`
  await inDatabase(server, async (client) => {
    await client.query(`SELECT pg_advisory_lock(hashtext('gatehouse test template'))`)
    if (await exists(client, name)) return
    const draft = `${name}_draft`
    await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`)
    await client.query(createOwner)
    await client.query(`CREATE DATABASE ${draft} OWNER ${owner.user}`)
    await migrate({ ...server, ...owner, database: draft }, silent)
    await client.query(`ALTER DATABASE ${draft} WITH ALLOW_CONNECTIONS false`)
    await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`)
  })
  return name
}

const createOwner = `DO $$ BEGIN CREATE ROLE ${owner.user} LOGIN PASSWORD '${owner.password}';
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`

async function schemaHash(): Promise<string> {
  const hash = createHash('sha256')
  for (const { id, checksum } of await readMigrations()) hash.update(`${id} ${checksum}\n`)
  return hash.digest('hex').slice(0, 16)
}

async function exists(client: Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
  return rowCount === 1
}

/** 55006: another clone of the same source is being made at this moment. */
async function createDatabase(client: Client, name: string, template: string): Promise<void> {
  await client.query(createOwner)
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Copying files takes a tenth of the time of writing them into the log.
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${owner.user} STRATEGY FILE_COPY`)
      return
    } catch (error) {
      if (!(error instanceof DatabaseError && error.code === '55006') || attempt === 100) throw error
      await sleep(50)
    }
  }
}

/** Runs `work` on a connection of its own. */
export async function inDatabase<T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config)
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
