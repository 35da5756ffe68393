import type { Client } from 'pg'

/**
 * The structure of a database as sorted lines, to compare two of them: types, columns with defaults and storage, sequences, views,
 * indexes, constraints, policies, triggers, functions, owners, grants, comments, security flags, and the migrations that made them.
 * Partitions are left out: they come and go with the days, and PostgreSQL keeps them like their parents.
 */
export async function describeSchema(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ line: string }>(`
    WITH relations AS (
      SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND NOT relispartition
    ), tables AS (SELECT * FROM relations WHERE relkind IN ('r', 'p'))
    SELECT line FROM (${parts.join(' UNION ALL ')}) all_lines WHERE line IS NOT NULL ORDER BY line`)
  return rows.map(({ line }) => line)
}

const grants = (acl: string, kind: string, owner: string) =>
  `(SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(coalesce(${acl}, acldefault('${kind}', ${owner}))) a)`

const parts: readonly string[] = [
  `SELECT format('relation %s %s persistence:%s owner:%s grants:%s options:%s partitioned:%s comment:%s', relkind, oid::regclass, relpersistence, relowner::regrole,
     ${grants('relacl', 'r', 'relowner')}, reloptions, pg_get_partkeydef(oid), obj_description(oid, 'pg_class')) AS line
     FROM relations WHERE relkind IN ('r', 'p', 'v', 'm', 'f')`,
  `SELECT format('security %s %s %s', oid::regclass, relrowsecurity, relforcerowsecurity) FROM tables`,
  `SELECT format('column %s.%s %s collation:%s null:%s generated:%s identity:%s default:%s statistics:%s storage:%s grants:%s comment:%s', attrelid::regclass, attname,
     format_type(atttypid, atttypmod), nullif(attcollation, 0)::regcollation, NOT attnotnull, attgenerated, attidentity, pg_get_expr(adbin, adrelid), attstattarget, attstorage,
     attacl, col_description(attrelid, attnum))
     FROM pg_attribute JOIN tables t ON t.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attnum > 0 AND NOT attisdropped`,
  `SELECT format('index %s valid:%s identity:%s', pg_get_indexdef(indexrelid), indisvalid, indisreplident) FROM pg_index JOIN relations r ON r.oid = indexrelid`,
  `SELECT format('constraint %s %s %s valid:%s', conrelid::regclass, conname, pg_get_constraintdef(c.oid), convalidated)
     FROM pg_constraint c LEFT JOIN pg_class t ON t.oid = conrelid WHERE connamespace = 'public'::regnamespace AND t.relispartition IS NOT TRUE`,
  `SELECT format('policy %s %s command:%s permissive:%s roles:%s using:%s check:%s', polrelid::regclass, polname, polcmd, polpermissive,
     ARRAY(SELECT CASE r WHEN 0 THEN 'public' ELSE r::regrole::text END FROM unnest(polroles) r ORDER BY 1), pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
     FROM pg_policy JOIN relations t ON t.oid = polrelid`,
  `SELECT format('trigger %s enabled:%s', pg_get_triggerdef(g.oid), tgenabled) FROM pg_trigger g JOIN relations r ON r.oid = tgrelid WHERE NOT tgisinternal`,
  `SELECT format('function %s owner:%s grants:%s', pg_get_functiondef(oid), proowner::regrole, ${grants('proacl', 'f', 'proowner')})
     FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind IN ('f', 'p')`,
  `SELECT format('sequence %s %s from %s by %s to %s cycle:%s grants:%s', seqrelid::regclass, format_type(seqtypid, NULL), seqstart, seqincrement, seqmax, seqcycle,
     ${grants('relacl', 's', 'relowner')}) FROM pg_sequence JOIN relations r ON r.oid = seqrelid`,
  `SELECT format('view %s %s', oid::regclass, pg_get_viewdef(oid)) FROM relations WHERE relkind IN ('v', 'm')`,
  `SELECT format('type %s %s %s %s', oid::regtype, typtype, format_type(nullif(typbasetype, 0), typtypmod),
     ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = y.oid ORDER BY enumsortorder)) FROM pg_type y WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd', 'r')`,
  `SELECT format('extension %s %s', extname, extversion) FROM pg_extension`,
  `SELECT format('schema %s owner:%s grants:%s', nspname, nspowner::regrole, ${grants('nspacl', 'n', 'nspowner')}) FROM pg_namespace
    WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'`,
  `SELECT format('default grants %s %s %s', defaclrole::regrole, defaclobjtype, ${grants('defaclacl', 'r', 'defaclrole')}) FROM pg_default_acl`,
  `SELECT format('applied %s %s', id, checksum) FROM schema_migrations`,
]
