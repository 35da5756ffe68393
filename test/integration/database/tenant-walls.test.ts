// Every table of every feature, with a row of each of 1,000 organisations: the rows that one of them sees through one wall alone.
import { randomUUID } from 'node:crypto'
import type { MikroORM } from '@mikro-orm/postgresql'
import test from 'ava'
import { connect } from '../../../src/app/database/connect.ts'
import { inTenant, openOrm } from '../../../src/app/database/orm.ts'
import { features } from '../../../src/features/index.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { fillTenantTables, type TenantTable } from '../../support/tenant-rows.ts'

const organisations = Array.from({ length: 1000 }, () => randomUUID())
const [alpha = '', beta = ''] = organisations
const entities = features.flatMap((feature) => feature.entities)

let database: TestDatabase
let tables: readonly TenantTable[]
/** As the process runs: row-level security holds. */
let secured: MikroORM
/** As a superuser, whom row-level security does not bind: only the filter is left. */
let filtered: MikroORM

test.before(async () => {
  database = await testDatabase()
  tables = await inDatabase(database.superuser, (client) => fillTenantTables(client, organisations))
  const { runtime } = await connect(database.config, silent)
  secured = await openOrm({ client: runtime, poolSize: 4, entities })
  filtered = await openOrm({ client: database.superuser, poolSize: 4, entities })
})
test.after.always(async () => {
  await Promise.all([secured?.close(true), filtered?.close(true)])
  await database?.drop()
})

/** The owners of the rows there, as the entity manager finds them. */
async function owners(orm: MikroORM, organisationId: string, { entity, filters }: { entity: (typeof entities)[number]; filters: boolean }) {
  return inTenant(orm, organisationId, async (em) => {
    const rows = await em.find<object>(entity.meta.class, {}, filters ? {} : { filters: false })
    return rows.map((row) => Reflect.get(row, 'organisationId') ?? Reflect.get(row, 'id'))
  })
}

test('there is something to see in every table', async (t) => {
  t.true(tables.length >= 30, String(tables.length))
  for (const { name } of tables) {
    const { rows } = await inDatabase(database.superuser, (client) => client.query(`SELECT count(*)::int AS n FROM ${name}`))
    t.true(rows[0].n >= organisations.length, name)
  }
  t.true(entities.length >= 25, String(entities.length))
})

test('row-level security alone: entities without their filter show one organisation', async (t) => {
  for (const entity of entities) {
    t.deepEqual(await owners(secured, alpha, { entity, filters: false }), [alpha], `${entity.meta.tableName} of one`)
    t.deepEqual(await owners(secured, beta, { entity, filters: false }), [beta], `${entity.meta.tableName} of another`)
  }
})

test('the filter alone: entities without row-level security show one organisation', async (t) => {
  for (const entity of entities) {
    t.deepEqual(await owners(filtered, alpha, { entity, filters: true }), [alpha], entity.meta.tableName)
    const all = await inTenant(filtered, alpha, (em) => em.count<object>(entity.meta.class, {}, { filters: false }))
    t.is(all, organisations.length, `${entity.meta.tableName}: nothing but the filter stands between`)
  }
})

const inAlpha = (sql: string, values: readonly unknown[]) =>
  inTenant(secured, alpha, (em) => em.execute<{ affectedRows: number }>(sql, [...values], 'run'))

test('row-level security alone: no row of another organisation is changed, deleted or planted, in any table', async (t) => {
  for (const { name, columns } of tables) {
    if (name !== 'organisations') {
      const changed = await inAlpha(`UPDATE ${name} SET organisation_id = ? WHERE organisation_id = ?`, [alpha, beta])
      t.is(changed.affectedRows, 0, `${name}: taken`)
      const kept = columns.filter((column) => column !== 'organisation_id').map((column) => `"${column}"`)
      const plant = `INSERT INTO ${name} (organisation_id, ${kept.join(', ')}) SELECT ?, ${kept.join(', ')} FROM ${name}`
      await t.throwsAsync(inAlpha(plant, [beta]), { message: /row-level security policy/ }, `${name}: planted`)
    }
    t.is((await inAlpha(`DELETE FROM ${name} WHERE organisation_id = ?`, [beta])).affectedRows, 0, `${name}: deleted`)
  }
})

/** Three tables of every tenant, so that each table has its turn with many. */
const turns = organisations.map((organisationId, at) => ({ organisationId, at }))

test('1,000 organisations take turns on four connections, and each sees itself alone by row-level security', async (t) => {
  const seen = await inParallel(turns, 4, ({ organisationId, at }) => {
    const names = [0, 1, 2].map((next) => tables[(at * 3 + next) % tables.length]?.name)
    const counts = names.map(
      (name) => `SELECT count(*)::int AS n, count(*) FILTER (WHERE organisation_id = '${organisationId}')::int AS own FROM ${name}`,
    )
    return inTenant(secured, organisationId, (em) => em.execute<{ n: number; own: number }[]>(counts.join(' UNION ALL ')))
  })
  t.is(seen.flat().length, 3000)
  t.deepEqual(
    seen.flat().filter(({ n, own }) => n !== 1 || own !== 1),
    [],
  )
})

test('1,000 organisations take turns on four connections, and each sees itself alone by the filter', async (t) => {
  const seen = await inParallel(turns, 4, async ({ organisationId, at }) => {
    const entity = entities[at % entities.length]
    if (entity === undefined) throw new Error('there is no entity')
    return (await owners(filtered, organisationId, { entity, filters: true })).join() === organisationId
  })
  t.is(seen.filter(Boolean).length, 1000)
})
