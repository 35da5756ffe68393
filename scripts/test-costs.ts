import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** The cost of one test file, in milliseconds: its wall time, the CPU time of its process, and that of the processes that it started. */
export interface TestCost {
  readonly file: string
  readonly wallMs: number
  readonly cpuMs: number
  readonly childrenMs: number
}

const recorded = path.resolve(import.meta.dirname, '../test/costs.json')

const cpuOf = ({ cpuMs, childrenMs }: TestCost): number => cpuMs + childrenMs

const seconds = (ms: number): string => (ms / 1000).toFixed(1)

/** Returns the costs that the processes of a run appended to a file, one line of JSON each; none if no test ran. */
export async function readCosts(file: string): Promise<readonly TestCost[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').flatMap((line): readonly TestCost[] => (line === '' ? [] : [JSON.parse(line)]))
}

/** Returns the lines that end a run: its totals, and the 20 test files with the most CPU time. PostgreSQL's own time is in none of them. */
export function costSummary(costs: readonly TestCost[], wallMs: number): string {
  const total = costs.reduce((sum, cost) => sum + cpuOf(cost), 0)
  const dearest = costs.toSorted((a, b) => cpuOf(b) - cpuOf(a)).slice(0, 20)
  return [
    `# costs: ${seconds(wallMs)} s of wall time; ${seconds(total)} s of CPU in ${costs.length} test files and the processes that they started`,
    ...dearest.map(
      (cost) => `#   ${seconds(cpuOf(cost)).padStart(7)} s of CPU, ${seconds(cost.wallMs).padStart(6)} s of wall time: ${cost.file}`,
    ),
  ].join('\n')
}

/** Writes the wall time of each test file, in seconds, where `ava.config.js` reads it. */
export async function recordCosts(costs: readonly TestCost[]): Promise<void> {
  const entries = costs.map(({ file, wallMs }) => [file, Math.round(wallMs / 100) / 10] as const).toSorted(([a], [b]) => (a < b ? -1 : 1))
  await writeFile(recorded, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}
