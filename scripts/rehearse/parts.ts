import type { ReleaseTable } from '../../src/release/table.ts'
import type { TestDatabase } from '../../test/support/database.ts'
import { inParallel } from '../../test/support/in-parallel.ts'
import { buildCut, buildNext, thisBuild, type NextRelease } from './build.ts'
import { nextReleases } from './next-releases.ts'
import { rehearseInProcesses } from './pair-workers.ts'
import { readPairs } from './pairs.ts'
import { failures } from './report.ts'
import { countQueries, killedMigrators, migratedBy, spread, twoMigrators } from './scenarios/migrators.ts'
import { rollbacks } from './scenarios/rollback.ts'
import { rollingUpgrade, type Roll, type RollingUpgrade } from './scenarios/side-by-side.ts'
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

/** The outcome of one part. */
export interface PartResult {
  /** The work, in words. */
  readonly did: string
  readonly faults: readonly string[]
  /** For the part `pairs` only. */
  readonly outcomes?: readonly Outcome[]
}

interface Part {
  readonly title: string
  run(options: PartOptions): Promise<PartResult>
}

const width = 3

/** Releases with a schema, a level or a chart of their own between them. */
const walked = new Set(['1.3.0', '1.4.0', '1.6.2', '1.8.0', '1.11.2'])

/** The parts of a rehearsal, in their order. */
export const parts = {
  pairs: { title: 'upgrades from release to release', run: runPairs },
  migrators: {
    title: 'two migrators at once',
    async run({ nightly, table }) {
      const rounds = nightly ? 20 : 2
      const faults = await onOldest(table, (from) => twoMigrators(rounds, from === null ? {} : { from }))
      return { did: `${rounds} rounds of two "gatehouse migrate" on an empty database, and on one of the oldest release`, faults }
    },
  },
  kills: {
    title: 'migrators killed with SIGKILL',
    async run({ nightly, table }) {
      const done: string[] = []
      const faults = await onOldest(table, async (from) => {
        const beginning = from === null ? {} : { from }
        const queries = await countQueries(beginning.from)
        const killed = spread(queries, nightly ? queries : 4)
        done.push(`${killed.length} of its ${queries} queries on ${from === null ? 'an empty database' : 'one of the oldest release'}`)
        return killedMigrators(killed, { width, ...beginning })
      })
      return { did: `"gatehouse migrate" killed after ${done.join(', and after ')}, and run again`, faults }
    },
  },
  rolling: {
    title: 'old and new processes together, under load',
    async run({ nightly, table }) {
      const seconds = nightly ? 60 : 4
      const cuts = nightly ? ['1.3.0', '1.6.2', '1.8.0'] : []
      const done = [await roll(seconds, nextReleases.slice(0, 1)), ...(await rollCuts(table, cuts))]
      const requests = done.reduce((sum, one) => sum + one.requests, 0)
      return {
        did: `rolling upgrades, the first with ${seconds} s of both releases: ${done.map(({ title }) => title).join(', ')}; ${requests} requests`,
        faults: done.flatMap(({ title, faults }) => faults.map((fault) => `${title}: ${fault}`)),
      }
    },
  },
  rollback: {
    title: 'rollback before and after finalize',
    async run({ nightly, table }) {
      const former = table.releases.slice(0, -1)
      const from = beforeLastBackfill(table)
      const cuts = former.filter(({ version }) => version === from?.version || (nightly && walked.has(version)))
      const jumps = nightly ? [nextReleases.slice(0, 1), nextReleases] : [nextReleases]
      const way = [...cuts.map(({ version }) => version), 'this release', ...jumps.map((releases) => releases.at(-1)?.version)].join(', ')
      const did = `${way}: from each to the next, back and forward again, before and after expand, backfill and contract migrations`
      return { did, faults: await rollbacks(jumps, { cuts }) }
    },
  },
} satisfies Readonly<Record<string, Part>>

export type PartName = keyof typeof parts

/** Tries something on an empty database, which it gets as null, and on the database of the oldest release. */
async function onOldest(
  { releases }: ReleaseTable,
  attempt: (from: TestDatabase | null) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const [oldest] = releases
  if (oldest === undefined) return attempt(null)
  const build = await buildCut(oldest)
  const from = await migratedBy(build)
  try {
    const faults = (await attempt(from)).map((fault) => `from ${oldest.version}: ${fault}`)
    return [...(await attempt(null)), ...faults]
  } finally {
    await Promise.all([build.remove(), from.drop()])
  }
}

/** Returns the newest release whose schema differs from this one's in the columns that it reads and writes. */
const beforeLastBackfill = ({ releases }: ReleaseTable) =>
  releases[releases.findLastIndex(({ migrations }) => migrations.some(({ phase }) => phase === 'backfill')) - 1]

/** Rolls this release to the last of these. */
async function roll(seconds: number, releases: readonly NextRelease[]): Promise<Rolled> {
  const [old, next] = await Promise.all([thisBuild(), buildNext(releases)])
  return rolled(seconds, { old, next }).finally(next.remove)
}

/** Rolls between the releases of the table: through these to this one, and always over its last backfill. */
async function rollCuts(table: ReleaseTable, versions: readonly string[]): Promise<readonly Rolled[]> {
  const from = beforeLastBackfill(table)
  const cuts = table.releases.slice(0, -1).filter(({ version }) => versions.includes(version) || version === from?.version)
  const builds = [...(await inParallel(cuts, width, buildCut)), await thisBuild()]
  try {
    const done: Rolled[] = []
    for (const [at, next] of builds.slice(1).entries()) done.push(await rolled(4, { old: builds[at] ?? next, next }))
    return done
  } finally {
    await Promise.all(builds.map((build) => build.remove()))
  }
}

interface Rolled extends RollingUpgrade {
  readonly title: string
}

const rolled = async (seconds: number, builds: Roll): Promise<Rolled> =>
  Object.assign({ title: `${builds.old.release} to ${builds.next.release}` }, await rollingUpgrade(seconds, builds))

async function runPairs({ pairs, table, processes, say }: PartOptions): Promise<PartResult> {
  const jumps = readPairs(pairs, table)
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
