import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { migrate } from '../../../src/app/database/schema/migrate.ts'
import { createApp } from '../../../src/app/start/app.ts'
import { BootRefusal } from '../../../src/app/boot-refusal.ts'
import { createLoggers } from '../../../src/app/logging/log.ts'
import { features } from '../../../src/features/index.ts'
import { testConfig } from '../../support/app.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { LineCollector } from '../../support/log-lines.ts'
import { environment } from '../../support/process.ts'
import { startProduct } from '../../support/product-process.ts'

const serve = ['serve'] as const

/** A migrated database of the test's own, changed by SQL. */
async function database(t: ExecutionContext, sql = 'SELECT 1'): Promise<TestDatabase> {
  const made = await testDatabase()
  t.teardown(made.drop)
  await inDatabase(made.superuser, (client) => client.query(sql))
  return made
}

function folder(t: ExecutionContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'gatehouse-guard-'))
  t.teardown(() => rmSync(made, { recursive: true }))
  return made
}

const settings = (t: ExecutionContext, { config }: TestDatabase, env: Readonly<Record<string, string>>): Record<string, string> => ({
  ...environment(config),
  DATA_DIR: folder(t),
  PORT: '0',
  ...env,
})

interface Refused {
  readonly code: string
  readonly sql?: string
  readonly env?: Readonly<Record<string, string>>
  readonly message: RegExp
}

const deployed = { migrates: false, deployed: true }

const refusals: readonly Refused[] = [
  {
    code: 'release_too_old',
    sql: `UPDATE release_state SET min_app_version = '1.12.1'`,
    message: /^release 1\.12\.0 is older than this database accepts, which is 1\.12\.1 or later: run release 1\.12\.1/,
  },
  {
    code: 'chart_missing',
    env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
    message: /needs a chart >=1\.6\.0, and DEPLOYMENT_CHART is not set/,
  },
  {
    code: 'wrong_key',
    sql: `INSERT INTO instance_secrets (name, wrapped, kek_fingerprint) VALUES ('api_key_pepper', '\\x00', 'of-another-key')`,
    message: /^the encryption key is not the one that this database was sealed with: set ENCRYPTION_KEY to that key/,
  },
  {
    code: 'postgresql_too_old',
    sql: `CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS
            $$ SELECT CASE $1 WHEN 'server_version' THEN '13.2' ELSE '130002' END $$;
          DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`,
    message: /^PostgreSQL 13\.2 is too old: version 14 or newer is needed$/,
  },
  ...['123456789012', 'ada@example.com ok', 'default-organisation'].map((password) => ({
    code: 'weak_owner_password' as const,
    env: { INIT_OWNER_EMAIL: 'ada@example.com', INIT_OWNER_PASSWORD: password },
    message: /^INIT_OWNER_PASSWORD cannot be used\. (?:This|A) password/,
  })),
  { code: 'unknown_level', env: { RELEASE_LEVEL: '1.9.7' }, message: /RELEASE_LEVEL is 1\.9\.7.*set it to one of 1\.3\.0, / },
  {
    code: 'unknown_level',
    env: { RELEASE_LEVEL: '2.0.0' },
    message: /RELEASE_LEVEL is 2\.0\.0, and this is release [\d.]+: remove it, or/,
  },
]

for (const { code, sql, env, message } of refusals)
  test(`serve refuses: ${code} ${JSON.stringify(env)}`, async (t) => {
    const config = testConfig(await database(t, sql), { DATA_DIR: folder(t), ROLES: 'control', ...env })
    const app = await createApp(config, features, { loggers: createLoggers(config, new LineCollector()), mode: deployed })
    t.teardown(() => app.drain({ now: true }))
    await t.throwsAsync(app.started, { instanceOf: BootRefusal, code, message })
  })

const ends = test.macro<[Refused]>({
  async exec(t, { code, sql, env = {}, message }) {
    const product = startProduct(settings(t, await database(t, sql), env), serve)
    t.is(await product.exit(), 78, product.output())
    const [forPrograms = '', forPeople] = product.output().trimEnd().split('\n').slice(-2)
    const told = JSON.parse(forPrograms) as Record<string, unknown>
    t.like(told, { level: 'fatal', code, exit_code: 78 })
    t.regex(String(told['msg']), message)
    t.is(forPeople, `Gatehouse does not start: ${String(told['msg'])}.`)
  },
  title: (_, { code, env = {} }) => `serve ends with 78, a line for programs and a line for people: ${code} ${JSON.stringify(env)}`,
})

