import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { migrate } from '../../src/app/database/schema/migrate.ts'
import { Secret } from '../../src/lib/secret.ts'
import { startDebianPostgres } from './debian-postgres.ts'
import { programFile } from './program.ts'
import { silent, testDatabase, type TestDatabase } from './database.ts'
import { adminKey, environment, startGatehouse, workspaceKey, type Gatehouse } from './process.ts'
import { nodeEnvironment } from './node-environment.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** Where the commands of a document run: a folder, and the environment of the installation that the document is about. */
export interface DocumentStage {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** A program of `.tools/`, where scripts/helm.ts leaves Helm, or of the machine; null: it is not there. */
export function findTool(name: string): string | null {
  const own = path.join(root, '.tools', name)
  if (existsSync(own)) return own
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

export interface StageOptions {
  readonly bin: string | null
  readonly embedded: boolean
  /** The release that was installed before this one was put in its place: no one has migrated or finalized since. */
  readonly earlier?: string | null
}

const run = (file: string) => `exec "${process.execPath}" "${file}" "$@"\n`

/**
 * An installation with one stored provider: on PostgreSQL, on the machine's own one (`bin`) when its tools are to be used, or on the
 * embedded one. `gatehouse` is on the PATH, and the folder looks like a checkout.
 */
export async function openStage({ bin, embedded, earlier = null }: StageOptions): Promise<DocumentStage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-docs-'))
  const tools = path.join(folder, '.bin')
  mkdirSync(tools)
  // A checkout has the commands that build releases too.
  const launcher = `#!/bin/sh\nif [ "$1" = release ]; then ${run(path.join(root, 'tools/gatehouse.ts'))}fi\n${run(programFile('gatehouse'))}`
  writeFileSync(path.join(tools, 'gatehouse'), launcher, { mode: 0o755 })
  for (const name of ['charts', 'docker', 'releases', 'migrations', 'package.json'])
    symlinkSync(path.join(root, name), path.join(folder, name))
  const own = bin === null || embedded ? null : await startDebianPostgres(bin)
  const database = own === null ? (embedded ? null : await openDatabase(earlier)) : asTestDatabase(own)
  const gatehouse = await startGatehouse(
    database === null ? { env: embeddedSettings } : { on: database, ...(earlier !== null && { program: deployed }) },
  )
  await storeProvider(gatehouse)
  const search = [
    tools,
    ...(bin === null ? [] : [bin]),
    path.join(root, '.tools'),
    path.join(root, 'node_modules/.bin'),
    process.env['PATH'] ?? '',
  ].join(path.delimiter)
  return {
    folder,
    env: {
      ...(database === null ? { ENCRYPTION_KEY: '' } : environment(database.config)),
      HOME: folder,
      ...nodeEnvironment,
      PATH: search,
      DATA_DIR: gatehouse.dataDir,
      GATEHOUSE_URL: gatehouse.origin,
      GATEHOUSE_PID: String(gatehouse.process.pid),
      ADMIN_KEY: adminKey,
      WORKSPACE_KEY: workspaceKey,
    },
    async stop() {
      await gatehouse.stop()
      await database?.drop()
      await own?.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** As a container runs it: it does not migrate by itself. */
const deployed = { folder: root, args: [programFile('gatehouse'), 'serve'] }

/** A database that this release migrated, or on which an earlier one was installed. */
async function openDatabase(earlier: string | null): Promise<TestDatabase> {
  const database = await testDatabase({ empty: earlier !== null })
  const { host, port, user, password, name } = database.config
  if (earlier !== null)
    await migrate({ host, port, user, password: password?.reveal(), database: name }, silent, { deployment: { release: earlier } })
  return database
}

const embeddedSettings = { DB_HOST: '', DB_PORT: '', DB_USER: '', DB_PASS: '', DB_NAME: '', DB_SSL: '', ENCRYPTION_KEY: '' }

const asTestDatabase = (own: {
  readonly port: number
  readonly user: string
  readonly password: string
  readonly name: string
}): TestDatabase => ({
  config: {
    embedded: false,
    host: '127.0.0.1',
    port: own.port,
    user: own.user,
    password: new Secret(own.password),
    name: own.name,
    poolSize: 5,
    connectTimeoutMs: 2000,
    ssl: { mode: 'DISABLED', ca: null, cert: null, key: null },
  },
  superuser: { host: '127.0.0.1', port: own.port, user: 'postgres', database: own.name },
  drop: async () => {},
})

async function storeProvider({ origin }: Gatehouse): Promise<void> {
  const answer = await fetch(`${origin}/v1/integrations`, {
    method: 'POST',
    headers: { 'x-service-api-key': adminKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'OpenAI', slug: 'openai-prod', ai_provider_id: 'openai', key: 'sk-stored-0000000000000000' }),
  })
  if (!answer.ok) throw new Error(`the provider could not be stored: ${await answer.text()}`)
}
