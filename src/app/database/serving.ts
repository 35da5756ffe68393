import type { Client } from 'pg'
import { compareVersions, isVersion } from '../../release/version.ts'

const prefix = 'gatehouse-snapshot '

/** The name of the one session that every serving process keeps open: it contains the release of the process. */
export const servingName = (release: string): string => `${prefix}${release}`

/** The releases that serve on this database now, oldest first. */
export async function servingReleases(client: Client): Promise<readonly { readonly release: string; readonly processes: number }[]> {
  const { rows } = await client.query<{ release: string; processes: number }>(
    `SELECT substr(application_name, $1) AS release, count(*)::int AS processes FROM pg_stat_activity
      WHERE datname = current_database() AND starts_with(application_name, $2) GROUP BY 1`,
    [prefix.length + 1, prefix],
  )
  return rows.filter(({ release }) => isVersion(release)).toSorted((one, other) => compareVersions(one.release, other.release))
}
