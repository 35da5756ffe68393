import type { Finding, Project, Rule } from '../../../src/release/project.ts'
import type { ReleaseRecord } from '../../../src/release/record.ts'
import { compareVersions, folderOf } from '../../../src/release/version.ts'

const phases = ['expand', 'backfill', 'contract']
type Migration = ReleaseRecord['migrations'][number]

/**
 * R8: the records name the migrations that exist, each in its release's folder, in the order of the phases, and contracts wait for the backfills that
 * they need.
 */
export const migrationsMatch: Rule = (project) => {
  const { releases } = project.table
  const recorded = new Set(releases.flatMap(({ migrations }) => migrations.map(({ id }) => id)))
  const unrecorded = Object.keys(project.hashes.migrations).filter((id) => !recorded.has(id))
  return [
    ...unrecorded.map((id): Finding => ({ rule: 'R8', where: id, message: 'no record names this migration' })),
    ...releases.flatMap((release) =>
      faultsOf(release, project).map((message): Finding => ({ rule: 'R8', where: release.version, message })),
    ),
  ]
}

function faultsOf(release: ReleaseRecord, project: Project): readonly string[] {
  const { version, migrations } = release
  const folder = `${folderOf(version)}/`
  return [
    ...migrations.filter(({ id }) => !id.startsWith(folder)).map(({ id }) => `${id} belongs into ${folder}`),
    ...migrations.filter(({ id }) => !(id in project.hashes.migrations)).map(({ id }) => `${id} does not exist`),
    ...migrations
      .filter((migration, at) => rank(migration) < rank(migrations[at - 1]))
      .map(({ id, phase }) => `${id} (${phase}) comes after a later phase`),
    ...migrations.flatMap((migration) => contractFaults(migration, release, project)),
  ]
}

const rank = (migration: Migration | undefined) => (migration === undefined ? -1 : phases.indexOf(migration.phase))

/** A contract step waits for backfills of earlier releases and names the release that may still run beside it. */
function contractFaults({ id, phase, needs, minApp }: Migration, { version }: ReleaseRecord, { table }: Project): readonly string[] {
  if (phase !== 'contract') return needs.length > 0 || minApp !== undefined ? [`${id} is no contract step, and has needs or minApp`] : []
  const unmet = needs.filter((need) => {
    const from = table.releases.find(({ migrations }) => migrations.some((other) => other.id === need && other.phase === 'backfill'))
    return from === undefined || compareVersions(from.version, version) >= 0
  })
  return [
    ...(needs.length === 0 ? [`${id} names no backfill that it needs`] : []),
    ...unmet.map((need) => `${id} needs ${need}, which is no backfill of an earlier release`),
    ...(minApp === undefined || compareVersions(minApp, version) >= 0 ? [`${id} names no earlier release as minApp`] : []),
  ]
}
