import path from 'node:path'
import { z } from 'zod'
import { migrate } from '../../src/app/database/schema/migrate.ts'
import { readMigrations } from '../../src/app/database/schema/migration-files.ts'
import { silent } from '../../test/support/database.ts'
import { eventually } from '../../test/support/eventually.ts'
import type { Build } from './build.ts'
import type { Ended } from './command.ts'
import {
  asRelease,
  catalogueOf,
  command,
  createInstallation,
  loginOf,
  rowCounts,
  type Installation,
  type Product,
  type Served,
} from './installation.ts'
import { record, type RecordOptions, type Recording } from './recording.ts'
import { readBack, replay } from './replay.ts'
import { unlike } from './unlike.ts'

const Chains = z.array(
  z.object({
    organisationId: z.string(),
    head: z.object({ seq: z.int(), hash: z.string() }).nullable(),
    faults: z.array(z.string()),
  }),
)
type Chain = z.output<typeof Chains>[number]

/** An installation of one release with data of its clients, and no process on it. */
export interface Origin {
  readonly release: string
  readonly installation: Installation
  readonly recording: Recording
  readonly rows: ReadonlyMap<string, number>
  readonly chains: readonly Chain[]
}

/** A release to reach. */
export interface Target {
  readonly release: string
  /** The contents of a fresh installation of it. */
  readonly catalogue: readonly string[]
}

/** The outcome of an upgrade. */
export interface Outcome {
  readonly from: string
  readonly to: string
  /** Empty: everything held. */
  readonly faults: readonly string[]
  readonly readings: number
  readonly requests: number
  readonly ms: number
}

/** Installs a release, and lets its clients make data. */
export async function installAt(release: string, product: Product, options: Omit<RecordOptions, 'features'>): Promise<Origin> {
  const installation = await createInstallation()
  try {
    const build = await product.build(release)
    const recording = await asRelease(installation, { build, args: ['--migrate'] }, (served) =>
      record(served, { ...options, features: product.features }),
    )
    const chains = await auditChains(installation, build)
    return { release, installation, recording, chains, rows: await rowCounts(installation) }
  } catch (error) {
    await installation.remove()
    throw error
  }
}

/** The output of `gatehouse audit verify`. */
async function auditChains(installation: Installation, build: Build, args: readonly string[] = []): Promise<readonly Chain[]> {
  const { stdout, stderr } = await command(installation, build, ['audit', 'verify', '--json', ...args])
  const chains = Chains.safeParse(JSON.parse(stdout || 'null'))
  if (!chains.success) throw new Error(`gatehouse audit verify of ${build.release} told nothing: ${stderr}`)
  return chains.data
}

/** The structure of a fresh installation. */
export async function freshCatalogue(release: string, product: Product): Promise<readonly string[]> {
  const [installation, { folder }] = [await createInstallation(), await product.build(release)]
  try {
    await migrate(loginOf(installation), silent, { directory: path.join(folder, 'migrations'), deployment: { release } })
    return await catalogueOf(installation)
  } finally {
    await installation.remove()
  }
}

/** Upgrades a copy as an operator does, and reports all differences and faults. */
export async function rehearse(from: Origin, to: Target, product: Product): Promise<Outcome> {
  const startedAt = performance.now()
  const copy = await createInstallation(from.installation)
  try {
    return {
      from: from.release,
      to: to.release,
      faults: await upgrade(copy, { from, to, product }).catch((error: unknown) => [
        error instanceof Error ? error.message : String(error),
      ]),
      readings: from.recording.readings.length,
      requests: from.recording.exchanges.length,
      ms: Math.round(performance.now() - startedAt),
    }
  } finally {
    await copy.remove()
  }
}

interface Upgrade {
  readonly from: Origin
  readonly to: Target
  readonly product: Product
}

/** Migrates; reads everything back while the former level still holds; waits for backfills and finalizes; then reads, and lets the old clients go on. */
async function upgrade(copy: Installation, { from, to, product }: Upgrade): Promise<readonly string[]> {
  const build = await product.build(to.release)
  const migrated = await command(copy, build, ['migrate'])
  if (migrated.code !== 0) return [said('migrate', migrated)]
  const running = await asRelease(copy, { build }, async (served) => [
    ...(await levelFaults(served, from.release)),
    ...(await readBack(served, from.recording.readings)),
    ...(await finish(copy, build, product)),
    ...(await levelFaults(served, to.release)),
    ...unlike(await catalogueOf(copy), to.catalogue),
    ...(await readBack(served, from.recording.readings)),
    ...(await lostRows(copy, from)),
    ...(await replay(served, from.recording)),
  ])
  return [...running, ...(await auditFaults(copy, build, from))]
}

const said = (name: string, { code, signal, stdout, stderr }: Ended) =>
  `gatehouse ${name} ended with ${code ?? signal}: ${stdout}${stderr}`.slice(0, 2000)

/** The operators' steps: `gatehouse backfill wait` where there are rows to fill, and `gatehouse finalize`. */
async function finish(copy: Installation, build: Build, { backfillWithin = '60s' }: Product): Promise<readonly string[]> {
  const fills = (await readMigrations(path.join(build.folder, 'migrations'))).some(({ phase }) => phase === 'backfill')
  if (fills) await command(copy, build, ['backfill', 'wait', '--timeout', backfillWithin])
  const finalized = await command(copy, build, ['finalize'])
  return finalized.code === 0 ? [] : [said('finalize', finalized)]
}

const levelWithinMs = 10_000

/** A process that runs takes in the new level by itself. */
async function levelFaults(served: Served, release: string): Promise<readonly string[]> {
  await eventually(async () => (await served.level()) === release, levelWithinMs).catch(() => {})
  const level = await served.level()
  return level === release ? [] : [`${served.release} shows the level ${String(level)}, and not ${release}`]
}

/** The trail must still go through where it ended before the upgrade. */
async function auditFaults(copy: Installation, build: Build, { chains }: Origin): Promise<readonly string[]> {
  const found: string[] = []
  for (const { organisationId, head } of chains) {
    const anchor = head === null ? [] : ['--anchor', `${head.seq}:${head.hash}`]
    const reports = await auditChains(copy, build, ['--organisation', organisationId, ...anchor])
    if (reports.length !== 1) found.push(`the audit trail of ${organisationId} is gone`)
    found.push(...reports.flatMap(({ faults }) => faults))
  }
  return found
}

async function lostRows(copy: Installation, { rows }: Origin): Promise<readonly string[]> {
  const now = await rowCounts(copy)
  return [...rows].flatMap(([table, count]) =>
    (now.get(table) ?? 0) < count ? [`${table} had ${count} rows and has ${now.get(table) ?? 'gone'}`] : [],
  )
}
