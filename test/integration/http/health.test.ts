import test from 'ava'
import { features } from '../../../src/features/index.ts'
import { createApp } from '../../../src/app/start/app.ts'
import { createLoggers } from '../../../src/app/logging/log.ts'
import type { DatabaseConfig } from '../../../src/config/config.ts'
import { startApp, testConfig } from '../../support/app.ts'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { send } from '../../support/http.ts'
import { LineCollector } from '../../support/log-lines.ts'

const jsonAt = async (url: string) => {
  const answer = await send(url)
  return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.text) }
}

test('/v1/health names the service; /readyz lists its checks', async (t) => {
  const app = await startApp()
  t.teardown(() => app.stop())
  const health = await jsonAt(`${app.baseUrl}/v1/health`)
  t.is(health.status, 200)
  t.like(health.body, { service: 'gatehouse', status: 'ok', version: app.config.version })
  const ready = await jsonAt(`${app.baseUrl}/readyz`)
  t.is(ready.status, 200)
  t.deepEqual(ready.body.checks, {
    database: { status: 'pass' },
    migrations: { status: 'pass' },
    snapshot: { status: 'pass' },
    encryption_key: { status: 'pass' },
    journal: { status: 'pass' },
    draining: { status: 'pass' },
  })
})

test('before the database is there: alive, not ready, 503 and never 401', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const config = testConfig(database, { DATA_DIR: '/tmp/gatehouse-never-written' })
  const prepared = Promise.withResolvers<DatabaseConfig>()
  const app = await createApp(config, features, { loggers: createLoggers(config, new LineCollector()), prepared: prepared.promise })
  t.teardown(() => app.drain({ now: true }))
  const { port } = await app.listen()
  const base = `http://127.0.0.1:${port}`
  t.is((await jsonAt(`${base}/healthz`)).status, 200)
  t.is((await jsonAt(`${base}/v1/health`)).status, 200)
  const ready = await jsonAt(`${base}/readyz`)
  t.is(ready.status, 503)
  t.like(ready.body, { status: 'not_ready', checks: { database: { status: 'fail', detail: 'waiting for the database' } } })
  const headers = { 'x-service-api-key': 'gh-any-key-at-all-00000000000000000000000' }
  for (const path of ['/v1/api-keys', '/v1/chat/completions']) {
    const answer = await send(base + path, { headers })
    t.is(answer.status, 503, path)
    t.is(JSON.parse(answer.text).error.code, 'dependency_unavailable')
    t.is(answer.headers['retry-after'], '2')
  }
  const messages = await send(`${base}/v1/messages`, { method: 'POST', headers })
  t.like(JSON.parse(messages.text), { type: 'error', error: { type: 'overloaded_error', code: 'dependency_unavailable' } })
  t.is((await send(`${base}/openapi.json`)).status, 200)
  prepared.reject(new Error('it never comes'))
  await t.throwsAsync(app.started, { message: 'it never comes' })
})

test('without its encryption key: sealed, and it says so', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  await (await startApp({ database })).stop()
  const app = await startApp({ database, env: { ENCRYPTION_KEY: Buffer.alloc(32, 8).toString('base64') } })
  t.teardown(() => app.stop())
  const ready = await jsonAt(`${app.baseUrl}/readyz`)
  t.is(ready.status, 503)
  t.deepEqual(ready.body.checks.encryption_key, { status: 'fail', detail: 'wrong_key' })
  t.is((await send(`${app.baseUrl}/healthz`)).status, 200)
  for (const path of ['/v1/api-keys', '/v1/chat/completions']) {
    const answer = await send(app.baseUrl + path, { headers: { 'x-service-api-key': app.adminKey } })
    t.is(answer.status, 503)
    t.is(JSON.parse(answer.text).error.code, 'sealed')
  }
})

test('the database goes away: a warning while views may serve, 503 within two seconds for what needs it, and all well after', async (t) => {
  const app = await startApp()
  t.teardown(() => app.stop())
  const list = () => send(`${app.baseUrl}/v1/api-keys`, { headers: { 'x-service-api-key': app.adminKey } })
  t.is((await list()).status, 200)
  const { database: name, ...server } = app.database.superuser
  const admin = { ...server, database: 'postgres' }
  await inDatabase(admin, (client) => client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`))
  await inDatabase(admin, (client) => client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, [name]))
  const begun = performance.now()
  const answer = await list()
  t.true(performance.now() - begun < 2500)
  t.is(answer.status, 503, answer.text)
  t.is(JSON.parse(answer.text).error.code, 'dependency_unavailable')
  t.true(Number(answer.headers['retry-after']) > 0)
  const ready = await jsonAt(`${app.baseUrl}/readyz`)
  t.is(ready.body.checks.database.status, 'warn')
  t.regex(ready.body.checks.database.detail, /has not answered for \d+ ms/)
  t.is(ready.status, 200)
  const unknown = await send(`${app.baseUrl}/v1/api-keys`, { headers: { 'x-service-api-key': 'gh-never-seen-0000000000000000000000000' } })
  t.is(unknown.status, 503)
  await inDatabase(admin, (client) => client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`))
  t.is(await untilStatus(200, list), 200)
})

/** Asks until the status is there, for ten seconds at most. */
async function untilStatus(status: number, ask: () => Promise<{ readonly status: number }>): Promise<number> {
  const deadline = performance.now() + 10_000
  for (;;) {
    const answer = await ask()
    if (answer.status === status || performance.now() > deadline) return answer.status
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('/metrics speaks Prometheus and counts the data plane', async (t) => {
  const app = await startApp()
  t.teardown(() => app.stop())
  await send(`${app.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': 'gh-wrong-0000000000000000000000000000000' },
  })
  await send(`${app.baseUrl}/v1/chat/completions`, { method: 'POST', headers: { 'x-service-api-key': app.workspaceKey } })
  const { text, headers } = await send(`${app.baseUrl}/metrics`)
  t.regex(String(headers['content-type']), /^text\/plain; version=0\.0\.4/)
  t.regex(text, /^gateway_requests_total\{[^}]*status_class="4xx"[^}]*\} 1$/m)
  t.regex(text, /^gateway_auth_failures_total\{reason="unknown"\} 1$/m)
  t.regex(text, new RegExp(`^gateway_build_info\\{version="${app.config.version}"\\} 1$`, 'm'))
  t.regex(text, /^gateway_db_pool_in_use \d+$/m)
  t.regex(text, /^gateway_migrations_pending 0$/m)
  t.regex(text, /^process_cpu_seconds_total /m)
  t.notRegex(text, /gh-wrong|gh-test/)
})

test('clocks that differ are a warning, and the process stays ready', async (t) => {
  const app = await startApp({ overrides: { clock: { now: () => Date.now() + 400 * 86_400_000 } } })
  t.teardown(() => app.stop())
  const { status, body } = await jsonAt(`${app.baseUrl}/readyz`)
  t.is(status, 200)
  t.is(body.checks.clock.status, 'warn')
  t.regex(body.checks.clock.detail, /ahead of that of the database; no data is deleted/)
})
