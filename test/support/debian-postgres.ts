import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { eventually } from './eventually.ts'
import { freePort } from '../../src/app/database/embedded/port.ts'

const installed = '/usr/lib/postgresql'

/** The folder of the newest PostgreSQL that the machine itself has, with its own pg_dump; null: it has none. */
export function debianPostgres(): string | null {
  const majors = existsSync(installed) ? readdirSync(installed).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = majors.map((major) => path.join(installed, major, 'bin'))
  return folders.find((folder) => ['initdb', 'postgres', 'pg_dump'].every((name) => existsSync(path.join(folder, name)))) ?? null
}

/** A server of the machine's own PostgreSQL, with an empty database and the login that owns it. */
export interface OwnServer {
  readonly port: number
  readonly user: string
  readonly password: string
  readonly name: string
  stop(): Promise<void>
}

/** Starts the server in `bin`; as the account `postgres` when we are root, which PostgreSQL refuses to run as. */
export async function startDebianPostgres(bin: string): Promise<OwnServer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-pg-'))
  const account = accountFor(folder)
  const port = await freePort()
  execFileSync(path.join(bin, 'initdb'), ['-D', path.join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...account,
    cwd: folder,
  })
  const settings = ['-D', path.join(folder, 'data'), '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1', '-F']
  const server = spawn(path.join(bin, 'postgres'), settings, { ...account, cwd: folder, stdio: 'ignore' })
  process.once('exit', () => server.kill('SIGKILL'))
  const login = { user: 'gatehouse', password: 'gatehouse-of-the-tests', name: 'gatehouse' }
  await eventually(() => provide(port, login), 30_000, 'the PostgreSQL of the machine')
  return {
    port,
    ...login,
    async stop() {
      const exited = once(server, 'exit')
      server.kill('SIGINT')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function accountFor(folder: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const [uid = 0, gid = 0] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })))
  chownSync(folder, uid, gid)
  return { uid, gid }
}

async function provide(port: number, { user, password, name }: { user: string; password: string; name: string }): Promise<boolean> {
  const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`CREATE ROLE ${user} LOGIN PASSWORD '${password}'`)
    await client.query(`CREATE DATABASE ${name} OWNER ${user}`)
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}
