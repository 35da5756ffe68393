import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Client } from 'pg'
import pino from 'pino'
import { BootRefusal } from '../../src/app/boot-refusal.ts'
import { startEmbedded, type EmbeddedDatabase } from '../../src/app/database/embedded/embedded.ts'
import { findBinaries } from '../../src/app/database/embedded/binaries.ts'
import { waitForExit } from '../../src/app/database/embedded/process.ts'

const log = pino({ level: 'silent' })

test('a fresh start gives a plain login that owns its database', async (t) => {
  const dataDir = await emptyFolder(t)
  const database = await start(t, dataDir)
  const [role] = await query(
    database,
    'SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls FROM pg_roles WHERE rolname = current_user',
  )
  t.deepEqual(role, { rolname: 'gatehouse', rolsuper: false, rolcreatedb: false, rolcreaterole: false, rolbypassrls: false })
  await query(database, 'CREATE TABLE own (id int)')
  const [version] = await query(database, "SELECT current_setting('server_version_num')::int >= 140000 AS recent")
  t.deepEqual(version, { recent: true })
})

test('it listens on the loopback address only, and asks for a password', async (t) => {
  const database = await start(t, await emptyFolder(t))
  const settings = await query(
    asSuperuser(database),
    "SELECT current_setting('listen_addresses') AS tcp, current_setting('unix_socket_directories') AS unix",
  )
  t.deepEqual(settings, [{ tcp: '127.0.0.1', unix: '' }])
  await t.throwsAsync(query({ ...database, password: 'wrong' }, 'SELECT 1'), { message: /password authentication failed/ })
})

test('the passwords are in a file that only its owner reads', async (t) => {
  const dataDir = await emptyFolder(t)
  const database = await start(t, dataDir)
  const file = path.join(dataDir, 'postgres', 'logins.json')
  t.is((await stat(file)).mode & 0o777, 0o600)
  t.true((await readFile(file, 'utf8')).includes(database.superuser.password))
})

test('a second start finds the data and the same port', async (t) => {
  const dataDir = await emptyFolder(t)
  const first = await start(t, dataDir)
  await query(first, 'CREATE TABLE kept AS SELECT 42 AS answer')
  await first.stop()
  await t.throwsAsync(query(first, 'SELECT 1'), { code: 'ECONNREFUSED' })
  const second = await start(t, dataDir)
  t.deepEqual(await query(second, 'SELECT answer FROM kept'), [{ answer: 42 }])
  t.is(second.port, first.port)
})

test('a database that a killed process left running is adopted, and stopped by its adopter', async (t) => {
  const dataDir = await emptyFolder(t)
  const owner = await startProcess(t, dataDir)
  const pid = await postmaster(dataDir)
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  const adopter = await start(t, dataDir)
  t.is(await postmaster(dataDir), pid)
  await adopter.stop()
  t.true(await waitForExit(pid, 0))
})

test('a start after the database and its process were both killed recovers', async (t) => {
  const dataDir = await emptyFolder(t)
  const owner = await startProcess(t, dataDir)
  const pid = await postmaster(dataDir)
  owner.kill('SIGKILL')
  process.kill(pid, 'SIGKILL')
  const database = await start(t, dataDir)
  t.not(await postmaster(dataDir), pid)
  t.deepEqual(await query(database, 'SELECT 1 AS one'), [{ one: 1 }])
})

test('a postmaster that dies under us comes back on the same port with its data', async (t) => {
  const dataDir = await emptyFolder(t)
  const back = Promise.withResolvers<void>()
  const database = await start(t, dataDir)
  await query(database, 'CREATE TABLE kept AS SELECT 42 AS answer')
  process.kill(await postmaster(dataDir), 'SIGKILL')
  const tries = setInterval(
    () =>
      void query(database, 'SELECT answer FROM kept').then(
        () => back.resolve(),
        () => undefined,
      ),
    50,
  )
  await back.promise
  clearInterval(tries)
  t.deepEqual(await query(database, 'SELECT answer FROM kept'), [{ answer: 42 }])
})

