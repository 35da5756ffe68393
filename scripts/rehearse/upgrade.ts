import { verifyAudit, type ChainReport } from '../../src/app/audit/verify.ts'
import { runBackfills } from '../../src/app/backfill-runner.ts'
import { finalize } from '../../src/app/database/finalize.ts'
import { migrate } from '../../src/app/database/migrate.ts'
import { createMetrics } from '../../src/app/metrics.ts'
import type { TestApp } from '../../test/support/app.ts'
import { silent } from '../../test/support/database.ts'
import { eventually } from '../../test/support/eventually.ts'
import { asRelease, catalogueOf, createInstallation, loginOf, rowCounts, type Installation, type Product } from './installation.ts'
import { inOlderSchema } from './older-schema.ts'
import { record, type RecordOptions, type Recording } from './recording.ts'
import { readBack, replay } from './replay.ts'
import { unlike } from './unlike.ts'

/** An installation of one release with data of its clients, and no process on it. */
export interface Origin {
  readonly release: string
  readonly installation: Installation
  readonly recording: Recording
  readonly rows: ReadonlyMap<string, number>
  readonly chains: readonly ChainReport[]
}

/** A release to reach. */
export interface Target {
  readonly release: string
  /** What a fresh installation of it is made of. */
  readonly catalogue: readonly string[]
}

/** What an upgrade came to. */
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
  const made = await createInstallation()
  try {
    const data = await asRelease(made, { release, product }, async (app) => ({
      recording: await record(app, { ...options, features: product.features }),
      chains: await verifyAudit(app.deps),
    }))
    const directory = await product.migrations.upTo(release)
    const installation = directory === null ? made : await inOlderSchema(made, { release, directory })
    if (installation !== made) await made.remove()
    return { release, installation, ...data, rows: await rowCounts(installation) }
  } catch (error) {
    await made.remove()
    throw error
  }
}

/** The structure of a fresh installation. */
export async function freshCatalogue(release: string, { migrations }: Product): Promise<readonly string[]> {
  const installation = await createInstallation()
  try {
    await migrate(loginOf(installation), silent, { directory: await directoryOf(release, migrations), deployment: { release } })
    return await catalogueOf(installation)
  } finally {
    await installation.remove()
  }
}

const directoryOf = async (release: string, migrations: Product['migrations']) => (await migrations.upTo(release)) ?? migrations.all

/** Upgrades a copy as an operator does, and tells everything that is not as it was or as it should be. */
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

/**
 * Migrates; reads everything back while the former level still holds; waits for backfills and finalizes; then reads, and lets the
 * old clients go on. When there are migrations of still later releases, the schema is compared before this checkout's code, which
 * needs them, is started.
 */
async function upgrade(copy: Installation, { from, to, product }: Upgrade): Promise<readonly string[]> {
  const { release } = to
  const directory = await product.migrations.upTo(release)
  const faults: string[] = []
  if (directory !== null) {
    await migrate(loginOf(copy), silent, { directory, deployment: { release } })
    faults.push(...(await finish(copy, { release, product, directory })), ...unlike(await catalogueOf(copy), to.catalogue))
  }
  const running = await asRelease(copy, { release, product }, async (app) => [
    ...(await readBack(app, from.recording.readings)),
    ...(await finish(copy, { release, product, directory: product.migrations.all })),
    ...(await levelFaults(app, release)),
    ...(directory === null ? unlike(await catalogueOf(copy), to.catalogue) : []),
    ...(await readBack(app, from.recording.readings)),
    ...(await auditFaults(app, from)),
    ...(await lostRows(copy, from)),
    ...(await replay(app, from.recording)),
  ])
  return [...faults, ...running]
}

/** What `gatehouse backfill wait` and `gatehouse finalize` do. */
async function finish(
  copy: Installation,
  { release, product, directory }: { readonly release: string; readonly product: Product; readonly directory: string },
): Promise<readonly string[]> {
  const client = loginOf(copy)
  await runBackfills({
    client,
    log: silent,
    metrics: createMetrics(release),
    migrations: directory,
    signal: AbortSignal.timeout(product.backfillWithinMs ?? 60_000),
  })
  const { obstacles } = await finalize(client, silent, { deployment: { release }, table: product.table, directory })
  return obstacles.map((obstacle) => `${release} cannot be finalized: ${obstacle}`)
}

const levelWithinMs = 10_000

/** A process that runs takes in the new level by itself. */
async function levelFaults({ deps }: TestApp, release: string): Promise<readonly string[]> {
  await eventually(() => deps.level.release === release, levelWithinMs).catch(() => {})
  return deps.level.release === release ? [] : [`the level is ${deps.level.release} after ${release} was finalized`]
}

/** The trail must still go through where it ended before the upgrade. */
async function auditFaults(app: TestApp, { chains }: Origin): Promise<readonly string[]> {
  const found: string[] = []
  for (const { organisationId, head } of chains) {
    const reports = await verifyAudit(app.deps, { organisation: organisationId, anchor: head })
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
