// Proves the project: the static checks, then every test against one real PostgreSQL; the last line is `N passed, N failed`.
// With arguments (`node scripts/test.ts test/unit --match='*port*'`) it runs only those tests, without the static checks.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import pino from 'pino'
import { startEmbedded } from '../src/app/database/embedded.ts'

interface Tally {
  passed: number
  failed: number
  skipped: number
}

const root = path.resolve(import.meta.dirname, '..')
const environment = { ...process.env, PATH: [path.join(root, 'node_modules', '.bin'), process.env['PATH']].join(path.delimiter) }
const running = new Set<ChildProcess>()

/** Scripts of package.json, which can be run by themselves too. */
const staticChecks = {
  'type check': ['typecheck'],
  lint: ['lint'],
  'format check': ['format:check'],
  'generated documents': ['docs:generate', '--', '--check'],
}

async function main(filters: readonly string[]): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 }
  if (filters.length === 0) for (const [title, script] of Object.entries(staticChecks)) await check(title, script, tally)
  const database = needsDatabase(filters) ? await startDatabase() : null
  try {
    await runTests(filters, { ...environment, ...database?.variables }, tally)
  } finally {
    await database?.stop()
  }
  return tally
}

async function check(title: string, script: readonly string[], tally: Tally): Promise<void> {
  console.log(`# ${title}`)
  const code = await exitCode(start('npm', ['run', '--silent', ...script], environment, 'inherit'))
  if (code !== 0) console.log(`not ok - ${title} ended with ${code}`)
  tally[code === 0 ? 'passed' : 'failed'] += 1
}

async function runTests(filters: readonly string[], variables: NodeJS.ProcessEnv, tally: Tally): Promise<void> {
  const failedBefore = tally.failed
  const ava = start('ava', ['--tap', ...filters], variables, 'pipe')
  const ended = exitCode(ava)
  if (ava.stdout) for await (const line of createInterface({ input: ava.stdout })) count(line, tally)
  const code = await ended
  if (code === 0 || tally.failed > failedBefore) return
  console.log(`not ok - the test runner ended with ${code}`)
  tally.failed += 1
}

/** Streams a line of TAP and counts it; tests that a crashed file never ran count as failed. */
function count(line: string, tally: Tally): void {
  console.log(line)
  const remaining = /^# (\d+) tests? remaining in /.exec(line)
  if (remaining) tally.failed += Number(remaining[1])
  if (!/^(not )?ok \d/.test(line)) return
  if (/ # (SKIP|TODO)/.test(line)) tally.skipped += 1
  else tally[line.startsWith('ok') ? 'passed' : 'failed'] += 1
}

/** Unit and house tests touch no database. */
const needsDatabase = (filters: readonly string[]) =>
  process.env['GATEHOUSE_TEST_DB_HOST'] === undefined &&
  (filters.length === 0 || filters.some((filter) => !filter.startsWith('-') && !/^(\.\/)?test\/(unit|house)\b/.test(filter)))

/** One server for all test files. Tests survive without `fsync`: they kill processes, never the machine. */
async function startDatabase() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gatehouse-tests-'))
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' }
  const database = await startEmbedded({ dataDir, log: pino({ level: 'error' }), settings })
  return {
    variables: {
      GATEHOUSE_TEST_DB_HOST: database.host,
      GATEHOUSE_TEST_DB_PORT: String(database.port),
      GATEHOUSE_TEST_DB_USER: database.superuser.user,
      GATEHOUSE_TEST_DB_PASS: database.superuser.password,
    },
    async stop() {
      await database.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function start(program: string, args: readonly string[], variables: NodeJS.ProcessEnv, stdout: 'inherit' | 'pipe'): ChildProcess {
  const child = spawn(program, args, { cwd: root, env: variables, stdio: ['ignore', stdout, 'inherit'] })
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

async function exitCode(child: ChildProcess): Promise<number | string> {
  try {
    await once(child, 'close')
    return child.exitCode ?? child.signalCode ?? 'no exit code'
  } catch (error) {
    return String(error)
  }
}

// The tests end first, and then the `finally` above stops the database.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => running.forEach((child) => child.kill(signal)))

const { passed, failed, skipped } = await main(process.argv.slice(2))
if (skipped > 0) console.log(`${skipped} skipped`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
