import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { createApp, type Overrides, type StartedApp } from '../../../src/app/start/app.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { features } from '../../../src/features/index.ts'
import { createApiKey } from '../../../src/lib/api-key.ts'
import { organisationScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { patient } from '../../support/app.ts'
import { testDatabase } from '../../support/database.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface Tenant {
  readonly organisationId: string
  /** The default workspace; its slug is `main`. */
  readonly workspaceId: string
  /** Another workspace; its slug is `side`. */
  readonly sideId: string
  readonly adminKey: string
  readonly workspaceKey: string
  readonly sideKey: string
}

export interface NewKey {
  readonly workspaceId?: string
  /** Makes it the key of this user. */
  readonly userId?: string
  readonly scopes: readonly string[]
}

export interface NewUser {
  /** One that is made up when not given. */
  readonly id?: string
  readonly email: string
  readonly role?: 'owner' | 'admin' | 'member'
  readonly workspaces?: Readonly<Record<string, 'admin' | 'manager' | 'member'>>
}

/** The whole process on a database of its own, with a way to call it and to look past it. */
export interface Control {
  readonly started: StartedApp
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** Starts another process's app on the same database; returns its origin. */
  openBeside(): Promise<string>
  /** Resolves when every change committed before the call counts. */
  refresh(): Promise<void>
  /** A superuser's connections. */
  readonly sql: Pool
  call(key: string, method: string, path: string, body?: unknown): Promise<Answer>
  createTenant(name: string): Promise<Tenant>
  createKey(tenant: Tenant, key: NewKey): Promise<string>
  /** A user of the organisation, with a role in each of the named workspaces. */
  createUser(tenant: Tenant, user: NewUser): Promise<string>
  /** Every row of every table, as one text. */
  dump(): Promise<string>
  close(): Promise<void>
}

export async function startControl(overrides: Overrides = {}, env: Readonly<Record<string, string>> = {}): Promise<Control> {
  const [database, dataDir] = await Promise.all([testDatabase(), mkdtemp(join(tmpdir(), 'gatehouse-features-'))])
  const { config } = database
  const encryptionKey = randomBytes(32).toString('base64')
  const open = async (folder: string) => {
    const settings = loadConfig({
      DATA_DIR: folder,
      DB_HOST: config.host,
      DB_PORT: String(config.port),
      DB_USER: config.user,
      DB_PASS: config.password?.reveal(),
      DB_NAME: config.name,
      DB_SSL: 'DISABLED',
      DB_POOL_SIZE: '12',
      ENCRYPTION_KEY: encryptionKey,
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
      FAILED_CREDENTIALS_PER_MINUTE: '0',
      ROLES: 'gateway,control',
      ...env,
    })
    const app = await createApp({ ...settings, database: patient(settings.database) }, features, overrides)
    const { port } = await app.listen()
    return { app, origin: `http://127.0.0.1:${port}`, started: await app.started }
  }
  const { app, origin, started } = await open(dataDir)
  const beside: Awaited<ReturnType<typeof open>>[] = []
  const sql = new Pool({ ...database.superuser, max: 2 })
  // Its connections still close when the database is dropped.
  sql.on('error', () => {})
  const keys = keyMaker(sql, started)
  return {
    started,
    origin,
    async openBeside() {
      const other = await open(join(dataDir, `beside-${beside.length}`))
      beside.push(other)
      return other.origin
    },
    refresh: () => started.snapshot.refresh(),
    sql,
    call: (key, method, path, body) => call(`${origin}/v1${path}`, { key, method, body }),
    createTenant: (name) => createTenant(sql, keys, name),
    createKey: keys,
    createUser: (tenant, user) => createUser(sql, tenant, user),
    dump: () => dump(sql),
    async close() {
      await sql.end()
      for (const one of [...beside.map((other) => other.app), app]) await one.drain({ now: true })
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function call(url: string, { key, method, body }: { key: string; method: string; body: unknown }): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { 'x-service-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} }
}

type KeyMaker = (tenant: Pick<Tenant, 'organisationId'>, key: NewKey) => Promise<string>

const keyMaker =
  (sql: Pool, { deps }: StartedApp): KeyMaker =>
  async ({ organisationId }, { workspaceId, userId, scopes }) => {
    const secret = createApiKey()
    await sql.query(
      `INSERT INTO api_keys (id, organisation_id, workspace_id, name, type, scopes, key_hash, key_hint, user_id)
       VALUES ($1, $2, $3, 'test', $4, $5, $6, 'hint', $7)`,
      [
        randomUUID(),
        organisationId,
        workspaceId ?? null,
        workspaceId === undefined ? 'organisation-service' : userId === undefined ? 'workspace-service' : 'workspace-user',
        scopes,
        deps.vault.hashKey(secret),
        userId ?? null,
      ],
    )
    return secret
  }

async function createUser(
  sql: Pool,
  { organisationId }: Tenant,
  { id = randomUUID(), email, role = 'member', workspaces = {} }: NewUser,
): Promise<string> {
  await sql.query('INSERT INTO users (id, organisation_id, email, role) VALUES ($1, $2, $3, $4)', [id, organisationId, email, role])
  for (const [workspaceId, place] of Object.entries(workspaces))
    await sql.query(
      'INSERT INTO workspace_members (id, organisation_id, workspace_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, $3, $4)',
      [organisationId, workspaceId, id, place],
    )
  return id
}

async function createTenant(sql: Pool, keys: KeyMaker, name: string): Promise<Tenant> {
  const [organisationId, workspaceId, sideId] = [randomUUID(), randomUUID(), randomUUID()]
  await sql.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, $2, $2)`, [organisationId, name])
  await sql.query(
    `INSERT INTO workspaces (id, organisation_id, slug, name, is_default, created_at)
     VALUES ($1, $3, 'main', 'Main', true, now() - interval '2 s'), ($2, $3, 'side', 'Side', false, now() - interval '1 s')`,
    [workspaceId, sideId, organisationId],
  )
  const adminKey = await keys({ organisationId }, { scopes: organisationScopes })
  const workspaceKey = await keys({ organisationId }, { workspaceId, scopes: workspaceScopes })
  const sideKey = await keys({ organisationId }, { workspaceId: sideId, scopes: workspaceScopes })
  return { organisationId, workspaceId, sideId, adminKey, workspaceKey, sideKey }
}

async function dump(sql: Pool): Promise<string> {
  const { rows } = await sql.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
  )
  const parts: string[] = []
  for (const { name } of rows) {
    const table = await sql.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)
    parts.push(...table.rows.map(({ row }) => row), ...table.rows.flatMap(({ row }) => decodeHex(row)))
  }
  return parts.join('\n')
}

/** The texts behind bytea values, which PostgreSQL prints in hex. */
const decodeHex = (row: string): string[] =>
  [...row.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
