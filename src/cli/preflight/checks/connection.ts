import { majorsIn } from '../../../release/postgres-range.ts'
import { readOwnRecord } from '../own-record.ts'
import { fail, ok, warn, type Check } from '../check.ts'
import { NotPossible } from '../not-possible.ts'

/** Checks that the database answers. */
export const connectionCheck: Check = {
  id: 'postgres-connection',
  about: 'PostgreSQL can be reached with `DB_HOST`, `DB_PORT`, `DB_USER`, `DB_PASS`, `DB_NAME` and `DB_SSL`, and is no read-only standby.',
  remedy: 'Correct the setting that the message names, or the network between.',
  quick: true,
  async run(stage) {
    const error = await stage.connectionError()
    if (error !== null) return fail(error.message, 'Correct the fault in the message, and run this again.')
    const { client, config } = await stage.database()
    const startedAt = performance.now()
    const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
    const place = `${config.user} at ${config.host}:${config.port}/${config.name}`
    if (rows[0]?.standby === true) return fail(`${place} is a read-only standby`, 'Set DB_HOST to the primary.')
    return ok(`${place} answers in ${Math.max(1, Math.round(performance.now() - startedAt))} ms`)
  },
}

/** Checks that this release supports the version of PostgreSQL. */
export const versionCheck: Check = {
  id: 'postgres-version',
  about: 'The version of PostgreSQL is one that this release supports.',
  remedy: 'Upgrade PostgreSQL within the range that the release names, before Gatehouse.',
  quick: true,
  async run(stage) {
    const { client } = await stage.database()
    const { rows } = await client.query<{ version: string; number: number }>(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number`,
    )
    const [server] = rows
    if (server === undefined) throw new NotPossible('PostgreSQL does not state its version')
    return judgeVersion(server, readOwnRecord()?.postgres ?? '>=14 <19')
  },
}

/** The verdict on a server; one that is newer than all that were tried is no reason to stop. */
export function judgeVersion({ version, number }: { readonly version: string; readonly number: number }, range: string) {
  const major = Math.trunc(number / 10_000)
  const { least, below } = majorsIn(range)
  if (major < least) return fail(`PostgreSQL ${version} is too old: ${range} is needed`, `Upgrade PostgreSQL to ${least} or newer first.`)
  if (major >= below) return warn(`PostgreSQL ${version} is newer than this release was tried with (${range})`, 'Try it on a copy first.')
  return ok(`PostgreSQL ${version} (${range})`)
}
