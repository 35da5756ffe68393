import { chartFor, findRelease, type ReleaseTable } from './table.ts'
import { compareVersions } from './version.ts'

/** The answer to whether a release can run again on a database. */
export interface RollbackVerdict {
  readonly to: string
  readonly allowed: boolean
  /** The oldest release that the schema accepts; null: there is no schema yet. */
  readonly oldest: string | null
  /** The chart to deploy it with; null: none is known. */
  readonly chart: string | null
  /** The reason, and the way out. */
  readonly reason: string
}

/**
 * Judges a rollback by the releases that the database accepts: since the last `finalize`, only the finalized one and later ones. Null: it was never
 * migrated.
 */
export function rollbackVerdict(
  table: ReleaseTable,
  state: { readonly level: string; readonly minAppVersion: string } | null,
  to: string,
): RollbackVerdict {
  const release = findRelease(table, to)
  const chart = release === null ? null : chartFor(table, release)
  const named = { to, chart: chart === null ? null : `app-${chart.version}` }
  if (state === null)
    return { ...named, oldest: null, allowed: true, reason: 'The database was never migrated: any release can run on it.' }
  const { level, minAppVersion } = state
  const known = { ...named, oldest: minAppVersion }
  if (compareVersions(to, minAppVersion) >= 0)
    return { ...known, allowed: true, reason: `The schema accepts ${minAppVersion} and later, and ${level} is finalized.` }
  const reason = `${minAppVersion} was finalized: ${minAppVersion} is the oldest release that the schema accepts. Only a backup from before leads back to ${to}.`
  return { ...known, allowed: false, reason }
}
