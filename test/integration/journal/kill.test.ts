import test from 'ava'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { temporaryDirectory, until } from '../../support/journal.ts'

let database: TestDatabase
const directory = temporaryDirectory()

test.before(async () => {
  database = await testDatabase()
})
test.after.always(async () => {
  directory.remove()
  await database.drop()
})

const writer = path.join(import.meta.dirname, '../../support/journal-writer.ts')
const rounds = 20

/** A writer that is killed `afterMs` after its first acknowledgement; resolves to all that it acknowledged. */
async function killedWriter(client: unknown, afterMs: number): Promise<string[]> {
  const child = spawn(process.execPath, [writer, JSON.stringify({ directory: directory.path, client })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(child.stdout, 'data')
  await sleep(afterMs)
  child.kill('SIGKILL')
  await once(child, 'close')
  return text.split('\n').slice(0, -1)
}

test('kill -9, again and again, of one or two processes: every acknowledged record is stored, and none twice', async (t) => {
  const { runtime } = await connect(database.config, silent)
  const acknowledged: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const writers = Array.from({ length: 1 + (round % 2) }, () => killedWriter(runtime, Math.random() * 250))
    acknowledged.push(...(await Promise.all(writers)).flat())
  }
  const shipper = startShipper({ directory: directory.path, database: database.config, client: runtime, log: silent })
  await until(() => readdirSync(directory.path).length === 0, 60_000)
  t.deepEqual({ ...shipper.stats(), adopted: 0 }, { shipped: 0, adopted: 0, rejected: 0, fault: null })
  await shipper.stop()

  const [logs, bodies, cursors] = await inDatabase(database.superuser, async (pg) => {
    const column = async (sql: string) => (await pg.query<{ id: string }>(sql)).rows.map(({ id }) => id)
    return [
      await column('SELECT id FROM logs'),
      await column('SELECT id FROM log_bodies'),
      await column('SELECT node AS id FROM journal_cursors'),
    ]
  })
  const [logIds, bodyIds] = [new Set(logs), new Set(bodies)]
  t.log(`${acknowledged.length} acknowledged, ${logs.length} stored`)
  t.true(acknowledged.length > rounds * 10)
  t.deepEqual(
    acknowledged.filter((id) => !logIds.has(id) || !bodyIds.has(id)),
    [],
  )
  t.deepEqual([logIds.size, bodyIds.size], [logs.length, bodies.length])
  t.deepEqual(cursors, [])
})
