import type { Client } from 'pg'
import { appRole } from '../../../app/database/app-role.ts'
import { codeOf } from '../../../app/database/connection-error.ts'
import { fail, ok, type Check, type Verdict } from '../check.ts'
import { NotPossible } from '../not-possible.ts'

interface Facts {
  readonly login: string
  readonly schema: string | null
  readonly creates: boolean | null
  readonly bypasses: boolean
  readonly makesRoles: boolean
  readonly hasAppRole: boolean
  readonly readOnly: boolean
  readonly foreign: readonly string[]
}

/** Checks that the login has the rights of migrations and of the running process. */
export const privilegesCheck: Check = {
  id: 'postgres-privileges',
  about: 'The login may create tables in its schema and owns the tables of Gatehouse. It needs no superuser rights.',
  remedy: 'Make the login the owner of the database: `ALTER DATABASE gatehouse OWNER TO gatehouse`.',
  quick: false,
  async run(stage) {
    const { client, config } = await stage.database()
    const facts = await readFacts(client)
    return judge(facts, config.name) ?? (await tryToCreate(client, facts))
  },
}

function judge(facts: Facts, database: string): Verdict | null {
  const { login, schema, creates, bypasses, makesRoles, hasAppRole, readOnly, foreign } = facts
  const owner = `ALTER DATABASE "${database}" OWNER TO "${login}"`
  if (readOnly)
    return fail('every transaction of this login is read-only', `Run: ALTER ROLE "${login}" RESET default_transaction_read_only`)
  if (schema === null)
    return fail(`the search_path of ${login} names no schema that exists`, `Run: ALTER ROLE "${login}" RESET search_path`)
  if (creates !== true)
    return fail(
      `${login} may not create tables in the schema ${schema}`,
      `Run: GRANT CREATE ON SCHEMA ${schema} TO "${login}", or ${owner}`,
    )
  if (foreign.length > 0) {
    const named = `${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ` and ${foreign.length - 3} more` : ''}`
    return fail(
      `${login} does not own ${named}, and so cannot migrate them`,
      `Run as a superuser, in this database: REASSIGN OWNED BY <their owner> TO "${login}"`,
    )
  }
  if (bypasses && !makesRoles && !hasAppRole)
    return fail(
      `${login} bypasses row-level security, and may not make the role ${appRole} that Gatehouse would step down to`,
      `Use a plain login (ALTER ROLE "${login}" NOBYPASSRLS), or run: CREATE ROLE ${appRole} NOLOGIN; GRANT ${appRole} TO "${login}"`,
    )
  return null
}

/** Creates a table to try the rights: triggers and storage may still refuse although the catalogues allow it. */
async function tryToCreate(client: Client, { login, schema, bypasses }: Facts): Promise<Verdict> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '2s'; CREATE TABLE gatehouse_preflight (); ROLLBACK`)
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    const reason = error instanceof Error ? error.message : String(error)
    return fail(
      `${login} cannot create a table: ${reason}`,
      `Mend the fault that PostgreSQL reports (${codeOf(error)}), and run this again.`,
    )
  }
  return ok(`${login} creates tables in ${schema}${bypasses ? `, and the running process steps down to ${appRole}` : ''}`)
}

async function readFacts(client: Client): Promise<Facts> {
  const { rows } = await client.query<Facts>(query, [appRole])
  const [facts] = rows
  if (facts === undefined) throw new NotPossible('the role of the login is not in pg_roles')
  return facts
}

/** Tables count as ours only where the migrations were. */
const query = `
  SELECT rolname AS login, current_schema() AS schema, has_schema_privilege(current_schema(), 'CREATE') AS creates,
         rolsuper OR rolbypassrls AS bypasses, rolsuper OR rolcreaterole AS "makesRoles",
         coalesce(pg_has_role(current_user, to_regrole($1), 'MEMBER'), false) AS "hasAppRole",
         current_setting('transaction_read_only')::boolean AS "readOnly",
         ARRAY(SELECT c.relname::text FROM pg_class c
                WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                  AND to_regclass('schema_migrations') IS NOT NULL AND NOT pg_has_role(c.relowner, 'USAGE')
                ORDER BY c.relname) AS "foreign"
    FROM pg_roles WHERE rolname = current_user`
