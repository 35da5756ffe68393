import test from 'ava'
import { defineEntity, p } from '@mikro-orm/core'
import type { MikroORM } from '@mikro-orm/postgresql'
import { connect } from '../../../src/app/database/connect.ts'
import { createdAt, id } from '../../../src/app/database/columns.ts'
import { assertRowLevelSecurity } from '../../../src/app/database/guard.ts'
import { migrate } from '../../../src/app/database/schema/migrate.ts'
import { asSystem, inTenant, openOrm, tenantFilter } from '../../../src/app/database/orm.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'

/** A stand-in for the features' entities, with all kinds of columns. */
const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    slug: p.string().length(255),
    name: p.string().length(255),
    usageLimits: p.json<readonly unknown[]>().default('[]'),
    createdAt: createdAt(),
  },
})

const [alpha, beta] = [uuidv7(), uuidv7()]

async function open(database: TestDatabase, poolSize = 5): Promise<MikroORM> {
  const { login, runtime } = await connect(database.config, silent)
  await migrate(login, silent)
  return openOrm({ client: runtime, poolSize, entities: [Workspace] })
}

/** Two organisations with two workspaces each, of the same slugs. */
async function seed(orm: MikroORM): Promise<void> {
  for (const organisationId of [alpha, beta]) {
    await asSystem(orm, (em) =>
      em.execute('INSERT INTO organisations (id, slug, name) VALUES (?, ?, ?)', [organisationId, organisationId, 'An organisation']),
    )
    await inTenant(orm, organisationId, async (em) => {
      for (const slug of ['first', 'second'])
        em.persist(em.create(Workspace, { organisationId, slug, name: slug, usageLimits: [{ a: 1 }] }))
    })
  }
}

const logins = [
  ['a plain login', false],
  ['a superuser login', true],
] as const

for (const [name, asSuperuser] of logins) {
  test(`${name}: each wall holds without the other`, async (t) => {
    const database = await testDatabase({ asSuperuser, empty: asSuperuser })
    const orm = await open(database)
    t.teardown(() => orm.close().then(database.drop))
    await assertRowLevelSecurity(orm)
    await seed(orm)
    const ownRows = async (options: { readonly filters?: false } = {}) =>
      (await inTenant(orm, alpha, (em) => em.find(Workspace, {}, options))).map(({ organisationId }) => organisationId)

    t.deepEqual(await ownRows(), [alpha, alpha], 'both walls')
    t.deepEqual(await ownRows({ filters: false }), [alpha, alpha], 'row-level security alone')
    const filterAlone = await asSystem(orm, async (em) => {
      em.setFilterParams('tenant', { organisationId: alpha })
      return (await em.find(Workspace, {})).map(({ organisationId }) => organisationId)
    })
    t.deepEqual(filterAlone, [alpha, alpha], 'the filter alone')
    t.is((await asSystem(orm, (em) => em.find(Workspace, {}))).length, 4, 'the process itself sees all')
  })

  test(`${name}: a tenant cannot write, move or delete rows of another`, async (t) => {
    const database = await testDatabase({ asSuperuser, empty: asSuperuser })
    const orm = await open(database)
    t.teardown(() => orm.close().then(database.drop))
    await seed(orm)
    const asAlpha = (sql: string, values: readonly unknown[] = []) =>
      inTenant(orm, alpha, (em) => em.execute<{ affectedRows: number }>(sql, [...values], 'run'))
    const insert = `INSERT INTO workspaces (id, organisation_id, slug, name) VALUES (?, ?, 'third', 'Third')`
    await t.throwsAsync(asAlpha(insert, [uuidv7(), beta]), { message: /row-level security policy/ })
    await t.throwsAsync(asAlpha('UPDATE workspaces SET organisation_id = ?', [beta]), { message: /row-level security policy/ })
    t.is((await asAlpha(`UPDATE workspaces SET name = 'Taken' WHERE organisation_id = ?`, [beta])).affectedRows, 0)
    t.is((await asAlpha('DELETE FROM workspaces WHERE organisation_id = ?', [beta])).affectedRows, 0)
    t.is((await asAlpha(`UPDATE workspaces SET name = 'Mine'`)).affectedRows, 2)
  })
}

test('outside a tenant the filter throws and the database shows nothing', async (t) => {
  const database = await testDatabase()
  const orm = await open(database)
  t.teardown(() => orm.close().then(database.drop))
  await seed(orm)
  await t.throwsAsync(orm.em.fork().find(Workspace, {}), { message: /tenant/ })
  t.deepEqual(await orm.em.fork().find(Workspace, {}, { filters: false }), [])
})

