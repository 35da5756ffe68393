import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import type { DatabaseConfig } from '../../src/config/index.ts'
import { eventually } from './eventually.ts'
import { freePort } from '../../src/app/database/embedded/port.ts'

const places = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']

/** Debian's package puts it where ordinary users do not look; null: this machine has none. */
export const pgbouncerFile: string | null = places.map((folder) => path.join(folder, 'pgbouncer')).find((file) => existsSync(file)) ?? null

export interface PgbouncerOptions {
  readonly mode: 'transaction' | 'session' | 'statement'
  readonly ignoreOptions?: boolean
  readonly poolSize?: number
}

/** A real pgbouncer before the database; how to reach it. It ends with the test. */
export async function startPgbouncer(
  t: ExecutionContext,
  database: DatabaseConfig,
  { mode, ignoreOptions = true, poolSize = 5 }: PgbouncerOptions,
): Promise<DatabaseConfig> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const password = database.password?.reveal() ?? ''
  writeFileSync(path.join(folder, 'users.txt'), `"${database.user}" "${password}"\n`)
  writeFileSync(
    path.join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${database.host} port=${database.port} user=${database.user} password=${password}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
      `auth_type = trust\nauth_file = ${path.join(folder, 'users.txt')}\nstats_users = ${database.user}`,
      `pool_mode = ${mode}\ndefault_pool_size = ${poolSize}`,
      ...(ignoreOptions ? ['ignore_startup_parameters = options,extra_float_digits'] : []),
    ].join('\n'),
  )
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(pgbouncerFile ?? 'pgbouncer', ['-q', ...user, path.join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(folder, { recursive: true })
  })
  await eventually(() => listens(port), 10_000, `pgbouncer: ${said}`)
  return { ...database, host: '127.0.0.1', port }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
