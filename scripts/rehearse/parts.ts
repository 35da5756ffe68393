import type { ReleaseTable } from '../../src/release/table.ts'
import { nextReleases } from './next-releases.ts'
import { rehearseInProcesses } from './pair-workers.ts'
import { readPairs } from './pairs.ts'
import { failures } from './report.ts'
import { countQueries, killedMigrators, spread, twoMigrators } from './scenarios/migrators.ts'
import { rollbacks } from './scenarios/rollback.ts'
import { rollingUpgrade } from './scenarios/side-by-side.ts'
import type { Outcome } from './upgrade.ts'

/** How much is rehearsed. */
export interface PartOptions {
  readonly pairs: string
  readonly table: ReleaseTable
  /** Everything, however long it takes. */
  readonly nightly: boolean
  /** How many of them work on the upgrades from release to release. */
  readonly processes: number
  readonly say: (text: string) => void
}

/** What came of one part. */
export interface PartResult {
  /** What was done, in words. */
  readonly did: string
  readonly faults: readonly string[]
  /** Of the part `pairs` only. */
  readonly outcomes?: readonly Outcome[]
}

interface Part {
  readonly title: string
  run(options: PartOptions): Promise<PartResult>
}

const width = 3

/** What a rehearsal consists of, in its order. */
export const parts = {
  pairs: { title: 'upgrades from release to release', run: runPairs },
  migrators: {
    title: 'two migrators at once',
    async run({ nightly }) {
      const rounds = nightly ? 20 : 3
      const faults = await twoMigrators(rounds)
      return { did: `${rounds} rounds of two "gatehouse migrate" on an empty database`, faults }
    },
  },
  kills: {
    title: 'migrators killed with SIGKILL',
    async run({ nightly }) {
      const queries = await countQueries()
      const killed = spread(queries, nightly ? queries : 5)
      const faults = await killedMigrators(killed, { width })
      return { did: `"gatehouse migrate" killed after ${killed.length} of its ${queries} queries, and run again`, faults }
    },
  },
  rolling: {
    title: 'old and new processes together, under load',
    async run({ nightly }) {
      const seconds = nightly ? 60 : 4
      const { requests, faults } = await rollingUpgrade(seconds, nextReleases.slice(0, 1))
      return { did: `a rolling upgrade, ${seconds} s of it with both releases, ${requests} requests`, faults }
    },
  },
  rollback: {
    title: 'rollback before and after finalize',
    async run({ nightly, table }) {
      const from = beforeLastBackfill(table)
      const jumps = nightly ? [nextReleases.slice(0, 1), nextReleases] : [nextReleases]
      const versions = jumps.map((releases) => releases.at(-1)?.version).join(' and ')
      const did = `from this release to ${from?.version ?? 'none'}, from ${versions} to the former release and forward again, before and after expand, backfill and contract migrations`
      return { did, faults: await rollbacks(jumps, from === undefined ? {} : { from }) }
    },
  },
} satisfies Readonly<Record<string, Part>>

export type PartName = keyof typeof parts

/** Returns the newest release whose schema differs from this one's in what it reads and writes. */
const beforeLastBackfill = ({ releases }: ReleaseTable) =>
  releases[releases.findLastIndex(({ migrations }) => migrations.some(({ phase }) => phase === 'backfill')) - 1]

async function runPairs({ pairs, table, processes, say }: PartOptions): Promise<PartResult> {
  const jumps = readPairs(
    pairs,
    table.releases.map(({ version }) => version),
  )
  let done = 0
  const onOutcome = ({ from, to, faults, ms }: Outcome) => {
    done += 1
    if (faults.length > 0 || done % 10 === 0)
      say(`${done} of ${jumps.length}: ${from} -> ${to} ${faults.length > 0 ? 'FAILED' : 'ok'}, ${ms} ms`)
    for (const fault of faults) say(`  ${fault}`)
  }
  const outcomes = await rehearseInProcesses(jumps, { processes, table, onOutcome })
  const last = outcomes.at(-1)
  const did = `${outcomes.length} upgrades, the last with ${last?.readings ?? 0} readings and ${last?.requests ?? 0} requests sent again`
  return { did, faults: failures(outcomes), outcomes }
}