test('1000 interleaved transactions of two tenants on four connections never see each other, also after failures', async (t) => {
  const database = await testDatabase()
  const orm = await open(database, 4)
  t.teardown(() => orm.close().then(database.drop))
  await seed(orm)
  const one = async (index: number) => {
    const tenant = index % 2 === 0 ? alpha : beta
    const work = inTenant(orm, tenant, async (em) => {
      const rows = await em.execute<{ organisation_id: string }[]>('SELECT organisation_id FROM workspaces')
      if (index % 7 === 0) throw new Error('on purpose')
      return rows.length === 2 && rows.every((row) => row.organisation_id === tenant)
    })
    return index % 7 === 0
      ? work.then(
          () => false,
          (error: unknown) => error instanceof Error && error.message === 'on purpose',
        )
      : work
  }
  const queue = Array.from({ length: 1000 }, (_, index) => index)
  const results: boolean[] = []
  const worker = async () => {
    for (let index = queue.pop(); index !== undefined; index = queue.pop()) results.push(await one(index))
  }
  await Promise.all(Array.from({ length: 4 }, worker))
  t.is(results.length, 1000)
  t.true(results.every(Boolean))
  const rows = await orm.em.fork().execute<unknown[]>('SELECT 1 FROM workspaces')
  t.deepEqual(rows, [], 'no connection carries a tenant on')
})

test('raw SQL, the query builder and entities share the transaction of the tenant', async (t) => {
  const database = await testDatabase()
  const orm = await open(database)
  t.teardown(() => orm.close().then(database.drop))
  await seed(orm)
  interface Tables {
    readonly workspaces: { readonly slug: string; readonly organisation_id: string }
  }
  const failed = inTenant(orm, alpha, async (em) => {
    await em.execute(`UPDATE workspaces SET name = 'Raw'`)
    t.deepEqual(
      (await em.find(Workspace, {})).map(({ name }) => name),
      ['Raw', 'Raw'],
    )
    t.is((await em.getKysely<Tables>().selectFrom('workspaces').select(['slug', 'organisation_id']).execute()).length, 2)
    throw new Error('undo')
  })
  await t.throwsAsync(failed, { message: 'undo' })
  t.deepEqual((await inTenant(orm, alpha, (em) => em.find(Workspace, {}))).map(({ name }) => name).toSorted(), ['first', 'second'])
})

const guard = test.macro(async (t, sql: string, expected: RegExp) => {
  const database = await testDatabase()
  const { runtime } = await connect(database.config, silent)
  const orm = await openOrm({ client: runtime, poolSize: 1, entities: [] })
  t.teardown(() => orm.close().then(database.drop))
  await assertRowLevelSecurity(orm)
  await inDatabase(database.superuser, (client) => client.query(sql))
  await t.throwsAsync(assertRowLevelSecurity(orm), { message: expected })
})

test(
  'guard: security switched off',
  guard,
  'ALTER TABLE api_keys DISABLE ROW LEVEL SECURITY',
  /table api_keys has not ENABLE ROW LEVEL SECURITY/,
)
test(
  'guard: security not forced',
  guard,
  'ALTER TABLE api_keys NO FORCE ROW LEVEL SECURITY',
  /table api_keys has not FORCE ROW LEVEL SECURITY/,
)
test('guard: no policy', guard, 'DROP POLICY tenant ON api_keys', /table api_keys has no policy/)
test(
  'guard: a new table',
  guard,
  'CREATE TABLE forgotten (organisation_id uuid)',
  /table forgotten has no policy; table forgotten has not ENABLE .*; table forgotten has not FORCE/,
)
test(
  'guard: another schema',
  guard,
  'CREATE SCHEMA other CREATE TABLE forgotten (organisation_id uuid)',
  /table other\.forgotten has not ENABLE/,
)
test(
  'guard: a partition',
  guard,
  `SELECT ensure_log_partitions('2026-01-02'); ALTER TABLE logs_20260102 DISABLE ROW LEVEL SECURITY`,
  /refusing to start: table logs_20260102 has not ENABLE ROW LEVEL SECURITY$/,
)

test('guard: a role that bypasses row-level security', async (t) => {
  const database = await testDatabase({ asSuperuser: true })
  const { login } = await connect(database.config, silent)
  const orm = await openOrm({ client: login, poolSize: 1, entities: [] })
  t.teardown(() => orm.close().then(database.drop))
  await t.throwsAsync(assertRowLevelSecurity(orm), { message: /the role postgres bypasses it/ })
})

test('a partition made later is reached through its parent only', async (t) => {
  const database = await testDatabase({ asSuperuser: true, empty: true })
  const orm = await open(database)
  t.teardown(() => orm.close().then(database.drop))
  await seed(orm)
  await asSystem(orm, (em) => em.execute(`SELECT ensure_log_partitions('2026-01-02')`))
  await assertRowLevelSecurity(orm)
  const insert = `INSERT INTO log_bodies (id, organisation_id, created_at, request_headers, response_headers, request_truncated, response_truncated)
    VALUES (?, ?, '2026-01-02T03:04:05Z', '{}', '{}', false, false)`
  await asSystem(orm, (em) => em.execute(insert, [uuidv7(), alpha]))
  const count = (tenant: string, table: string) =>
    inTenant(orm, tenant, async (em) => (await em.execute<unknown[]>(`SELECT 1 FROM ${table}`)).length)
  t.is(await count(alpha, 'log_bodies'), 1)
  t.is(await count(beta, 'log_bodies'), 0)
  t.is(await count(alpha, 'log_bodies_20260102'), 0)
})
