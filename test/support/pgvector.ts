import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { Client } from 'pg'
import { providePgvector } from '../../scripts/pgvector.ts'
import { eventually } from './eventually.ts'
import { freePort } from '../../src/app/database/embedded/port.ts'

/** A PostgreSQL whose server has the extension pgvector. */
export interface VectorServer {
  readonly port: number
  /** Kills the server as a crash of its machine would, and starts it on the same data. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** Starts such a server, and makes it the one of `testDatabase` in this process; or returns why there is none. */
export async function usePgvector(): Promise<VectorServer | { readonly missing: string }> {
  const provided = await providePgvector()
  if ('missing' in provided) return provided
  const { folder } = provided
  const data = `/data/${randomBytes(6).toString('hex')}`
  const bin = '/usr/lib/postgresql/17/bin'
  const inside = (program: string, args: readonly string[]) => ['--userspec=65534:65534', folder, path.join(bin, program), ...args]
  execFileSync('chroot', inside('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']), {
    stdio: 'pipe',
  })
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', 'dynamic_shared_memory_type=mmap', 'max_connections=60', 'jit=off'].flatMap((line) => [
    '-c',
    line,
  ])
  const start = () =>
    spawn('chroot', inside('postgres', ['-D', data, '-p', String(port), '-k', '/tmp', '-F', ...settings]), { stdio: 'ignore' })
  let server = start()
  process.once('exit', () => server.kill('SIGKILL'))
  const end = async (signal: NodeJS.Signals) => {
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  await eventually(() => answers(port), 30_000, 'the PostgreSQL with pgvector')
  Object.assign(process.env, {
    GATEHOUSE_TEST_DB_HOST: '127.0.0.1',
    GATEHOUSE_TEST_DB_PORT: String(port),
    GATEHOUSE_TEST_DB_USER: 'postgres',
    GATEHOUSE_TEST_DB_PASS: '',
  })
  return {
    port,
    async crash() {
      await end('SIGKILL')
      // The server processes of connections see the end of the first one, and leave.
      await eventually(
        async () => {
          if (server.exitCode !== null || server.signalCode !== null) server = start()
          return answers(port)
        },
        30_000,
        'the PostgreSQL after its crash',
      )
    },
    async stop() {
      await end('SIGINT')
      rmSync(path.join(folder, data), { recursive: true, force: true })
    },
  }
}

async function answers(port: number): Promise<boolean> {
  const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
