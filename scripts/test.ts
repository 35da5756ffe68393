// Proves the project: the static checks, then every test against one real PostgreSQL; the last lines name the failures and end with `N passed, N
// failed`. With arguments (`node scripts/test.ts test/unit --match='*port*'`) it runs only those tests, without the static checks. With `--record` it
// also keeps the cost of each test file in test/costs.json, which decides the order of later runs. A whole run has the files that share sources in
// suites of one process each; so does `node scripts/test.ts --suites test/integration/features`.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { inParallel } from '../test/support/in-parallel.ts'
import { startDatabaseServer } from './database-server.ts'
import { makeRunFolder } from './memory-folder.ts'
import { costSummary, readCosts, recordCosts } from './test-costs.ts'
import { planSuites, removeSuites } from './test-suites.ts'

interface Tally {
  passed: number
  failed: number
  skipped: number
  /** A line for each of the failed, with its title. */
  readonly names: string[]
}

const root = path.resolve(import.meta.dirname, '..')
const environment = {
  ...process.env,
  PATH: [path.join(root, 'node_modules', '.bin'), process.env['PATH']].join(path.delimiter),
  // Each test file is a process of its own, and many start others: with the code that the first has compiled the rest start in half the time.
  NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'compiled'),
}
const running = new Set<ChildProcess>()

const chosen = process.argv.slice(2).filter((argument) => argument !== '--record' && argument !== '--suites')
/** A whole run loads the sources once for several files. */
const inSuites = chosen.length === 0 || process.argv.includes('--suites')

/** Each process of a test file appends its cost here; the file stays as an artefact of the run. */
const costRecord = path.join(root, 'node_modules', '.cache', 'test-costs.jsonl')

/** Scripts of package.json, which can be run by themselves too. */
const staticChecks = {
  'type check': ['typecheck'],
  lint: ['lint'],
  'format check': ['format:check'],
  'generated documents': ['docs:generate', '--', '--check'],
}

async function main(filters: readonly string[]): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0, names: [] }
  // Two at once, each on a core: the first two take nearly all of the time.
  if (filters.length === 0) await inParallel(Object.entries(staticChecks), 2, ([title, script]) => check(title, script, tally))
  await build()
  const database = needsDatabase(filters) ? await startDatabaseServer() : null
  // Data folders, journals and programs of the tests, of which some run as another user.
  const folder = await makeRunFolder('gatehouse-run-')
  await chmod(folder, 0o1777)
  try {
    const own = { GATEHOUSE_TEST_RECORD: costRecord, GATEHOUSE_TEST_PROGRAM: path.join(root, 'program'), TMPDIR: folder }
    await runTests(filters, { ...environment, ...own, ...database?.variables }, tally)
  } finally {
    await database?.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return tally
}

async function check(title: string, script: readonly string[], tally: Tally): Promise<void> {
  const child = start('npm', ['run', '--silent', ...script], { ...environment, GOGC: '200' }, ['pipe', 'pipe'])
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
  const code = await exitCode(child)
  console.log(`# ${title}\n${said.trimEnd()}`)
  if (code !== 0) tally.names.push(`not ok - ${title} ended with ${code}`)
  tally[code === 0 ? 'passed' : 'failed'] += 1
}

/** The program of the tests' processes. Throws when it cannot be built. */
async function build(): Promise<void> {
  const code = await exitCode(spawn(process.execPath, [path.join(root, 'docker/bundle.mjs')], { stdio: 'inherit' }))
  if (code !== 0) throw new Error(`the program could not be built: ${code}`)
}

/**
 * Runs test files, and those that failed once more by themselves: another process that takes the machine makes a test fail that waits for a clock.
 * Each such test is named in the last lines, because it must be mended; a test that fails twice fails the run.
 */
async function runTests(filters: readonly string[], variables: NodeJS.ProcessEnv, tally: Tally): Promise<void> {
  const first = inSuites ? await runSuites(filters, variables) : await runAva(filters, variables)
  const files = filters.length === 0 ? filesOf(first.names) : []
  const second = files.length > 0 && files.length <= mostRepeated ? await runAva(['--concurrency=1', ...files], variables) : null
  const last = second ?? first
  tally.passed += first.passed + (second === null ? 0 : Math.max(0, first.failed - second.failed))
  tally.failed += last.failed
  tally.skipped += first.skipped
  tally.names.push(...last.names)
  if (second === null) return
  // A run of one file names no folders.
  const lasting = second.names.map((name) => name.replace(mark, ''))
  const mended = first.names.filter((name) => !lasting.some((title) => name.endsWith(title)))
  tally.names.push(...mended.map((name) => `PASSED ONLY ALONE - ${name}`))
}

