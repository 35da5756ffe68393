// Rehearses some of the upgrades in a process of its own, named by its parent in the first argument, and reports each outcome. The second argument
// holds the folders of the releases.
import { z } from 'zod'
import { features } from '../../src/features/index.ts'
import { startEmulator } from '../../test/support/emulator/emulator.ts'
import type { Build } from './build.ts'
import { makers } from './makers.ts'
import { rehearsePairs } from './rehearsal.ts'
import type { Outcome } from './upgrade.ts'

/** Installations that one process works on at once: while one waits for PostgreSQL, another goes on. */
const width = 2

const jumps = z.array(z.tuple([z.string(), z.string()])).parse(JSON.parse(process.argv[2] ?? ''))
const folders = z.record(z.string(), z.string()).parse(JSON.parse(process.argv[3] ?? ''))
const tell = (outcome: Outcome) => void process.send?.(outcome)

/** The release as its folder is; its maker removes it. */
async function build(release: string): Promise<Build> {
  const folder = folders[release]
  if (folder === undefined) throw new RangeError(`nobody cut ${release}`)
  return { folder, release, remove: async () => {} }
}

// The parent that wants the outcomes is gone.
process.once('disconnect', () => process.exit(1))

const emulator = await startEmulator()
try {
  await rehearsePairs(jumps, { product: { features, build }, makers, providerUrl: emulator.url, width, onOutcome: tell })
} finally {
  await emulator.stop()
}
process.removeAllListeners('disconnect')
process.disconnect()
