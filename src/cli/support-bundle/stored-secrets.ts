import type { MikroORM } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import type { KnownSecret } from '../../lib/text/secret-forms.ts'
import { parsed, textsIn } from './secrets.ts'

/** The secrets that the database holds sealed, and how many of them could not be opened. */
export interface StoredSecrets {
  readonly secrets: readonly KnownSecret[]
  readonly unopened: number
}

interface Column {
  readonly table: string
  readonly column: string
}

interface Row {
  readonly id: string
  readonly organisation: string
  readonly sealed: Uint8Array
}

const mostRows = 50_000

/** Opens all values that the vault sealed, in any table, so that no column can be forgotten here. */
export async function openStored(orm: MikroORM, vault: Vault): Promise<StoredSecrets> {
  const columns = await asSystem(orm, (em) => em.execute<Column[]>(sealedColumns))
  const secrets: KnownSecret[] = []
  let unopened = 0
  for (const { table, column } of columns) {
    const rows = await asSystem(orm, (em) => em.execute<Row[]>(readColumn({ table, column })))
    for (const { id, organisation, sealed } of rows) {
      const text = await vault.decrypt({ organisationId: organisation, table, column, rowId: id }, sealed).catch(() => null)
      if (text === null) unopened += 1
      else secrets.push(...[text, ...valuesIn(text)].map((value) => ({ value, label: `of ${table}` })))
    }
  }
  return { secrets, unopened }
}

/** Sealed documents hold secrets only. */
const valuesIn = (text: string): readonly string[] => textsIn(parsed(text), true)

/** Bytes in tables with tenants that are no hash, no log and no wrapped key: those of the vault. */
const sealedColumns = `
  SELECT c.relname AS table, a.attname AS column
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
   WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind = 'r' AND NOT c.relispartition
     AND a.atttypid = 'bytea'::regtype AND NOT a.attisdropped AND a.attname !~ 'hash$' AND c.relname NOT IN ('data_keys', 'instance_secrets')
     AND (SELECT count(*) FROM pg_attribute o WHERE o.attrelid = c.oid AND o.attname IN ('id', 'organisation_id')) = 2
   ORDER BY 1, 2`

/** A sealed value begins with the number of its format. */
const readColumn = ({ table, column }: Column) =>
  `SELECT id::text AS id, organisation_id::text AS organisation, "${column}" AS sealed FROM "${table}"
    WHERE "${column}" IS NOT NULL AND length("${column}") >= 33 AND get_byte("${column}", 0) = 1 LIMIT ${mostRows}`
