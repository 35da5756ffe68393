import type { ClientBase } from 'pg'

/** The role of the running process when the login itself would bypass row-level security (a superuser). */
export const appRole = 'gatehouse_app'

/** Returns true if the login bypasses row-level security and this database lacks the role that it must drop to. */
export async function lacksAppRole(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ lacks: boolean }>(
    `SELECT (rolsuper OR rolbypassrls)
        AND NOT coalesce(has_table_privilege(to_regrole($1)::oid, to_regclass('schema_migrations')::oid, 'SELECT'), false) AS lacks
       FROM pg_roles WHERE rolname = current_user`,
    [appRole],
  )
  return rows[0]?.lacks ?? false
}

/**
 * Makes that role and grants it the data, not the structure; does nothing for a plain login. Roles belong to the whole server, so another database's
 * migrator may be making the same one at this moment.
 */
export async function ensureAppRole(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ bypasses: boolean; superuser: boolean; schema: string }>(
    `SELECT rolsuper OR rolbypassrls AS bypasses, rolsuper AS superuser, quote_ident(current_schema()) AS schema
       FROM pg_roles WHERE rolname = current_user`,
  )
  const [login] = rows
  if (login === undefined || !login.bypasses) return
  await client.query(createRole)
  if (!login.superuser) await client.query(joinRole)
  for (const statement of grants(login.schema)) await client.query(statement)
}

const createRole = `DO $$ BEGIN
  IF to_regrole('${appRole}') IS NULL THEN CREATE ROLE ${appRole} NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$`

const joinRole = `DO $$ BEGIN
  IF NOT pg_has_role(current_user, '${appRole}', 'MEMBER') THEN EXECUTE format('GRANT ${appRole} TO %I', current_user); END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$`

const grants = (schema: string): readonly string[] => [
  `GRANT USAGE ON SCHEMA ${schema} TO ${appRole}`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${appRole}`,
  `GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${appRole}`,
  `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${appRole}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${appRole}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT USAGE, SELECT ON SEQUENCES TO ${appRole}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT EXECUTE ON FUNCTIONS TO ${appRole}`,
  `REVOKE INSERT, UPDATE, DELETE ON ${schema}.schema_migrations FROM ${appRole}`,
  `DO $$ BEGIN
    IF to_regclass('${schema}.release_state') IS NOT NULL THEN
      REVOKE INSERT, UPDATE, DELETE ON ${schema}.release_state, ${schema}.release_history FROM ${appRole};
      GRANT UPDATE (encryption_key_fp, updated_at) ON ${schema}.release_state TO ${appRole};
    END IF;
  END $$`,
]
