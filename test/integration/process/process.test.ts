import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { testDatabase, type TestDatabase } from '../../support/database.ts'
import { programFile } from '../../support/program.ts'
import { send } from '../../support/http.ts'
import { startProduct, type ProductProcess } from '../../support/product-process.ts'

const adminKey = 'gh-given-organisation-admin-key-00000000001'

async function settings({ config }: TestDatabase): Promise<Record<string, string>> {
  return {
    DB_HOST: config.host,
    DB_PORT: String(config.port),
    DB_USER: config.user,
    DB_PASS: config.password?.reveal() ?? '',
    DB_NAME: config.name,
    DB_SSL: 'DISABLED',
    DATA_DIR: await mkdtemp(join(tmpdir(), 'gatehouse-process-')),
    PORT: '0',
    DRAIN_DELAY: '0',
    ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  }
}

async function start(t: ExecutionContext, env: Readonly<Record<string, string>>): Promise<{ product: ProductProcess; base: string }> {
  const product = startProduct(env)
  t.teardown(() => product.child.kill('SIGKILL'))
  const [, base = ''] = await product.until(/Base URL: (http:\/\/127\.0\.0\.1:\d+)\/v1/)
  return { product, base }
}

/** Asserts that a failed start ended with JSON for programs, then one line for people, and no more. */
function lastTwoLines(t: ExecutionContext, product: ProductProcess, expected: { readonly code: string; readonly message: RegExp }): void {
  const [forPrograms = '', forPeople] = product.output().trimEnd().split('\n').slice(-2)
  const told = JSON.parse(forPrograms) as Record<string, unknown>
  t.like(told, { level: 'fatal', code: expected.code, exit_code: 1 })
  t.regex(String(told['msg']), expected.message)
  t.is(forPeople, `Gatehouse does not start: ${String(told['msg'])}.`)
}

test('wrong settings are all named at once, and the exit code says so', async (t) => {
  const product = startProduct({ PORT: 'eighty', LOG_LEVEL: 'loud', WORKERS: '-1', DB_PASSWORD: 'x' })
  t.is(await product.exit(), 78)
  for (const name of ['PORT', 'LOG_LEVEL', 'WORKERS']) t.regex(product.output(), new RegExp(`\\b${name}\\b.*Example: ${name}=`))
  t.regex(product.output(), /warning: DB_PASSWORD is not a setting; did you mean DB_PASS\?/)
  const [told = '', forPeople] = product.output().trimEnd().split('\n').slice(-5)
  t.like(JSON.parse(told), { code: 'settings_unusable', exit_code: 78, settings: ['PORT', 'WORKERS', 'LOG_LEVEL'] })
  t.is(forPeople, 'Gatehouse does not start: 3 settings cannot be used:')
})

test('the first start shows the keys once, outside the log; SIGTERM ends in order', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const env = await settings(database)
  const first = await start(t, { ...env, LOG_LEVL: 'debug' })
  const [, admin = ''] = await first.product.until(/admin key: (gh-\w+)/)
  const [, workspace = ''] = await first.product.until(/workspace key: +(gh-\w+)/)
  const listed = await send(`${first.base}/v1/api-keys`, { headers: { 'x-service-api-key': admin } })
  t.is(listed.status, 200, listed.text)
  const logLines = first.product
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  t.false(logLines.some((line) => line.includes(admin) || line.includes(workspace) || line.includes(env['ENCRYPTION_KEY'] ?? '-')))
  t.true(logLines.some((line) => line.includes('LOG_LEVL is not a setting; did you mean LOG_LEVEL?')))
  first.product.child.kill('SIGTERM')
  t.is(await first.product.exit(), 0)
  t.regex(first.product.output(), /"msg":"drained"/)

  const second = await start(t, env)
  t.notRegex(second.product.output(), /admin key:/)
  t.is((await send(`${second.base}/v1/api-keys`, { headers: { 'x-service-api-key': admin } })).status, 200)
  second.product.child.kill('SIGINT')
  t.is(await second.product.exit(), 0)
})

/** Runs a line of the screen in a shell, as a person does who pastes it. */
const paste = (line: string | undefined) =>
  execFileSync('sh', ['-c', line ?? ''], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], OPENAI_API_KEY: 'sk-of-nobody' },
    stdio: 'pipe',
  })

