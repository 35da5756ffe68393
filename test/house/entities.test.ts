import test from 'ava'
import { Client } from 'pg'
import { connect } from '../../src/app/database/connect.ts'
import { openOrm } from '../../src/app/database/orm.ts'
import { entitiesOf } from '../../src/app/feature.ts'
import { features } from '../../src/features/index.ts'
import { silent, testDatabase } from '../support/database.ts'

interface Column {
  readonly table_name: string
  readonly column_name: string
  readonly udt_name: string
  readonly is_nullable: 'YES' | 'NO'
}

/** Column types of the entities, in PostgreSQL's short names. */
const shortNames: Readonly<Record<string, string>> = {
  'text[]': '_text',
  'double precision': 'float8',
  boolean: 'bool',
  int: 'int4',
  integer: 'int4',
  bigint: 'int8',
}
const shortName = (type: string) => shortNames[type] ?? type.replace(/\(.*\)/, '')

const database = await testDatabase()
test.after.always(() => database.drop())

test('every property of an entity is a column of its table, of the same type and nullability, and the reverse', async (t) => {
  const { runtime } = await connect(database.config, silent)
  const orm = await openOrm({ client: runtime, poolSize: 1, entities: entitiesOf(features) })
  const client = new Client(database.superuser)
  await client.connect()
  const { rows } = await client.query<Column>(
    "SELECT table_name, column_name, udt_name, is_nullable FROM information_schema.columns WHERE table_schema = 'public' AND is_generated = 'NEVER'",
  )
  await client.end()
  const metas = [...orm.getMetadata().getAll().values()].filter((meta) => !meta.abstract && !meta.embeddable)
  t.true(metas.length >= 6)
  for (const meta of metas) {
    const columns = rows.filter((row) => row.table_name === meta.tableName)
    const inTable = columns.map((row) => `${row.column_name} ${row.udt_name}${row.is_nullable === 'YES' ? ' null' : ''}`)
    const inEntity = meta.props
      .filter((property) => property.persist !== false && property.generated === undefined)
      .flatMap((property) =>
        property.fieldNames.map(
          (name, i) => `${name} ${shortName(property.columnTypes[i] ?? '')}${property.nullable === true ? ' null' : ''}`,
        ),
      )
    t.deepEqual(inEntity.toSorted(), inTable.toSorted(), meta.tableName)
  }
  await orm.close(true)
})
