import type { MikroORM } from '@mikro-orm/postgresql'
import type { JsonPath } from '../../lib/json/json-path.ts'
import { SecretTextType } from '../database/secret-text.ts'
import type { Vault } from '../secrets/vault.ts'
import type { AuditRow } from './chain.ts'
import { hashing, requestPlace, withoutSecrets, type Place, type Replace } from './mask.ts'
import type { RequestSchemas } from './write.ts'

/** The columns of a row that may contain secrets. */
export const redactableColumns = ['query', 'request_headers', 'request_body', 'before', 'after', 'related', 'error'] as const

/** The knowledge of this version about secrets in stored rows. */
export interface CleaningRules {
  readonly replace: Replace
  /** Returns the schemas of the route that a row is about. */
  readonly schemasOf: (row: Pick<AuditRow, 'method' | 'uri'>) => RequestSchemas
  /** The secret columns of tables, by the name of the table. */
  readonly secretColumns: ReadonlyMap<string, readonly string[]>
}

/** A row without the secrets that this version would not have written. A clean row stays equal. */
export function cleaning(row: AuditRow, { replace, schemasOf, secretColumns }: CleaningRules): AuditRow {
  const { query, body } = schemasOf(row)
  const clean = (value: unknown, place?: Place) => (value === null ? null : withoutSecrets(value, replace, place))
  const own = columnPlace(secretColumns.get(`${row.resource_type.replaceAll('-', '_')}s`) ?? [])
  return {
    ...row,
    query: clean(row.query, requestPlace(query)),
    request_headers: clean(row.request_headers),
    request_body: clean(row.request_body, requestPlace(body)),
    before: clean(row.before, own),
    after: clean(row.after, own),
    related: clean(row.related, relatedPlace(row.related, secretColumns)),
    error: clean(row.error),
  }
}

const columnPlace = (columns: readonly string[]): Place => ({ secret: false, paths: columns.map((column) => [column]) })

/** Related rows are a list of `{ table, id, before, after }`. */
function relatedPlace(related: unknown, secretColumns: CleaningRules['secretColumns']): Place {
  const rows: readonly unknown[] = Array.isArray(related) ? related : []
  const paths = rows.flatMap((one, at) => {
    const table: unknown = Reflect.get(Object(one), 'table')
    const columns = typeof table === 'string' ? (secretColumns.get(table) ?? []) : []
    return columns.flatMap((column): readonly JsonPath[] => [
      [at, 'before', column],
      [at, 'after', column],
    ])
  })
  return { secret: false, paths }
}

/** Replaces a secret by its keyed hash; a value that is such a hash already stays. */
export function hashingOnce(vault: Pick<Vault, 'hashKey'>): Replace {
  const hash = hashing(vault)
  return (secret) => /^(?:https?:\/\/[^/\s]+\/)?(hmac:[0-9a-f]{64})$/.exec(secret)?.[1] ?? hash(secret)
}

/** Returns the columns that entities call secret, by the name of their table. */
export function secretColumnsOf(orm: MikroORM): CleaningRules['secretColumns'] {
  const tables = [...orm.getMetadata().getAll().values()].map(({ tableName, props }) => {
    const columns = props.filter(({ customType }) => customType instanceof SecretTextType).flatMap(({ fieldNames }) => fieldNames)
    return [tableName, columns] as const
  })
  return new Map(tables.filter(([, columns]) => columns.length > 0))
}
