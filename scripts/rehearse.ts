// Rehearses upgrades: `npm run rehearse -- [--pairs all|neighbours|changes|<from>-<to>,...] [--json] [--report <file>] [--only <part>,...]`.
// Without `--pairs all` everything is bounded, for every build; with it, it is the nightly run. Ends with 1 when anything failed.
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { readOwnTable } from '../src/app/level/release-records.ts'
import { startDatabaseServer } from './database-server.ts'
import { parts, type PartName } from './rehearse/parts.ts'
import { describe, summary, type Report } from './rehearse/report.ts'

const table = readOwnTable()
const releases = table.releases.map(({ version }) => version)

function readOptions() {
  const { values } = parseArgs({
    options: {
      pairs: { type: 'string', default: 'changes' },
      json: { type: 'boolean', default: false },
      report: { type: 'string' },
      only: { type: 'string' },
    },
  })
  const names = Object.keys(parts).filter((name): name is PartName => name in parts)
  const only = values.only?.split(',') ?? names
  const unknown = only.find((name) => !names.some((known) => known === name))
  if (unknown !== undefined) throw new RangeError(`${unknown} is no part: there are ${names.join(', ')}`)
  return { ...values, names: names.filter((name) => only.includes(name)) }
}

const say = (text: string) => void process.stderr.write(`${text}\n`)

type Options = ReturnType<typeof readOptions>

/** More than these would wait for the one PostgreSQL. */
const mostProcesses = 6

async function runPart(name: PartName, { pairs }: Options): Promise<Report> {
  const startedAt = performance.now()
  say(`# ${parts[name].title}`)
  const options = { pairs, table, nightly: pairs === 'all', processes: Math.min(availableParallelism(), mostProcesses), say }
  const result = await parts[name].run(options).catch((error: unknown) => {
    if (error instanceof RangeError) throw error
    return { did: 'broken off', faults: [String(error instanceof Error ? error.stack : error)] }
  })
  const report = { name, title: parts[name].title, seconds: Math.round(performance.now() - startedAt) / 1000, ...result }
  say(describe(report))
  return report
}

/** The upgrades from release to release take most of the time; meanwhile the other parts run, one after the other. */
async function runParts(options: Options): Promise<readonly Report[]> {
  const others = async () => {
    const reports: Report[] = []
    for (const name of options.names.filter((one) => one !== 'pairs')) reports.push(await runPart(name, options))
    return reports
  }
  const both = await Promise.all([options.names.includes('pairs') ? runPart('pairs', options) : [], others()])
  return both.flat()
}

async function main(): Promise<number> {
  const options = readOptions()
  const given = process.env['GATEHOUSE_TEST_DB_HOST'] !== undefined
  const server = given ? null : await startDatabaseServer()
  Object.assign(process.env, server?.variables)
  const reports = await runParts(options).finally(() => server?.stop())
  if (options.report !== undefined) await writeFile(options.report, `${summary(reports, releases)}\n`)
  console.log(options.json ? JSON.stringify({ releases, parts: reports }, null, 2) : summary(reports, releases))
  return reports.every(({ faults }) => faults.length === 0) ? 0 : 1
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof RangeError ? error.message : String(error instanceof Error ? error.stack : error)}\n`)
  return error instanceof RangeError ? 2 : 1
})
