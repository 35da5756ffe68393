import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { testDatabase } from '../../test/support/database.ts'
import { freePort } from '../../src/app/database/embedded/port.ts'
import { startContainer, unpack, type Container } from './container.ts'
import type { Built } from './build.ts'
import type { Report } from '../report.ts'

const adminKey = 'gh-an-admin-key-of-the-image-check-00000000000'
const encryptionKey = Buffer.alloc(32, 7).toString('base64')
const readyWithinMs = 60_000
/** A user unknown to the image, as some clusters give each namespace one. */
const stranger = 1_234_560_000

/** Runs the images as their operators do. */
export async function checkContainers({ work, built, report }: { work: string; built: Built; report: Report }): Promise<void> {
  const { release, evaluation } = built
  const version = (await readFile(path.join(release, 'SHA256SUMS'), 'utf8')).match(/([\d.]+)\.lock\.json$/m)?.[1] ?? ''
  const image = await report.check('the image unpacks', () => unpack(path.join(release, 'oci'), path.join(work, 'release')))
  if (image === null) return
  await report.check('gatehouse is a command of it', async () => {
    const container = await startContainer(image, { args: ['--version'] })
    assert.equal(await container.exit(), 0, container.output())
    assert.equal(container.output().trim(), version)
  })
  await report.check('migrate and serve on a PostgreSQL, as uid 10001 and as any user of group 0', () => onDatabase(image, version))
  await report.check('without DB_HOST it ends with 78, and says in one line what to do', async () => {
    const container = await startContainer(image, { args: ['serve'] })
    assert.equal(await container.exit(), 78, container.output())
    const told = container
      .output()
      .split('\n')
      .filter((line) => line.startsWith('Gatehouse does not start: '))
    assert.equal(told.length, 1, container.output())
    assert.match(told[0] ?? '', /DB_HOST is not set.*-evaluation/)
  })
  if (evaluation !== null) await checkEvaluation(await unpack(path.join(evaluation, 'oci'), path.join(work, 'trial')), report)
}

async function checkEvaluation(image: string, report: Report): Promise<void> {
  await report.check('an evaluation without a database and without any network', () => evaluate(image))
  await report.check('an evaluation as a user without a name is refused with what to do', async () => {
    const container = await startContainer(image, { args: ['serve'], uid: stranger })
    assert.notEqual(await container.exit(), 0)
    assert.match(container.output(), /DB_HOST/)
  })
}

/** Node as the first process, only the volume to write to, no capability, no new rights. */
const confinement = `
  import { readFileSync, writeFileSync } from 'node:fs'
  const refused = ['/app/x', '/usr/x', '/x', '/etc/x'].map((file) => { try { writeFileSync(file, ''); return 'written' } catch ({ code }) { return code } })
  writeFileSync('/data/written', '')
  const status = readFileSync('/proc/1/status', 'utf8')
  const program = readFileSync('/proc/1/cmdline', 'utf8').split('\\0')[0]
  const field = (name) => new RegExp('^' + name + ':\\\\s*(\\\\S+)', 'm').exec(status)[1]
  console.log(JSON.stringify({ refused, uid: Number(field('Uid')), gid: Number(field('Gid')), capabilities: field('CapEff'), privileges: field('NoNewPrivs'), program }))`

async function onDatabase(image: string, version: string): Promise<void> {
  const database = await testDatabase({ empty: true })
  try {
    const { host, port, user, password, name } = database.config
    const settings = {
      DB_HOST: host,
      DB_PORT: String(port),
      DB_USER: user,
      DB_PASS: password?.reveal() ?? '',
      DB_NAME: name,
      DB_SSL: 'DISABLED',
      ENCRYPTION_KEY: encryptionKey,
      INIT_ADMIN_API_KEY: adminKey,
      DRAIN_DELAY: '0s',
    }
    const run = async (...args: readonly string[]) => {
      const container = await startContainer(image, { args, env: settings, network: true })
      assert.equal(await container.exit(), 0, container.output())
      return container.output()
    }
    assert.match(await run('migrate'), /Applied v01\.03\.00\//)
    assert.match(await run('migrate'), /up to date/)
    const client = new Client(database.superuser)
    await client.connect()
    const { rows } = await client.query<{ tables: number }>("SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'")
    await client.end()
    assert.ok((rows[0]?.tables ?? 0) > 10, 'the schema is there')
    for (const uid of [10_001, stranger]) {
      const free = await freePort()
      const env = { ...settings, HOST: '127.0.0.1', PORT: String(free) }
      const container = await startContainer(image, { args: ['serve'], uid, env, network: true })
      await serves(container, { origin: `http://127.0.0.1:${free}`, version })
      const { refused, ...confined } = JSON.parse(await container.run(confinement)) as { refused: string[] }
      assert.deepEqual(refused, ['EROFS', 'EROFS', 'EROFS', 'EROFS'])
      assert.deepEqual(confined, { uid, gid: 0, capabilities: '0000000000000000', privileges: '1', program: '/usr/local/bin/node' })
      assert.equal(await container.stop(), 0, container.output())
    }
  } finally {
    await database.drop()
  }
}

async function serves(container: Container, { origin, version }: { origin: string; version: string }): Promise<void> {
  await until(container, () => fetch(`${origin}/readyz`).then(({ ok }) => ok))
  const health = (await (await fetch(`${origin}/v1/health`)).json()) as { version?: string }
  assert.equal(health.version, version)
  const listed = await fetch(`${origin}/v1/integrations`, { headers: { 'x-service-api-key': adminKey } })
  assert.equal(listed.status, 200)
}

/** Asked from inside, because no port leads in. */
async function evaluate(image: string): Promise<void> {
  const container = await startContainer(image, { args: ['serve'], env: { INIT_ADMIN_API_KEY: adminKey } })
  const ask = (at: string) =>
    container.run(`console.log((await fetch('http://127.0.0.1:8787${at}', { headers: { 'x-service-api-key': '${adminKey}' } })).status)`)
  await until(container, async () => (await ask('/readyz')) === '200')
  assert.equal(await ask('/v1/integrations'), '200')
  assert.equal(await container.stop(), 0, container.output())
}

async function until(container: Container, done: () => Promise<boolean>): Promise<void> {
  const over = AbortSignal.timeout(readyWithinMs)
  const ended = container.exit().then(() => true)
  while (!over.aborted && !(await Promise.race([ended, delay(100, false)]))) if (await done().catch(() => false)) return
  throw new Error(`it is not ready:\n${container.output().slice(-3000)}`)
}