test(ends, {
  code: 'chart_too_old',
  env: { DEPLOYMENT_CHART: 'app-1.5.1' },
  message: /^release 1\.12\.0 needs a chart >=1\.6\.0, and app-1\.5\.1 deployed it: deploy it with the chart app-1\.6\.0 or a later one/,
})
test(ends, {
  code: 'release_too_old',
  sql: `UPDATE release_state SET min_app_version = '1.13.0'`,
  env: { WORKERS: '2' },
  message: /which is 1\.13\.0 or later/,
})

test('CHART_CHECK=warn goes on, and says so', async (t) => {
  const env = settings(t, await database(t), {
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    DEPLOYMENT_CHART: 'app-1.5.1',
    CHART_CHECK: 'warn',
    WORKERS: '2',
  })
  const product = startProduct(env, serve)
  t.teardown(() => product.child.kill('SIGKILL'))
  await product.until(/"level":"warn".*"code":"chart_too_old"[^\n]*\n[\s\S]*Gatehouse is ready/)
  product.child.kill('SIGTERM')
  t.is(await product.exit(), 0)
})

test('serve waits for the schema, live and not ready, and goes on by itself', async (t) => {
  const empty = await testDatabase({ empty: true })
  t.teardown(empty.drop)
  const config = testConfig(empty, { DATA_DIR: folder(t), ROLES: 'control,jobs' })
  const lines = new LineCollector()
  const app = await createApp(config, features, { loggers: createLoggers(config, lines), mode: deployed })
  t.teardown(() => app.drain({ now: true }))
  const { port } = await app.listen()
  const ask = async (at: string) => {
    const { status, text } = await send(`http://127.0.0.1:${port}${at}`)
    return { status, body: JSON.parse(text) }
  }
  const told = /waiting for "gatehouse migrate": the schema lacks v01\.03\.00\/001-tenancy, /
  await eventually(async () => told.test((await ask('/readyz')).body.checks.migrations.detail), 10_000, 'the reason')
  const waiting = await ask('/readyz')
  t.like(waiting, { status: 503, body: { status: 'not_ready', version: config.version, level: null, finalized_level: null } })
  t.is((await ask('/healthz')).status, 200)
  t.like(await ask('/v1/health'), { status: 200, body: { version: config.version, level: null } })
  t.is((await ask('/v1/logs')).status, 503)
  t.is(lines.parsed.filter(({ msg }) => told.test(String(msg))).length, 1)

  const { host, port: databasePort, user, name, password } = empty.config
  await migrate({ host, port: databasePort, user, database: name, password: password?.reveal() }, silent)
  await app.started
  t.like(await ask('/readyz'), { status: 200, body: { level: config.version, finalized_level: config.version } })
})

test('a level that is finalized while the process runs is taken in, and so is that it is outdated', async (t) => {
  const made = await database(t, `UPDATE release_state SET level = '1.11.2', min_app_version = '1.11.2'`)
  const config = testConfig(made, { DATA_DIR: folder(t), ROLES: 'control' })
  const lines = new LineCollector()
  const app = await createApp(config, features, { loggers: createLoggers(config, lines) })
  t.teardown(() => app.drain({ now: true }))
  const { port } = await app.listen()
  const { deps } = await app.started
  t.is(deps.level.release, '1.11.2')
  t.true(deps.level.atLeast('1.11.2'))
  t.false(deps.level.atLeast('1.12.0'))
  const described = async () => JSON.parse((await send(`http://127.0.0.1:${port}/openapi.json`)).text).info.version
  t.is(await described(), '1.11.2')
  await inDatabase(made.superuser, (client) => client.query(`UPDATE release_state SET level = '1.13.0', min_app_version = '1.13.0'`))
  await eventually(() => deps.level.atLeast('1.12.0'), 10_000, 'the level')
  t.is(deps.level.release, '1.12.0')
  t.is(await described(), '1.12.0')
  await eventually(() => lines.parsed.some(({ msg }) => /finalized for a later release/.test(String(msg))), 10_000, 'the error')
})