test('with LOG_FILE the log goes there, and the screen shows the steps, the keys, and three calls that work when pasted', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const env = await settings(database)
  const file = join(env['DATA_DIR'] ?? '', 'logs', 'gatehouse.log')
  const { product, base } = await start(t, { ...env, LOG_FILE: file })
  await product.until(/3\. Read the log, a moment later\n +curl .*\n/)
  const screen = product.output()
  t.deepEqual(screen.match(/^- .*$/gm), ['- starting', '- listening', '- ready'])
  t.notRegex(screen, /^\{/m)
  t.true(screen.includes(`Log: ${file}`))
  const calls = [...screen.matchAll(/^ {2}curl .*$/gm)].map(([line]) => line)
  t.is(calls.length, 3)
  t.like(JSON.parse(paste(calls[0])), { slug: 'openai-prod' })
  t.true(calls[1]?.startsWith(`  curl ${base}/v1/chat/completions `))
  t.like(JSON.parse(paste(calls[2])), { object: 'list' })
  product.child.kill('SIGTERM')
  t.is(await product.exit(), 0)
  const logged = (await readFile(file, 'utf8')).trimEnd().split('\n')
  t.like(JSON.parse(logged[0] ?? ''), { msg: 'starting' })
  t.true(logged.some((line) => line.includes('"log_type":"access"')))

  const refused = startProduct({ ...env, LOG_FILE: '/proc/gatehouse/gatehouse.log' })
  t.is(await refused.exit(), 78)
  t.regex(refused.output(), /LOG_FILE cannot be written to \(ENOENT/)
})

test('below the release at which an account brings a provider, the screen shows the call that makes one', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const { product } = await start(t, { ...(await settings(database)), RELEASE_LEVEL: '1.11.1' })
  await product.until(/3\. Read the log, a moment later\n +curl .*\n/)
  const [account, provider] = [...product.output().matchAll(/^ {2}curl .*$/gm)].map(([line]) => line)
  t.like(JSON.parse(paste(account)), { slug: 'openai-prod' })
  t.like(JSON.parse(paste(provider)), { slug: 'openai-prod' })
  t.regex(product.output(), /Sign in: \S+\/console/)
  t.regex(product.output(), /keys create workspace service --name "Another key" --scopes all/)
})

test('a given first key is used and not shown', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const { product, base } = await start(t, { ...(await settings(database)), INIT_ADMIN_API_KEY: adminKey })
  await product.until(/admin key: \(the value of INIT_ADMIN_API_KEY\)/)
  t.false(product.output().includes(adminKey))
  t.is((await send(`${base}/v1/api-keys`, { headers: { 'x-service-api-key': adminKey } })).status, 200)
})

test('a DATA_DIR below /proc, where no folder can be made, ends the start at once', async (t) => {
  const product = startProduct({ DATA_DIR: '/proc/gatehouse', PORT: '0' })
  t.is(await product.exit(), 1)
  lastTwoLines(t, product, { code: 'data_dir_unusable', message: /^the folder cannot be made .*Set DATA_DIR/ })
})

test('a DATA_DIR that is a file is told in words', async (t) => {
  const file = join(await mkdtemp(join(tmpdir(), 'gatehouse-process-')), 'file')
  await writeFile(file, '')
  const product = startProduct({ DATA_DIR: file, PORT: '0' })
  t.is(await product.exit(), 1)
  lastTwoLines(t, product, { code: 'data_dir_unusable', message: /^the folder cannot be made .*Set DATA_DIR/ })
})

test('a port that is taken and a password that is wrong end the process with a clear message', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const env = await settings(database)
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.teardown(() => taken.close())
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? String(address.port) : ''
  const blocked = startProduct({ ...env, PORT: port })
  t.is(await blocked.exit(), 1)
  lastTwoLines(t, blocked, { code: 'address_in_use', message: /^something else listens at 127\.0\.0\.1:\d+\. End it, or set PORT$/ })
  const elsewhere = startProduct({ ...env, HOST: '192.0.2.1' })
  t.is(await elsewhere.exit(), 1)
  lastTwoLines(t, elsewhere, { code: 'address_unavailable', message: /^192\.0\.2\.1 is no address of this machine\. Set HOST/ })
  const stranger = startProduct({ ...env, DB_PASS: 'wrong' })
  t.is(await stranger.exit(), 1)
  lastTwoLines(t, stranger, { code: 'start_failed', message: /check DB_USER and DB_PASS/ })
})

test('a process without its encryption key says that it is sealed, not that it is ready', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const { product } = await start(t, { ...(await settings(database)), ENCRYPTION_KEY: '' })
  t.regex(product.output(), /Gatehouse is sealed: it lacks the right encryption key, and answers 503/)
  t.notRegex(product.output(), /Gatehouse is ready/)
})

test('workers share the port and the work; one that dies is replaced; all end in order', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const { product, base } = await start(t, { ...(await settings(database)), WORKERS: '2', INIT_ADMIN_API_KEY: adminKey })
  await product.until(/admin key: \(the value of INIT_ADMIN_API_KEY\)/)
  t.is((await send(`${base}/v1/api-keys`, { headers: { 'x-service-api-key': adminKey } })).status, 200)
  for (let at = 0; at < 6; at++) {
    await send(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-service-api-key': 'gh-wrong-000000000000000000000000000000000' },
    })
  }
  const { text } = await send(`${base}/metrics`)
  t.regex(text, /^gateway_auth_failures_total\{reason="unknown"\} 6$/m)
  t.regex(text, /^gateway_build_info\{version="[\d.]+"\} 1$/m)
  // The primary alone runs jobs and backfills; its figures stand beside those of the workers.
  t.is(text.match(/^# HELP gateway_job_runs_total /gm)?.length, 1)
  t.regex(text, /^gateway_backfills_pending 0$/m)
  const [victim] = await workersOf(product.child.pid)
  process.kill(victim ?? 0, 'SIGKILL')
  await product.until(/"msg":"a worker died"[\s\S]*"serving":2,"msg":"a worker serves"/)
  product.child.kill('SIGTERM')
  t.is(await product.exit(), 0)
  t.is(product.output().match(/"msg":"drained"/g)?.length, 2)
})

/** The process ids of the children that run the product. */
async function workersOf(parent: number | undefined): Promise<readonly number[]> {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/))
  return rows.filter(([, ppid, ...args]) => Number(ppid) === parent && args.includes(programFile('main'))).map(([pid]) => Number(pid))
}
