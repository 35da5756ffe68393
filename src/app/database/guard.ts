import type { MikroORM } from '@mikro-orm/postgresql'
import { asSystem } from './orm.ts'

/** Refuses to start when row-level security would not hold: names every table (partitions too) that lacks it, or the role that bypasses it. */
export async function assertRowLevelSecurity(orm: MikroORM): Promise<void> {
  const faults = await asSystem(orm, (em) => em.execute<{ fault: string }[]>(findFaults))
  if (faults.length === 0) return
  throw new Error(`row-level security does not hold, refusing to start: ${faults.map(({ fault }) => fault).join('; ')}`)
}

/** A partition needs no policy of tenants: it is reached through its parent, whose policy then applies. Its own one is for the scope of the system. */
const findFaults = `
  WITH business AS (
    SELECT c.oid, c.oid::regclass::text AS name, c.relrowsecurity, c.relforcerowsecurity, c.relispartition
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
       AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organisation_id' AND NOT a.attisdropped))
  SELECT format('the role %s bypasses it (superuser or BYPASSRLS)', rolname) AS fault FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)
  UNION ALL SELECT format('table %s has not ENABLE ROW LEVEL SECURITY', name) FROM business WHERE NOT relrowsecurity
  UNION ALL SELECT format('table %s has not FORCE ROW LEVEL SECURITY', name) FROM business WHERE NOT relforcerowsecurity
  UNION ALL SELECT format('table %s has no policy', name) FROM business WHERE NOT relispartition AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = business.oid)
  ORDER BY fault`
