import type { Client } from 'pg'

/** The structure of a database as sorted lines, to compare two of them: columns, indexes, constraints, policies, triggers, functions, security flags. */
export async function describeSchema(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ line: string }>(`
    SELECT line FROM (
      SELECT format('column %s.%s %s null:%s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), NOT attnotnull, attgenerated, pg_get_expr(adbin, adrelid)) AS line
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
       WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
      UNION ALL SELECT format('index %s valid:%s', pg_get_indexdef(indexrelid), indisvalid) FROM pg_index JOIN pg_class c ON c.oid = indrelid WHERE c.relnamespace = 'public'::regnamespace
      UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
      UNION ALL SELECT format('policy %s %s %s %s', polrelid::regclass, polname, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy
      UNION ALL SELECT format('trigger %s', pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
      UNION ALL SELECT format('function %s', pg_get_functiondef(oid)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      UNION ALL SELECT format('security %s %s %s', oid::regclass, relrowsecurity, relforcerowsecurity) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
      UNION ALL SELECT format('applied %s %s', id, checksum) FROM schema_migrations
    ) all_lines ORDER BY line`)
  return rows.map(({ line }) => line)
}
