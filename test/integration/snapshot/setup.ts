import { hash, randomBytes, randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { connect } from '../../../src/app/database/connect.ts'
import { openSidePool, type SidePool } from '../../../src/app/database/side-pool.ts'
import { createSnapshot, type LiveSnapshot, type SnapshotOptions } from '../../../src/app/snapshot/snapshot.ts'
import { createLogSeal } from '../../../src/gateway/journal/log-seal.ts'
import { viewsOf } from '../../../src/app/feature.ts'
import { features } from '../../../src/features/index.ts'
import { providerView } from '../../../src/features/providers/provider.view.ts'
import { createWordHash } from '../../../src/app/secrets/word-hash.ts'
import type { Vault } from '../../../src/app/secrets/vault.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { silent, testDatabase } from '../../support/database.ts'
import { startTcpProxy, type TcpProxy } from '../../support/emulator/tcp-proxy.ts'

/** Hashes as the real one does, without a pepper; the snapshot calls no other method of it. */
export const vault: Vault = {
  sealed: null,
  hashKey: (secret) => Buffer.from(hash('sha256', secret, 'hex'), 'hex'),
  encrypt: () => Promise.reject(new ApiError('sealed', 'not in this test')),
  decrypt: () => Promise.reject(new ApiError('sealed', 'not in this test')),
  logs: createLogSeal(randomBytes(32)),
  words: createWordHash(randomBytes(32)),
  logKey: () => randomBytes(32),
}

/** One organisation with one workspace in a database of its own, and a proxy through which snapshots reach it. */
export interface Stage {
  readonly organisationId: string
  readonly workspaceId: string
  /** A superuser, to write past row-level security as the control plane's transactions would. */
  readonly sql: Client
  readonly proxy: TcpProxy
  /** A snapshot through the proxy; stopped with the stage. */
  snapshot(options?: Partial<SnapshotOptions> & { readonly loadCredential?: LoadCredential }): LiveSnapshot
  createKey(columns?: { readonly secret?: string }): Promise<{ readonly id: string; readonly secret: string }>
  archiveKey(id: string): Promise<void>
  createProvider(slug: string, configurations?: object): Promise<{ readonly id: string; readonly integrationId: string }>
  close(): Promise<void>
}

type LoadCredential = Parameters<typeof providerView>[0]

const openConfigured: LoadCredential = async ({ configurations }) => {
  const { key = 'sk-1' } = configurations
  return { credential: { key: typeof key === 'string' ? key : null, fields: {} }, secrets: null, customHost: null, customHeaders: {} }
}

export async function setStage(): Promise<Stage> {
  const database = await testDatabase()
  const sql = new Client(database.superuser)
  await sql.connect()
  const organisationId = randomUUID()
  const workspaceId = randomUUID()
  await sql.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [organisationId])
  await sql.query(`INSERT INTO workspaces (id, organisation_id, slug, name) VALUES ($1, $2, 'main', 'Main')`, [workspaceId, organisationId])
  const proxy = await startTcpProxy(database.config)
  const { runtime } = await connect(database.config, silent)
  const snapshots: LiveSnapshot[] = []
  const sides: SidePool[] = []
  return {
    organisationId,
    workspaceId,
    sql,
    proxy,
    snapshot({ loadCredential = openConfigured, ...options } = {}) {
      const client = { ...runtime, host: '127.0.0.1', port: proxy.port }
      const views = { ...viewsOf(features), provider: providerView(loadCredential) }
      const side = openSidePool(client, silent)
      sides.push(side)
      const created = createSnapshot({ client, side, vault, log: silent, maxStaleMs: 60_000, views, ...options })
      snapshots.push(created)
      return created
    },
    async createKey({ secret = `gh-${randomBytes(24).toString('hex')}` } = {}) {
      const id = randomUUID()
      await sql.query(
        `INSERT INTO api_keys (id, organisation_id, workspace_id, name, type, scopes, key_hash, key_hint, defaults)
         VALUES ($1, $2, $3, 'test', 'workspace-service', '{completions.write}', $4, 'gh-...', '{"metadata":{"team":"a"}}')`,
        [id, organisationId, workspaceId, vault.hashKey(secret)],
      )
      return { id, secret }
    },
    archiveKey: async (id) => void (await sql.query(`UPDATE api_keys SET status = 'archived' WHERE id = $1`, [id])),
    async createProvider(slug, configurations = {}) {
      const [id, integrationId] = [randomUUID(), randomUUID()]
      await sql.query(
        `INSERT INTO integrations (id, organisation_id, slug, name, ai_provider_id, configurations) VALUES ($1, $2, $3, $3, 'openai', $4)`,
        [integrationId, organisationId, `${slug}-${integrationId}`, configurations],
      )
      await sql.query(
        `INSERT INTO providers (id, organisation_id, workspace_id, integration_id, slug, name) VALUES ($1, $2, $3, $4, $5, $5)`,
        [id, organisationId, workspaceId, integrationId, slug],
      )
      return { id, integrationId }
    },
    async close() {
      await Promise.all(snapshots.map((snapshot) => snapshot.stop()))
      await Promise.all(sides.map((side) => side.end()))
      await proxy.stop()
      await sql.end()
      await database.drop()
    },
  }
}

/** Asks until the answer is right, and returns how long it took; fails after `withinMs`. */
export async function eventually(condition: () => unknown, withinMs: number): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    if (await condition()) return performance.now() - startedAt
    if (performance.now() - startedAt > withinMs) throw new Error(`still not so after ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
