import type { Config } from '../../config/config.ts'
import { satisfies } from '../../release/floor.ts'
import { chartFor, findRelease, type ReleaseTable } from '../../release/table.ts'
import { compareVersions } from '../../release/version.ts'
import type { Logger } from 'pino'
import { BootRefusal } from '../boot-refusal.ts'
import type { Records } from '../level/lazy-release-table.ts'
import type { StartMode } from './start-mode.ts'

/** Throws BootRefusal for faults that are visible without the database. */
export async function guardBoot(
  config: Config,
  { mode, records, log }: { readonly mode: StartMode; readonly records: Records; readonly log: Logger },
): Promise<void> {
  if (!mode.deployed && config.releaseLevel === null) return
  const table = await records.load()
  const level = levelRefusal(config, table)
  if (level !== null) throw level
  const chart = mode.deployed ? (chartRefusal(config, table) ?? imageRefusal(config)) : null
  if (chart === null) return
  if (config.deployment.chartCheck === 'enforce') throw chart
  log.warn({ code: chart.code }, chart.message)
}

/** Why the chart that deployed this process must not deploy this release; null when it may. */
export function chartRefusal(config: Pick<Config, 'version' | 'deployment' | 'inKubernetes'>, table: ReleaseTable): BootRefusal | null {
  const { version, deployment, inKubernetes } = config
  const release = findRelease(table, version)
  const floor = release?.chart ?? null
  if (release === null || floor === null) return null
  const fit = chartFor(table, release)
  const advice = `deploy it with the chart ${fit === null ? floor : `app-${fit.version}`} or a later one, or set CHART_CHECK=warn to go on all the same`
  if (deployment.chart === null) {
    if (!inKubernetes) return null
    const message = `release ${version} needs a chart ${floor}, and DEPLOYMENT_CHART is not set: the chart that deployed it is older than that`
    return new BootRefusal('chart_missing', message, advice)
  }
  if (satisfies(deployment.chart, floor)) return null
  return new BootRefusal('chart_too_old', `release ${version} needs a chart ${floor}, and app-${deployment.chart} deployed it`, advice)
}

/** Why the image is not the one that the chart meant to deploy: its digest wins over its tag, which names another release. */
export function imageRefusal({ version, deployment }: Pick<Config, 'version' | 'deployment'>): BootRefusal | null {
  const [, tagged] = /:v?(\d+\.\d+\.\d+)[^/:@]*@sha256:/.exec(deployment.image ?? '') ?? []
  if (tagged === undefined || tagged === version) return null
  return new BootRefusal(
    'image_differs',
    `the chart deployed release ${tagged} (image.tag), and the image of image.digest contains release ${version}`,
    `set image.tag to ${version}, or image.digest to the digest of ${tagged}`,
  )
}

/** Why `RELEASE_LEVEL` cannot be meant: it names no release of this build. */
export function levelRefusal({ version, releaseLevel }: Pick<Config, 'version' | 'releaseLevel'>, table: ReleaseTable): BootRefusal | null {
  if (releaseLevel === null || releaseLevel === version || findRelease(table, releaseLevel) !== null) return null
  const known = table.releases.map((release) => release.version).join(', ')
  if (compareVersions(releaseLevel, version) > 0)
    return new BootRefusal(
      'unknown_level',
      `RELEASE_LEVEL is ${releaseLevel}, and this is release ${version}`,
      'remove it, or deploy that release',
    )
  return new BootRefusal('unknown_level', `RELEASE_LEVEL is ${releaseLevel}, and there is no such release`, `set it to one of ${known}`)
}
