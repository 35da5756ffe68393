import { globSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const folder = path.join(root, 'test', 'suites')

/** The test files of a run: those of suites are in none of the others. */
export interface TestPlan {
  /** The paths of the files that ava runs, from the root of the project: suites, and files by themselves. */
  readonly files: readonly string[]
  /** Seconds of wall time of each, as the last recorded run took. */
  readonly costs: Readonly<Record<string, number>>
}

/** Most of the time of these files is the loading of the sources, which the files of a suite share. */
const shared = ['test/unit/**/*.test.ts', 'test/integration/**/*.test.ts']
const others = ['test/conformance/**/*.test.ts', 'test/house/**/*.test.ts', 'test/e2e/**/*.test.ts']

/** A file runs by itself if it measures its process, changes what all files of a process share, or takes its tests from a file that does. */
const alone =
  /cpuUsage|memoryUsage|heapUsed|faultOf|slowness|eventLoop|globalThis|process\.(?:on|once|exit|kill|chdir|emit)|process\.env\[[^\]]+\] =|enableCompileCache|node:worker_threads|semantic-cache|release-rules|\/(?:helm|promtool|console)\.ts'/

/** A suite has files of so many seconds, so that suites keep the cores at work to the end; a file with more is one of its own. */
const longestSuite = 40
/** The cost of a file without a record. */
const unrecorded = 10

/** Writes the suites of a run, and returns the plan that `ava.config.js` reads. `under`: folders of the files; none: all files. */
export async function planSuites(under: readonly string[] = []): Promise<TestPlan> {
  const recorded = JSON.parse(readFileSync(path.join(root, 'test/costs.json'), 'utf8')) as Readonly<Record<string, number>>
  const costOf = (file: string): number => recorded[file] ?? unrecorded
  const isChosen = (file: string): boolean => under.length === 0 || under.some((one) => file.startsWith(one))
  const find = (patterns: readonly string[]): string[] =>
    globSync([...patterns], { cwd: root })
      .filter(isChosen)
      .toSorted()
  const candidates = find(shared)
  const joined = candidates.filter((file) => !alone.test(readFileSync(path.join(root, file), 'utf8')) && costOf(file) < longestSuite / 2)
  const single = [...candidates.filter((file) => !joined.includes(file)), ...find(others)]
  const suites = groups(joined, costOf)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  const entries: [file: string, cost: number][] = single.map((file) => [file, costOf(file)])
  for (const [at, files] of suites.entries()) {
    const name = `test/suites/${String(at + 1).padStart(2, '0')}.test.ts`
    await writeFile(path.join(root, name), suiteOf(files))
    entries.push([name, sum(files, costOf)])
  }
  return { files: entries.map(([file]) => file), costs: Object.fromEntries(entries) }
}

/** Removes the suites of a run. */
export const removeSuites = (): Promise<void> => rm(folder, { recursive: true, force: true })

const sum = (files: readonly string[], costOf: (file: string) => number): number => files.reduce((total, file) => total + costOf(file), 0)

/** Groups neighbours, which load the same sources. */
function groups(files: readonly string[], costOf: (file: string) => number): readonly (readonly string[])[] {
  const found: string[][] = []
  let last: string[] = []
  for (const file of files) {
    if (last.length === 0 || sum([...last, file], costOf) > longestSuite) found.push((last = []))
    last.push(file)
  }
  return found
}

const suiteOf = (files: readonly string[]): string =>
  `import { runSuite } from '../support/suites/suite.ts'\n\nawait runSuite(${JSON.stringify(files, null, 2)})\n`