const planFile = path.join(root, 'node_modules', '.cache', 'test-plan.json')

/** Runs the test files in some folders, or every one, most of them in suites. */
async function runSuites(folders: readonly string[], variables: NodeJS.ProcessEnv): Promise<Tally> {
  await writeFile(planFile, JSON.stringify(await planSuites(folders)))
  try {
    return await runAva([], { ...variables, GATEHOUSE_TEST_PLAN: planFile })
  } finally {
    await removeSuites()
  }
}

/** So many files are run again: more of them fail for a reason. */
const mostRepeated = 12
/** The beginning of the line that names a failure. */
const mark = /^[✘×◌] (?:\[fail\]: )?/

/** A suite is named before the path of the file whose test failed. */
const suiteName = /^suites › \d+ › /

/** Returns the test files of failures, which a whole run names by their path from `test`; none if one of them names no file. */
function filesOf(names: readonly string[]): readonly string[] {
  const files = names.map((name) => {
    const parts = name.replace(mark, '').replace(suiteName, '').split(' › ')
    const paths = parts.map((_, at) => `test/${parts.slice(0, at + 1).join('/')}.test.ts`)
    return paths.find((file) => existsSync(path.join(root, file))) ?? /test\/\S+\.test\.ts/.exec(name)?.[0]
  })
  return files.includes(undefined) ? [] : [...new Set(files.filter((file) => file !== undefined))]
}

/** ava's TAP reporter dies when a test times out, so the counts come from the report for people. */
async function runAva(args: readonly string[], variables: NodeJS.ProcessEnv): Promise<Tally> {
  const ava = start('ava', args, variables, ['pipe', 'inherit'])
  const ended = exitCode(ava)
  const report: string[] = []
  if (ava.stdout) {
    for await (const line of createInterface({ input: ava.stdout })) {
      console.log(line)
      report.push(stripVTControlCharacters(line).trim())
    }
  }
  const code = await ended
  const names = report.filter((line) => naming.test(line))
  // A run that ended badly without a named failure.
  if (code !== 0 && names.length === 0) names.push(`not ok - tests: ava ended with ${code}`)
  return {
    // The sum of the passed is only written without failures.
    passed: sum(report, [/^(\d+) tests? passed$/]) || sum(report, [/^[✔√] ()/]),
    failed: code === 0 ? sum(report, failures) : Math.max(sum(report, failures), 1),
    skipped: sum(report, [/^(\d+) tests? (?:skipped|todo)$/]),
    names,
  }
}

/** The number of failures: a number that ava prints, or one for each line about a file that crashed. */
const failures = [
  /^(\d+) (?:tests?|hooks?) failed$/,
  /^(\d+) (?:unhandled rejections?|uncaught exceptions?)$/,
  /^(\d+) tests? remained pending after a timeout$/,
  /^[✘×] ()(?:.* exited due to |No tests found in |Internal error|Exiting due to process\.exit)/,
]

/** The name of a failed test, one that was still running when the time ran out, or a file that crashed. */
const naming = /^(?:[✘×] |◌ |Uncaught exception in |Unhandled rejection in |Failed to exit when running )/

const sum = (report: readonly string[], patterns: readonly RegExp[]) =>
  report
    .flatMap((line) => patterns.map((pattern) => pattern.exec(line)))
    .reduce((total, found) => total + (found ? Number(found[1] === '' ? 1 : found[1]) : 0), 0)

/** Unit, house and conformance tests touch no database. */
const needsDatabase = (filters: readonly string[]) =>
  process.env['GATEHOUSE_TEST_DB_HOST'] === undefined &&
  (filters.length === 0 || filters.some((filter) => !filter.startsWith('-') && !/^(\.\/)?test\/(unit|house|conformance)\b/.test(filter)))

/** The destination of standard output, and errors. */
type Output = readonly [stdout: 'pipe', stderr: 'inherit' | 'pipe']

function start(program: string, args: readonly string[], variables: NodeJS.ProcessEnv, output: Output): ChildProcess {
  const child = spawn(program, args, { cwd: root, env: variables, stdio: ['ignore', ...output] })
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

const startedAt = performance.now()
await rm(costRecord, { force: true })
const { passed, failed, skipped, names } = await main(chosen)
const costs = await readCosts(costRecord)
if (process.argv.includes('--record')) await recordCosts(costs)
console.log(costSummary(costs, performance.now() - startedAt))
// At the end, where a log that was cut still has them.
for (const name of names) console.log(name)
if (skipped > 0) console.log(`${skipped} skipped`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
