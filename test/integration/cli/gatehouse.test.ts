import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Command } from 'commander'
import { createProgram } from '../../../src/cli/program.ts'
import { createMakersProgram } from '../../../tools/program.ts'
import { gatehouse, gatehouseHere } from '../../support/cli.ts'
import { programFile } from '../../support/program.ts'
import { nodeEnvironment } from '../../support/node-environment.ts'

const root = path.resolve(import.meta.dirname, '../../..')

const run = (...args: readonly string[]) => gatehouseHere(args)

/** The records in a folder of their own, which a test may damage. */
function checkout(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-records-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const name of ['releases', 'migrations', 'charts', 'CHANGELOG.md'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  return folder
}

test('a reader that has seen enough ends nothing with a fault', async (t) => {
  const child = spawn(process.execPath, [programFile('gatehouse'), '--help'], { env: nodeEnvironment })
  child.stdout.destroy()
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  t.deepEqual([code, said], [0, ''])
})

/** A command and all below it. */
const withSubcommands = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(withSubcommands)]

/** `gatehouse release check`. */
const nameOf = (command: Command): string => (command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`)

for (const command of withSubcommands(createMakersProgram()))
  test(`help: ${nameOf(command)}`, (t) => {
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
    t.regex(help, new RegExp(`\\nExample:\\n {2}${nameOf(command)}\\b`))
    t.regex(help, /\nExit codes:\n {2}0 /)
    t.regex(command.description(), /^[A-Z].*\.$/)
  })

const releaseCommands = (program: Command) =>
  program.commands.find((command) => command.name() === 'release')?.commands.map((command) => command.name()) ?? []

test('the product has the commands that sign, verify and publish releases, and none that builds them', (t) => {
  t.deepEqual(releaseCommands(createProgram()), ['sign', 'verify', 'publish'])
  t.deepEqual(releaseCommands(createMakersProgram()).toSorted(), [
    'build',
    'check',
    'generate',
    'lock',
    'new',
    'publish',
    'sign',
    'status',
    'verify',
  ])
  t.regex(gatehouse(['release', '--help']).stdout, /\n {2}publish [^]*$/)
  t.like(gatehouse(['release', 'build', '--list']), { status: 2, stdout: '' })
})

test('help: as a process', (t) => {
  t.like(gatehouse(['--help']), { status: 0, stderr: '' })
  t.regex(gatehouse(['migrate', 'plan', '--help']).stdout, /^Usage: gatehouse migrate plan /)
})

test('wrong command lines end with 2 and say why', async (t) => {
  const wrong = [['fly'], ['path', '1.3.0'], ['notes', '1.3.0', '1.3.0', '1.4.0'], ['path', '--sideways', '1.3.0', '1.4.0'], ['release']]
  for (const args of wrong) t.like(await run(...args), { status: 2, stdout: '' }, args.join(' '))
  t.regex((await run('path', '1.3.0', '9.9.9')).stderr, /^error: there is no release 9\.9\.9; the releases are 1\.3\.0, .*1\.12\.0\n$/)
  t.like(await run('notes', '1.4.0', '1.3.0'), {
    status: 2,
    stderr: 'error: 1.3.0 comes before 1.4.0: an upgrade leads to a later release\n',
  })
  t.like(await run('--root', tmpdir(), 'path', '1.3.0', '1.4.0'), { status: 2 })
})

const hints: readonly (readonly [args: string, hint: string])[] = [
  ['fly', '"gatehouse --help" lists the commands.'],
  ['migrat', '(Did you mean migrate?)\n"gatehouse --help" lists the commands.'],
  ['backfill stat', '(Did you mean status?)\n"gatehouse backfill --help" lists the commands.'],
  ['path 1.3.0', 'usage: gatehouse path [options] <from> <to>'],
  ['doctor --explan x', '(Did you mean --explain?)\n"gatehouse doctor --help" lists the commands.'],
  ['doctor --explain blocked_hst', 'error: blocked_hst is not known; did you mean blocked_host?'],
]

test('a wrong command line tells the nearest right one', async (t) => {
  for (const [args, hint] of hints) t.true((await run(...args.split(' '))).stderr.endsWith(`${hint}\n`), args)
})

test('a command without DB_HOST makes no database', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-nowhere-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const args of ['migrate', 'migrate status', 'rollback-check 1.11.2', 'keys list', 'audit verify', 'backfill status']) {
    const { status, stderr } = await gatehouseHere(args.split(' '), { env: { DATA_DIR: folder } })
    t.is(status, 78, `${args}: ${stderr}`)
    t.regex(stderr, /^error: DB_HOST is not set, and there is no embedded PostgreSQL in .*Set DB_HOST to the server/, args)
  }
  t.deepEqual(readdirSync(folder), [])
})

test('path and notes answer people and programs', async (t) => {
  t.regex(
    (await run('path', '1.3.0', '1.12.0')).stdout,
    /^1\.3\.0 -> 1\.4\.0 \(app-1\.4\.1\) -> 1\.12\.0 \(app-1\.6\.0\)\n {2}1\.4\.0 {2}breaking/,
  )
  t.regex((await run('path', '1.3.0', '1.12.0', '--no-volume')).stdout, /^1\.3\.0 -> 1\.12\.0 \(app-1\.6\.0\)\n/)
  t.is((await run('path', '1.5.0', '1.5.0')).stdout, '1.5.0 is reached already.\n')
  t.like(JSON.parse((await run('path', '1.11.2', '1.12.0', '--json')).stdout), [{ version: '1.12.0', chart: 'app-1.6.0' }])
  t.regex((await run('notes', '1.7.1', '1.7.2')).stdout, /^## Before you upgrade\n\n- 1\.7\.2: \*\*Security\*\*/)
  t.like(JSON.parse((await run('notes', '1.11.1', '1.12.0', '--json')).stdout), [{ version: '1.11.2' }, { version: '1.12.0' }])
})

test('check passes with what is pending, and is strict when asked', async (t) => {
  const plain = await run('release', 'check')
  t.is(plain.status, 0)
  const [, pending] = /^21 releases, 0 faults, (\d+) pending\n$/.exec(plain.stdout) ?? []
  const listed = JSON.parse((await run('release', 'check', '--json')).stdout) as unknown[]
  t.is(listed.length, Number(pending))
  const strict = await run('release', 'check', '--strict')
  t.is(strict.status, listed.length > 0 ? 1 : 0)
  t.is(strict.stdout.trimEnd().split('\n').length, listed.length + 1)
})

test('status tells all releases', async (t) => {
  const { status, stdout } = await run('release', 'status')
  t.is(status, 0)
  t.is([...stdout.matchAll(/^1\.\d+\.\d \(/gm)].length, 21)
  t.regex(stdout, / {2}feature {10}implemented {2}organisations, workspaces, api-keys/)
  t.true((JSON.parse((await run('release', 'status', '--json')).stdout) as unknown[]).length > 100)
})

test('generate repairs what check finds', async (t) => {
  const folder = checkout(t)
  const changelog = path.join(folder, 'CHANGELOG.md')
  writeFileSync(changelog, 'edited by hand\n')
  t.like(await run('--root', folder, 'release', 'check'), { status: 1 })
  const refused = await run('--root', folder, 'release', 'generate', '--check')
  t.like(refused, { status: 1, stdout: 'CHANGELOG.md does not match the records: run "gatehouse release generate"\n' })
  t.is(readFileSync(changelog, 'utf8'), 'edited by hand\n')
  t.like(await run('--root', folder, 'release', 'generate'), { status: 0, stdout: 'CHANGELOG.md: written\n' })
  t.is(readFileSync(changelog, 'utf8'), readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'))
  t.like(await run('--root', folder, 'release', 'generate', '--check'), { status: 0, stdout: '' })
})

/** A chart's file with one generated thing in it changed. */
const damaged = (text: string) =>
  text
    .replace('appVersion: 1.12.0', 'appVersion: 1.11.2')
    .replace(/"LOG_LEVEL"|`settings\.logLevel`|"1\.3\.0"|"\/v1\/admin"|LOG_LEVEL:/, 'damaged')

test("the chart's generated files cannot drift from the records and the settings", async (t) => {
  const folder = checkout(t)
  const names = [
    'Chart.yaml',
    'README.md',
    'files/control-paths.json',
    'files/releases.json',
    'files/settings.json',
    'values.schema.json',
    'values.yaml',
  ]
  const chart = (name: string) => path.join(folder, 'charts', 'app', name)
  for (const name of names) writeFileSync(chart(name), damaged(readFileSync(chart(name), 'utf8')))
  const { status, stdout } = await run('--root', folder, 'release', 'check')
  t.is(status, 1)
  for (const name of names) t.true(stdout.includes(`R11  charts/app/${name}: does not match the records`), name)
  t.is((await run('--root', folder, 'release', 'generate')).status, 0)
  for (const name of names) t.is(readFileSync(chart(name), 'utf8'), readFileSync(path.join(root, 'charts', 'app', name), 'utf8'), name)
})

test('faulty records are refused by file and field', async (t) => {
  const folder = checkout(t)
  writeFileSync(path.join(folder, 'releases', '1.5.0.yaml'), 'version: 1.5.0\ncolour: red\n')
  writeFileSync(path.join(folder, 'releases', '1.5.1.yaml'), 'version: [1.5.1\n')
  const broken = await run('--root', folder, 'release', 'check')
  t.is(broken.status, 1)
  t.regex(broken.stderr, /^error: 1\.5\.1\.yaml: /)
  rmSync(path.join(folder, 'releases', '1.5.1.yaml'))
  const { status, stderr } = await run('--root', folder, 'release', 'check')
  t.is(status, 1)
  t.regex(stderr, /1\.5\.0\.yaml: date: /)
  t.regex(stderr, /1\.5\.0\.yaml: : .*"colour"/)
})

test('an edited migration and a record without a release are found in a checkout', async (t) => {
  const folder = checkout(t)
  rmSync(path.join(folder, 'migrations', 'v01.03.00', '003-logs.sql'))
  rmSync(path.join(folder, 'releases', '1.11.1.yaml'))
  const { status, stdout } = await run('--root', folder, 'release', 'check')
  t.is(status, 1)
  t.regex(stdout, /^R1 {3}1\.11\.1: was announced and has no record$/m)
  t.regex(stdout, /^R8 {3}1\.3\.0: v01\.03\.00\/003-logs does not exist$/m)
  t.regex(stdout, /^R11 {2}CHANGELOG\.md: /m)
})