test('a pid file that names a process of somebody else is stale', async (t) => {
  const dataDir = await emptyFolder(t)
  await (await start(t, dataDir)).stop()
  const file = path.join(dataDir, 'postgres', 'data', 'postmaster.pid')
  await writeFile(file, `${process.pid}\n${path.dirname(file)}\n1\n1\n\n127.0.0.1\n 1 1\nready\n`)
  const database = await start(t, dataDir)
  t.not(await postmaster(dataDir), process.pid)
  t.deepEqual(await query(database, 'SELECT 1 AS one'), [{ one: 1 }])
})

test('two that start at once share one database, and the last to leave stops it', async (t) => {
  const dataDir = await emptyFolder(t)
  const [other, mine] = await Promise.all([startProcess(t, dataDir), start(t, dataDir)])
  const pid = await postmaster(dataDir)
  await mine.stop()
  t.deepEqual(await query(mine, 'SELECT 1 AS one'), [{ one: 1 }])
  other.kill('SIGTERM')
  await once(other, 'exit')
  t.true(await waitForExit(pid, 0))
})

test('a linked data folder is the folder it links to', async (t) => {
  const folder = await emptyFolder(t)
  await mkdir(path.join(folder, 'real'))
  await symlink(path.join(folder, 'real'), path.join(folder, 'link'))
  const first = await start(t, path.join(folder, 'real'))
  const second = await start(t, path.join(folder, 'link'))
  t.is(second.port, first.port)
})

test('an initialisation that was killed half-way is started over', async (t) => {
  const dataDir = await emptyFolder(t)
  const abandoned = path.join(dataDir, 'postgres.new-2147483646')
  await mkdir(abandoned)
  await start(t, dataDir)
  await t.throwsAsync(stat(abandoned), { code: 'ENOENT' })
})

test('a server that cannot start says why', async (t) => {
  const dataDir = await emptyFolder(t)
  await (await start(t, dataDir)).stop()
  await writeFile(path.join(dataDir, 'postgres', 'data', 'postgresql.auto.conf'), 'no_such_setting = 1\n')
  await t.throwsAsync(startEmbedded({ dataDir, log }), { message: /no_such_setting/ })
})

test('a file of passwords that cannot be read is named', async (t) => {
  const dataDir = await emptyFolder(t)
  await (await start(t, dataDir)).stop()
  await writeFile(path.join(dataDir, 'postgres', 'logins.json'), '{')
  await t.throwsAsync(startEmbedded({ dataDir, log }), { message: /passwords .* cannot be read from .*logins\.json/ })
})

test('an unsupported platform is told to set DB_HOST', (t) => {
  t.throws(() => findBinaries('plan9-mips'), { message: /no embedded PostgreSQL for plan9-mips.*Set DB_HOST/ })
})

test("an image without a PostgreSQL says so in one line, and one with Debian's starts that", async (t) => {
  const image = await emptyFolder(t)
  t.throws(() => findBinaries('linux-x64', image), {
    instanceOf: BootRefusal,
    message: /^DB_HOST is not set, and this image brings no PostgreSQL: set DB_HOST .* -evaluation$/,
  })
  const bin = path.join(image, 'postgres', 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(path.join(bin, 'postgres'), '')
  t.deepEqual(findBinaries('linux-x64', image), { folder: bin, postgres: path.join(bin, 'postgres'), initdb: path.join(bin, 'initdb') })
})

const asSuperuser = (database: EmbeddedDatabase) => ({ ...database, ...database.superuser })

async function emptyFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-embedded-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

async function start(t: ExecutionContext, dataDir: string): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ dataDir, log })
  t.teardown(() => database.stop())
  return database
}

async function startProcess(t: ExecutionContext, dataDir: string) {
  const script = path.join(import.meta.dirname, '..', 'support', 'embedded-process.ts')
  const owner = spawn(process.execPath, [script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => owner.kill('SIGKILL'))
  await once(owner.stdout, 'data')
  return owner
}

async function postmaster(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(path.join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8'), 10)
}

async function query(database: Pick<EmbeddedDatabase, 'host' | 'port' | 'user' | 'password' | 'name'>, sql: string): Promise<unknown[]> {
  const { host, port, user, password, name } = database
  const client = new Client({ host, port, user, password, database: name })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
