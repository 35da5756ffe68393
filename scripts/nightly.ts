// Proves a commit at length: `npm run nightly [-- --record <file>]`. Every test in its long form, upgrades from each release to every later one,
// the image, and the programs of others, one after the other, for hours. The record names the commit and the result of each part, also of a
// failed one; `gatehouse release build --nightly <file>` puts it into the release, and `gatehouse release verify` demands it. The checkout must have
// no uncommitted changes, before and after. Ends with 1 when a part failed, with 2 when the commit cannot be proved.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { nightlyParts, type NightlyPartResult, type NightlyRecord } from '../src/distribution/release/nightly.ts'
import { runScript } from './run-script.ts'

const root = path.resolve(import.meta.dirname, '..')
const { values } = parseArgs({ options: { record: { type: 'string', default: path.join(root, 'dist', 'nightly.json') } } })

const git = (...args: readonly string[]): string => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()

/** Returns the commit of the checkout. Throws if it has changes, because the record would name a commit that was not proved. */
function cleanCommit(): string {
  const changes = git('status', '--porcelain')
  if (changes !== '') throw new Error(`the checkout has uncommitted changes, so a nightly run would prove no commit:\n${changes}`)
  return git('rev-parse', 'HEAD')
}

type PartName = keyof typeof nightlyParts

async function runPart(name: PartName): Promise<NightlyPartResult> {
  console.log(`# nightly: ${name}`)
  const startedAt = performance.now()
  const { passed, skipped } = await runScript(nightlyParts[name])
  return { name, passed, seconds: Math.round((performance.now() - startedAt) / 1000), skipped: [...skipped] }
}

async function main(): Promise<number> {
  const commit = cleanCommit()
  const parts: NightlyPartResult[] = []
  for (const name of Object.keys(nightlyParts) as PartName[]) parts.push(await runPart(name))
  if (cleanCommit() !== commit) throw new Error('the checkout moved to another commit during the run')
  const record: NightlyRecord = { commit, endedAt: new Date().toISOString(), parts }
  const file = path.resolve(values.record)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`)
  for (const { name, passed, seconds, skipped } of parts)
    console.log(`# nightly: ${name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s, ${skipped.length} SKIPPED`)
  console.log(`# nightly: the record of ${commit} is ${file}`)
  return parts.every(({ passed }) => passed) ? 0 : 1
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error))
  return 2
})
