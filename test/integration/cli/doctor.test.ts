import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import test from 'ava'
import { startApp } from '../../support/app.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { settingsFor, temporaryFolder } from '../../support/preflight.ts'
import { freePort } from '../../../src/app/database/embedded/port.ts'
import { environment } from '../../support/process.ts'

interface Report {
  readonly ok: boolean
  readonly troubles: readonly { readonly id: string; readonly severity: string; readonly what: string; readonly fix: string }[]
}

async function doctor(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Report & { readonly status: number | null }> {
  const { status, stdout, stderr } = await gatehouseHere(['doctor', '--json', ...args], { env })
  if (stdout === '') throw new Error(stderr)
  return { status, ...(JSON.parse(stdout) as Report) }
}

test('the forward proxies in effect, without their credentials', async (t) => {
  const env = {
    DATA_DIR: temporaryFolder(t),
    HTTPS_PROXY: 'http://me:hunter2@proxy.example:3128',
    NO_PROXY: 'localhost, 10.0.0.0/8',
  }
  const { stdout } = await gatehouseHere(['doctor', '--no-process'], { env })
  t.true(
    stdout
      .replaceAll('\n', ' ')
      .startsWith(
        'Gatehouse calls https:// by http://proxy.example:3128 (HTTPS_PROXY, with credentials) and http:// directly. Always directly: localhost, 10.0.0.0/8 (NO_PROXY). PROXY_NAMES is checked.',
      ),
    stdout,
  )
  t.false(stdout.includes('hunter2'))
  const { proxies } = JSON.parse((await gatehouseHere(['doctor', '--no-process', '--json'], { env })).stdout) as Record<string, unknown>
  t.deepEqual(proxies, {
    https: { url: 'http://proxy.example:3128', credentials: true },
    http: null,
    direct: ['localhost', '10.0.0.0/8'],
    names: 'checked',
  })
})

/** Effects of other tests on the server that they share with this one. */
const ofTheServer: ReadonlySet<string> = new Set(['postgres-connections', 'postgres-long-transactions'])

test('an installation that is well, and then is not', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const app = await startApp({ database })
  t.teardown(() => app.stop())
  const env = { ...environment(database.config), DATA_DIR: app.config.dataDir }
  let well = await gatehouseHere(['doctor', '--url', app.baseUrl], { env })
  const found = () =>
    [...well.stdout.matchAll(/^(?:WRONG|CAREFUL) +(\S+)$/gm)].map(([, id = '']) => id).filter((id) => !ofTheServer.has(id))
  // An app that has just started may still wait for connections while other tests start theirs.
  await eventually(async () => {
    if (found().length > 0) well = await gatehouseHere(['doctor', '--url', app.baseUrl], { env })
    return found().length === 0
  }, 30_000).catch(() => t.fail(well.stdout))
  t.is(well.stderr, 'asking the process\nchecking what it needs\n')

  app.deps.metrics.measure('gateway_log_spool_bytes', () => 900 * 1024 * 1024)
  app.deps.metrics.measure('gateway_log_spool_dropped_total', () => 3, { kind: 'record' })
  app.deps.metrics.measure('gateway_db_pool_waiting', () => 2)
  app.deps.metrics.measure('gateway_log_store_failing', () => 1)
  app.deps.metrics.measure('gateway_log_store_waiting', () => 7)
  app.deps.metrics.measure('gateway_secrets_failing', () => 2)
  app.deps.metrics.measure('gateway_secrets_stale', () => 1)
  app.deps.metrics.jobRan('prune', 'failed')
  writeFileSync(path.join(app.config.dataDir, 'journal', 'rejected.bad'), 'x')
  await inDatabase(database.superuser, (client) =>
    client.query(`INSERT INTO backfill_state (id, error) VALUES ('v01.05.00/002-paths', 'out of disk')`),
  )
  let ill = await doctor(['--url', app.baseUrl], env)
  const troubles = () => ill.troubles.filter(({ id }) => !ofTheServer.has(id)).map(({ id, severity }) => `${severity} ${id}`)
  // The figures of the look before are given out again within their second.
  await eventually(async () => {
    if (troubles().length < 8) ill = await doctor(['--url', app.baseUrl], env)
    return troubles().length >= 8
  }, 30_000).catch(() => {})
  t.deepEqual(troubles(), [
    'error journal-backlog',
    'error journal-dropped',
    'warning pool-exhausted',
    'warning jobs-failed',
    'warning secrets-failing',
    'warning log-store-failing',
    'warning backfills-finished',
    'warning journal-rejected',
  ])
  t.is(ill.status, 1)
  t.regex(ill.troubles[0]?.what ?? '', /^Request logs wait on disk .* Seen: 900 of 1024 MiB\.$/)
  t.regex(ill.troubles.find(({ id }) => id === 'log-store-failing')?.what ?? '', / Seen: bodies of 7 logs wait\.$/)
  t.regex(
    ill.troubles.find(({ id }) => id === 'secrets-failing')?.what ?? '',
    / Seen: 2 cannot be read, 1 of them are served as they were\.$/,
  )
  t.true(ill.troubles.every(({ what, fix }) => what.length > 20 && fix.length > 10))
})

/** A price list of one model. */
const listAt = (input: number) =>
  JSON.stringify(
    { schema: 1, provider: 'openai', currency: 'USD', unit: 'pUSD', models: { mine: { prices: [{ rates: { input } }] } } },
    null,
    2,
  )

