import path from 'node:path'
import { readMigrations, type MigrationFile } from '../../../src/app/database/schema/migration-files.ts'
import { askAdmin, manage } from '../../../test/support/admin.ts'
import { inDatabase, testDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { startEmulator } from '../../../test/support/emulator/emulator.ts'
import { chat, exchange, succeeded } from '../../../test/support/load.ts'
import { readLogged, untilLogged } from '../../../test/support/logged.ts'
import { environment, workspaceKey, type Gatehouse } from '../../../test/support/process.ts'
import type { CutRelease } from '../../../tools/release/cut.ts'
import { buildCut, buildNext, thisBuild, type Build, type Edits, type NextRelease } from '../build.ts'
import { mustRun, runCommand, serve } from '../command.ts'
import { storeEmulated } from './emulated.ts'

/**
 * Back and forth, from each of these cuts to the next and to this release, and then for each of these jumps in turn; see `walk`.
 */
export async function rollbacks(
  jumps: readonly (readonly NextRelease[])[],
  { edits = {}, cuts = [] }: { readonly edits?: Edits; readonly cuts?: readonly CutRelease[] } = {},
): Promise<readonly string[]> {
  const builds = await Promise.all([...cuts.map(buildCut), thisBuild(), ...jumps.map((releases) => buildNext(releases, edits))])
  return walk(builds).finally(() => Promise.all(builds.map((build) => build.remove())))
}

/**
 * Walks one installation from build to build: the former release runs again on the schema of the next one as long as that was not
 * finalized, and has all that was written meanwhile. After `finalize` `rollback-check` refuses, and so does the former release itself.
 */
export async function walk([first, ...others]: readonly Build[]): Promise<readonly string[]> {
  if (first === undefined) throw new RangeError('there is nothing to go back to')
  const [database, emulator] = await Promise.all([testDatabase({ empty: true }), startEmulator()])
  const site: Site = { database, providerUrl: emulator.url, written: [], exchanges: [] }
  const faults: string[] = []
  try {
    await mustRun(first, ['migrate'], environment(database.config))
    faults.push(...(await visit(site, first, 'before')))
    let former = first
    for (const next of others) {
      faults.push(...(await backAndForth(site, former, next)))
      former = next
    }
    const { missing, doubled } = await readLogged(database.superuser, site.exchanges)
    if (missing.length + doubled.length > 0) faults.push(`of the exchanges ${missing.length} are not logged, ${doubled.length} twice`)
    return faults
  } finally {
    await Promise.all([emulator.stop(), database.drop()])
  }
}

async function backAndForth(site: Site, former: Build, next: Build): Promise<readonly string[]> {
  const run = (...args: readonly string[]) => mustRun(next, args, environment(site.database.config))
  const slug = next.release.replaceAll('.', '-')
  const known = new Set((await migrationsOf(former)).map(({ id }) => id))
  const contracts = (await migrationsOf(next)).filter(({ id, phase }) => phase === 'contract' && !known.has(id))
  await run('migrate')
  const tried = await visit(site, next, `${slug}-tried`)
  const allowed = await verdict(site, { asked: next, to: former.release, allowed: true })
  const early = await appliedEarly(site, contracts)
  const back = await visit(site, former, `${slug}-back`)
  const again = await visit(site, next, `${slug}-again`, async () => {
    await run('backfill', 'wait', '--timeout', '60s')
    await run('finalize')
  })
  const refused = await verdict(site, { asked: next, to: former.release, allowed: false, oldest: next.release })
  const left = await leftOut(site, contracts)
  return [...tried, ...allowed, ...early, ...back, ...again, ...refused, ...left, ...(await refusesToStart(site, former))]
}

const migrationsOf = ({ folder }: Build) => readMigrations(path.join(folder, 'migrations'))

interface Site {
  readonly database: TestDatabase
  readonly providerUrl: string
  /** The slugs of the rows so far. */
  readonly written: string[]
  /** The ids of all that went through the gateway. */
  readonly exchanges: string[]
}

/** Serves a release for a moment: everything written before can be read and used, and something new is written. */
async function visit(site: Site, build: Build, slug: string, work: () => Promise<void> = async () => {}): Promise<readonly string[]> {
  const gatehouse = await serve(build, { on: site.database, env: { LOG_LEVEL: 'warn' } })
  try {
    await storeEmulated(gatehouse.origin, slug, site.providerUrl)
    await manage(gatehouse.origin, 'POST', '/labels', { name: `label-${slug}` })
    site.written.push(slug)
    const faults = await usable(site, gatehouse)
    await work()
    return faults.map((fault) => `${build.release} at "${slug}": ${fault}`)
  } finally {
    await gatehouse.stop()
  }
}

async function usable(site: Site, { origin }: Gatehouse): Promise<readonly string[]> {
  const faults: string[] = []
  const labels = (await askAdmin(origin, 'GET', '/labels?pageSize=1000')).text
  const ids: string[] = []
  for (const slug of site.written) {
    if (!labels.includes(`"label-${slug}"`)) faults.push(`the label of "${slug}" is gone`)
    const outcome = await exchange(chat(origin, { key: workspaceKey, provider: `@${slug}` }))
    if (!succeeded(outcome)) faults.push(`the provider of "${slug}" does not serve: ${outcome.status ?? outcome.fault} ${outcome.text}`)
    if (outcome.id !== null) ids.push(outcome.id)
  }
  await untilLogged(site.database.superuser, ids, 20_000)
  site.exchanges.push(...ids)
  return faults
}

interface Question {
  readonly asked: Build
  readonly to: string
  readonly allowed: boolean
  readonly oldest?: string
}

async function verdict({ database }: Site, { asked, to, allowed, oldest }: Question): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runCommand(['rollback-check', to], { env: environment(database.config), build: asked.folder })
  const said = `rollback-check ${to} by ${asked.release} ended with ${code}: ${stdout}${stderr}`
  if (code !== (allowed ? 0 : 1)) return [said]
  return oldest === undefined || stdout.includes(`${oldest} is the oldest release that the schema accepts`) ? [] : [said]
}

/** The boot guard: exit code 78, one line for programs, one for people. */
async function refusesToStart({ database }: Site, build: Build): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runCommand(['serve'], { env: { ...environment(database.config), PORT: '0' }, build: build.folder })
  const said = stdout + stderr
  return code === 78 && said.includes('release_too_old') ? [] : [`${build.release} started, or ended with ${code}: ${said.slice(-1000)}`]
}

/** Contract migrations that did not wait for `finalize`. */
const appliedEarly = async (site: Site, contracts: readonly MigrationFile[]) =>
  (await applied(site, contracts)).map((id) => `${id} ran before finalize`)

/** Those that it left out. */
async function leftOut(site: Site, contracts: readonly MigrationFile[]): Promise<readonly string[]> {
  const ran = await applied(site, contracts)
  return contracts.filter(({ id }) => !ran.includes(id)).map(({ id }) => `finalize did not run ${id}`)
}

const applied = ({ database }: Site, files: readonly MigrationFile[]): Promise<readonly string[]> =>
  inDatabase(database.superuser, async (client) => {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM schema_migrations WHERE id = ANY ($1)', [files.map(({ id }) => id)])
    return rows.map(({ id }) => id)
  })
