import { existsSync, readdirSync } from 'node:fs'
import { chartRefusal } from '../../../app/start/boot-guard.ts'
import { lastRelease, readReleaseState } from '../../../app/database/schema/release-state.ts'
import { readOwnTable } from '../../../app/level/release-records.ts'
import { upgradePath, type Hop } from '../../../release/path.ts'
import { findRelease, releasesBetween, type ReleaseTable } from '../../../release/table.ts'
import { compareVersions } from '../../../release/version.ts'
import { fail, ok, skipped, warn, type Check, type Verdict } from '../check.ts'
import type { Stage } from '../stage.ts'
import { hasTable } from './schema.ts'

/** Checks that the chart of this deployment is new enough for the release. */
export const chartFloorCheck: Check = {
  id: 'chart-floor',
  about: 'The chart that deploys this release is one that it accepts: the process ends with 78 otherwise.',
  remedy: 'Upgrade with the chart that the message names, or a later one. `CHART_CHECK=warn` lets the process run all the same.',
  quick: true,
  run(stage) {
    const config = stage.settings()
    const table = readOwnTable()
    const chart = stage.circumstances.chart ?? config.deployment.chart
    const refusal = chartRefusal({ ...config, deployment: { ...config.deployment, chart } }, table)
    if (refusal !== null)
      return (config.deployment.chartCheck === 'warn' ? warn : fail)(
        refusal.problem,
        `${refusal.advice.charAt(0).toUpperCase()}${refusal.advice.slice(1)}.`,
      )
    const floor = findRelease(table, config.version)?.chart ?? null
    if (chart === null)
      return skipped(`no chart deployed this process; release ${config.version} needs ${floor ?? 'none'}: --chart asks for one`)
    return ok(`app-${chart} deploys release ${config.version}${floor === null ? '' : ` (${floor})`}`)
  },
}

/** Checks that this release may follow the installed one. */
export const upgradePathCheck: Check = {
  id: 'upgrade-path',
  about:
    'This release may follow the one that the database was migrated by: no release between is one at which the upgrade must halt, and the schema accepts it.',
  remedy: 'Upgrade in the steps that `gatehouse path` lists. For an older release, `gatehouse rollback-check` shows whether it may run.',
  quick: true,
  async run(stage) {
    const { client } = await stage.database()
    const { version } = stage.settings()
    const state = await readReleaseState(client)
    const installed = state === null ? null : await lastRelease(client)
    if (state === null || installed === null) return ok(`release ${version} will be installed`)
    if (compareVersions(version, state.minAppVersion) < 0)
      return fail(
        `the schema accepts release ${state.minAppVersion} or later, and this is ${version}`,
        `Run release ${state.minAppVersion} or later, or restore a backup from before it was finalized.`,
      )
    const finalized = state.level === installed ? '' : `; ${state.level} is finalized`
    if (compareVersions(version, installed) < 0) return ok(`release ${version} may run after ${installed}${finalized}`)
    return judgeJump(stage, { from: installed, to: version })
  },
}

function judgeJump(stage: Stage, jump: { readonly from: string; readonly to: string }): Verdict {
  const { from, to } = jump
  const table = readOwnTable()
  if (from === to) return ok(`release ${to} is installed`)
  const unknown = [from, to].find((version) => findRelease(table, version) === null)
  if (unknown !== undefined)
    return warn(`there is no record of release ${unknown}, and so no path can be derived`, 'Use released versions.')
  const hops = upgradePath(table, jump, { volume: hasVolume(stage) })
  const breaking = releasesBetween(table, from, to).flatMap((release) => release.breaking)
  const notes =
    breaking.length === 0 ? '' : `; on the way breaks ${breaking.map(({ id, check }) => `${id} (see the check ${check})`).join(', ')}`
  if (hops.length <= 1) return ok(`from ${from} to ${to} at once${notes}`)
  return fail(
    `from ${from} to ${to} the upgrade must halt: ${hops.flatMap(({ because }) => because).join('; ')}`,
    `Upgrade in steps: ${hops.map(name).join(', then ')}.`,
  )
}

const name = ({ version, chart }: Hop) => `${version}${chart === null ? '' : ` with ${chart}`}`

/** Returns true if there are files of an earlier release. */
function hasVolume(stage: Stage): boolean {
  const { dataDir } = stage.settings()
  return existsSync(dataDir) && readdirSync(dataDir).length > 0
}

interface Open {
  readonly id: string
  readonly paused: boolean
  readonly error: string | null
}

/** Checks that the background work of earlier upgrades is complete. */
export const backfillsCheck: Check = {
  id: 'backfills-finished',
  about: 'The backfills of earlier upgrades are complete. The removals of an upgrade at its end (`gatehouse finalize`) wait for them.',
  remedy:
    'Wait with `gatehouse backfill wait`; `gatehouse backfill status` shows why one does not go on, `gatehouse backfill resume` lets a paused one go on.',
  quick: true,
  async run(stage) {
    const { client } = await stage.database()
    if (!(await hasTable(client, 'backfill_state'))) return ok('no upgrade has left any')
    const { rows } = await client.query<Open>('SELECT id, paused, error FROM backfill_state WHERE NOT done ORDER BY id COLLATE "C"')
    if (rows.length === 0) return ok('none is open')
    const named = rows
      .map(({ id, paused, error }) => `${id}${paused ? ' (paused)' : error === null ? '' : ` (failed: ${error})`}`)
      .join(', ')
    const blocked = blockedBy(readOwnTable(), stage.settings().version, new Set(rows.map(({ id }) => id)))
    const fix = rows.some(({ paused }) => paused)
      ? 'Run "gatehouse backfill resume", then "gatehouse backfill wait".'
      : 'Run "gatehouse backfill wait", with the release that is installed.'
    return blocked.length > 0 ? fail(`open: ${named}; ${blocked.join(', ')} needs them`, fix) : warn(`open: ${named}`, fix)
  },
}

/** Returns the releases up to this one that cannot run while these backfills are open. */
const blockedBy = ({ releases }: ReleaseTable, version: string, open: ReadonlySet<string>): readonly string[] =>
  releases
    .filter((release) => compareVersions(release.version, version) <= 0)
    .flatMap(({ migrations }) =>
      migrations.filter(({ phase, needs }) => phase === 'contract' && needs.some((id) => open.has(id))).map(({ id }) => id),
    )