test('processes that hold different price lists are told, with who holds which', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const apps = []
  for (const price of [1, 1, 2]) {
    const folder = temporaryFolder(t)
    writeFileSync(path.join(folder, 'openai.json'), listAt(price))
    const app = await startApp({ database, env: { MODEL_CONFIGS_PRICING_LOCAL_PATH: folder } })
    t.teardown(() => app.stop())
    await app.deps.catalogue.ready('pricing', 'openai')
    await app.deps.catalogue.ready('pricing', 'a-name-that-callers-chose')
    apps.push(app)
  }
  const [first, same, other] = apps.map(({ baseUrl }) => baseUrl) as [string, string, string]
  const env = { ...environment(database.config), DATA_DIR: apps[0]?.config.dataDir ?? '' }
  const differing = async (...urls: readonly string[]) =>
    (
      await doctor(
        urls.flatMap((url) => ['--url', url]),
        env,
      )
    ).troubles.filter(({ id }) => id === 'price-lists-differ')
  t.deepEqual(await differing(first, same), [])
  const [told, ...more] = await differing(first, same, other)
  t.deepEqual(more, [])
  t.like(told, { severity: 'warning' })
  const seen = / Seen: pricing local openai: ([0-9a-f]{16}) at (\S+), (\S+); ([0-9a-f]{16}) at (\S+)\.$/.exec(told?.what ?? '')
  t.deepEqual(
    seen?.filter((_, at) => [2, 3, 5].includes(at)),
    [first, same, other],
    told?.what,
  )
  t.not(seen?.[1], seen?.[4])
  const { text } = await send(`${first}/metrics`, {})
  t.deepEqual(
    [...text.matchAll(/^gateway_price_list_info\{kind="(\w+)",layer="(\w+)",provider="(\w+)",digest="[0-9a-f]+"\} 1$/gm)].map(
      ([, ...labels]) => labels.join(' '),
    ),
    ['pricing local openai', 'pricing built_in all'],
  )
})

test('a sealed process, and a database that is away', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const first = await startApp({ database })
  await first.stop()
  const app = await startApp({ database, env: { ENCRYPTION_KEY: '' } })
  t.teardown(() => app.stop())
  const env = { ...environment(database.config), DATA_DIR: temporaryFolder(t), ENCRYPTION_KEY: '' }
  const { status, troubles } = await doctor(['--url', app.baseUrl], env)
  t.is(status, 1)
  t.deepEqual(
    troubles.map(({ id, severity }) => `${severity} ${id}`),
    ['error readyz-encryption-key', 'error encryption-key'],
  )
  t.regex(troubles[0]?.what ?? '', /^There is no encryption key\. Seen: missing_key\.$/)
  const away = await doctor(['--url', app.baseUrl], { ...env, DB_PORT: String(await freePort()) })
  t.true(away.troubles.some(({ id, what }) => id === 'postgres-connection' && what.startsWith('Nothing listens at 127.0.0.1')))
})

test('no process: what lies on disk, and what is not Gatehouse', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const env = settingsFor(t, database.config)
  const folder = path.join(env['DATA_DIR'] ?? '', 'journal', 'writer')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, '0000000001.00ff.seg'), 'x')
  const silent = await gatehouseHere(['doctor', '--url', `http://127.0.0.1:${await freePort()}`], { env })
  t.is(silent.status, 1)
  t.regex(
    silent.stdout,
    /^WRONG {2}process-silent\n {2}No process answers at the address that was asked\. Seen: http:\/\/127\.0\.0\.1:\d+\.\n {2}-> Is it running\?/,
  )
  t.regex(silent.stdout, /\n\nCAREFUL {2}journal-orphans\n/)
  t.deepEqual(
    (await doctor(['--no-process'], env)).troubles.map(({ id }) => id),
    ['journal-orphans'],
  )
  t.is((await doctor(['--no-process', '--strict'], env)).status, 1)

  const other = createServer((_, res) => res.end('hello')).listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const foreign = await doctor(['--url', `http://127.0.0.1:${port}`], env)
  t.is(foreign.troubles[0]?.id, 'process-foreign')
})

test('settings that cannot be used do not keep the doctor from looking', async (t) => {
  const { status, troubles } = await doctor([], { PORT: 'many', DATA_DIR: temporaryFolder(t) })
  t.is(status, 1)
  t.deepEqual(
    troubles.map(({ id }) => id),
    ['settings'],
  )
})

test('every word is explained', async (t) => {
  const sealed = await gatehouseHere(['doctor', '--explain', 'sealed'])
  t.is(sealed.status, 0)
  t.regex(sealed.stdout, /^sealed: an error code of an answer\n {2}The process has no encryption key/)
  t.regex((await gatehouseHere(['doctor', '--explain', 'wrong_key'])).stdout, /a reason why a start fails[\s\S]*a reason to be sealed/)
  t.regex((await gatehouseHere(['doctor', '--explain', 'volumes-writable'])).stdout, /^volumes-writable: a check of "gatehouse preflight"/)
  const unknown = await gatehouseHere(['doctor', '--explain', 'toString'])
  t.is(unknown.status, 2)
  t.regex(unknown.stderr, /^error: toString is not known; these can be explained: AB01, /)
})

test('what is asked of the command line or the disk and cannot be is told in one line', async (t) => {
  const folder = temporaryFolder(t)
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['doctor', '--url', '127.0.0.1:8787'], 2, /^error: 127\.0\.0\.1:8787 is no address of a process: write it as http:/],
    [['doctor', '--url', 'nonsense'], 2, /^error: nonsense is no address/],
    [['support-bundle', '--url', 'ftp://x', '-o', path.join(folder, 'b.tar')], 2, /^error: ftp:\/\/x is no address/],
  ]
  for (const [args, status, message] of cases) {
    const told = await gatehouseHere(args, { env: { DATA_DIR: folder } })
    t.is(told.status, status, args.join(' '))
    t.regex(told.stderr, message)
  }
})
