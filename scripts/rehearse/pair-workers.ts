import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import type { ReleaseTable } from '../../src/release/table.ts'
import { inParallel } from '../../test/support/in-parallel.ts'
import { buildCut } from './build.ts'
import type { Jump } from './pairs.ts'
import type { Outcome } from './upgrade.ts'

const Told = z.object({
  from: z.string(),
  to: z.string(),
  faults: z.array(z.string()),
  readings: z.int(),
  requests: z.int(),
  ms: z.number(),
})

/** Every upgrade, each release cut out of this checkout, in so many processes at once, each outcome in the order of the upgrades. */
export async function rehearseInProcesses(
  jumps: readonly Jump[],
  {
    processes,
    table,
    onOutcome,
  }: { readonly processes: number; readonly table: ReleaseTable; readonly onOutcome: (outcome: Outcome) => void },
): Promise<readonly Outcome[]> {
  const asked = new Set(jumps.flat())
  const builds = await inParallel(
    table.releases.filter(({ version }) => asked.has(version)),
    processes,
    buildCut,
  )
  const folders = Object.fromEntries(builds.map(({ release, folder }) => [release, folder]))
  const outcomes: Outcome[] = []
  const note = (outcome: Outcome) => {
    outcomes.push(outcome)
    onOutcome(outcome)
  }
  try {
    await Promise.all(deal(jumps, processes).map((share) => runWorker(share, folders, note)))
  } finally {
    await Promise.all(builds.map((build) => build.remove()))
  }
  const place = ({ from, to }: Outcome) => jumps.findIndex((jump) => jump[0] === from && jump[1] === to)
  return outcomes.toSorted((one, other) => place(one) - place(other))
}

/** Shares of about the same size, those that begin at one release together, so that it is installed once. */
export function deal(jumps: readonly Jump[], shares: number): readonly (readonly Jump[])[] {
  const dealt: Jump[][] = Array.from({ length: shares }, () => [])
  const byOrigin = Map.groupBy(jumps, ([from]) => from)
  for (const group of [...byOrigin.values()].toSorted((one, other) => other.length - one.length))
    dealt.toSorted((one, other) => one.length - other.length)[0]?.push(...group)
  return dealt.filter((share) => share.length > 0)
}

type Folders = Readonly<Record<string, string>>

async function runWorker(share: readonly Jump[], folders: Folders, note: (outcome: Outcome) => void): Promise<void> {
  const worker = fork(path.join(import.meta.dirname, 'pair-worker.ts'), [JSON.stringify(share), JSON.stringify(folders)])
  // Gives way to the parts that run beside it, some of which are held to time.
  if (worker.pid !== undefined) setPriority(worker.pid, 10)
  const told: Outcome[] = []
  worker.on('message', (message) => {
    const outcome = Told.parse(message)
    told.push(outcome)
    note(outcome)
  })
  await once(worker, 'close')
  if (worker.exitCode === 0 && told.length === share.length) return
  const which = `${share.length} upgrades from ${share[0]?.[0] ?? ''} on`
  throw new Error(`the process that rehearses ${which} ended with ${worker.exitCode ?? worker.signalCode} after ${told.length} of them`)
}
