// Rehearses some of the upgrades in a process of its own, which whoever forks it names in the first argument, and tells each outcome.
import path from 'node:path'
import { z } from 'zod'
import { readOwnTable } from '../../src/app/release-records.ts'
import { features } from '../../src/features/index.ts'
import { root } from '../../test/support/cli.ts'
import { startEmulator } from '../../test/support/emulator/emulator.ts'
import { makers } from './makers.ts'
import { openMigrations } from './migrations.ts'
import { rehearsePairs } from './rehearsal.ts'
import type { Outcome } from './upgrade.ts'

/** Installations that one process works on at once: while one waits for PostgreSQL, another goes on. */
const width = 2

const jumps = z.array(z.tuple([z.string(), z.string()])).parse(JSON.parse(process.argv[2] ?? ''))
const tell = (outcome: Outcome) => void process.send?.(outcome)

// Whoever wants the outcomes is gone.
process.once('disconnect', () => process.exit(1))

const [emulator, migrations] = await Promise.all([startEmulator(), openMigrations(path.join(root, 'migrations'))])
try {
  const product = { features, table: readOwnTable(), migrations }
  await rehearsePairs(jumps, { product, makers, providerUrl: emulator.url, width, onOutcome: tell })
} finally {
  await Promise.all([emulator.stop(), migrations.remove()])
}
process.removeAllListeners('disconnect')
process.disconnect()
