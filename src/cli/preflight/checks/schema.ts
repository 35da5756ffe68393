import type { Client } from 'pg'
import { readMigrations } from '../../../app/database/schema/migration-files.ts'
import { pendingMigrations } from '../../../app/database/schema/migrate.ts'
import { cutOff, readHistory } from '../../../app/database/schema/release-state.ts'
import { fail, ok, warn, type Check, type Verdict } from '../check.ts'

/** Checks that this release supports the schema. */
export const schemaCheck: Check = {
  id: 'schema',
  about:
    'The migrations that the database has are those of this release or an earlier one, unchanged, and no work on the schema was cut off.',
  remedy:
    'Run `gatehouse migrate` for pending migrations. Never edit a migration that was applied; run a release that is as new as the schema.',
  quick: true,
  async run(stage) {
    const { client, login } = await stage.database()
    const unknown = await unknownMigrations(client)
    if (unknown.length > 0)
      return warn(
        `the schema is newer than this release: it has ${unknown.join(', ')}`,
        'Run "gatehouse rollback-check" with this release\'s version before you go on, or use the newer release.',
      )
    try {
      return judge(await pendingMigrations(login), await interrupted(client))
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('was changed after')) throw error
      return fail(error.message, 'Use the image of the release as it was published.')
    }
  },
}

function judge(pending: readonly string[], cut: string | null): Verdict {
  if (cut !== null) return warn(cut, 'Run it again: it goes on where the database stands, and complete steps stay.')
  if (pending.length === 0) return ok('the schema is that of this release')
  return ok(`"gatehouse migrate" will apply ${pending.length}: ${pending.join(', ')}`)
}

/** Returns the work on the schema that was begun and interrupted; null: there is none, or it is going on. */
async function interrupted(client: Client): Promise<string | null> {
  const [latest] = await readHistory(client, 1)
  if (latest?.error !== cutOff) return null
  return `"gatehouse ${latest.action === 'finalize' ? 'finalize' : 'migrate'}" to ${latest.to} was cut off: it is marked as running, and no session holds the migration lock`
}

async function unknownMigrations(client: Client): Promise<readonly string[]> {
  if (!(await hasTable(client, 'schema_migrations'))) return []
  const known = new Set((await readMigrations()).map(({ id }) => id))
  const { rows } = await client.query<{ id: string }>('SELECT id FROM schema_migrations ORDER BY id')
  return rows.map(({ id }) => id).filter((id) => !known.has(id))
}

/** Returns true if a table is in the schema of the login. */
export async function hasTable(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ present: boolean }>('SELECT to_regclass(quote_ident($1)) IS NOT NULL AS present', [name])
  return rows[0]?.present ?? false
}
