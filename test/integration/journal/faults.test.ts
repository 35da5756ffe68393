import test from 'ava'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import path from 'node:path'
import type { ClientConfig } from 'pg'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import { inDatabase, silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { exchangeBodies, exchangeRecord, temporaryDirectory, until } from '../../support/journal.ts'

let database: TestDatabase
let client: ClientConfig

test.before(async () => {
  database = await testDatabase()
  client = (await connect(database.config, silent)).runtime
})
test.after.always(() => database.drop())

const stored = (traceId: string) =>
  inDatabase(database.superuser, async (pg) => {
    const { rows } = await pg.query<{ id: string }>('SELECT id FROM logs JOIN log_bodies USING (created_at, id) WHERE trace_id = $1', [
      traceId,
    ])
    return rows.map(({ id }) => id).toSorted()
  })

function start(connection: ClientConfig = client) {
  const directory = temporaryDirectory()
  const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
  const shipper = startShipper({ directory: directory.path, database: database.config, client: connection, log: silent })
  return { directory, journal, shipper }
}

/** A way to the database that can be closed and opened again. */
async function createLine() {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = createConnection({ host: database.config.host, port: database.config.port })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  const open = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await open(0)
  return {
    port,
    open: () => open(port),
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

test('the database goes away and comes back: appends do not wait, nothing is lost or doubled', async (t) => {
  const line = await createLine()
  const { directory, journal, shipper } = start({ ...client, host: '127.0.0.1', port: line.port })
  const traceId = 'away'
  const ids: string[] = []
  const append = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      const record = exchangeRecord({ traceId })
      ids.push(record.id)
      journal.append(record, exchangeBodies('q'.repeat(500), 'a'.repeat(2000)))
    }
  }
  append(500)
  await shipper.flushed()
  t.is((await stored(traceId)).length, 500)

  line.close()
  const startedAt = performance.now()
  append(2000)
  t.true(performance.now() - startedAt < 1000)
  await until(() => shipper.stats().fault !== null)
  append(500)
  t.is((await stored(traceId)).length, 500)
  await line.open()
  await shipper.flushed()
  t.like(shipper.stats(), { shipped: 3000, rejected: 0, fault: null })
  t.deepEqual(await stored(traceId), ids.toSorted())

  // Cut in the middle of shipping, several times.
  for (let round = 0; round < 5; round += 1) {
    append(1000)
    await until(async () => (await stored(traceId)).length > ids.length - 1000)
    line.close()
    append(200)
    await line.open()
  }
  await journal.close()
  await shipper.stop(30_000)
  t.deepEqual(await stored(traceId), ids.toSorted())
  t.deepEqual(journal.stats().dropped, { body: 0, record: 0 })
  line.close()
  directory.remove()
})

test('a folder that cannot be written: records go from memory, through cuts of the database, none twice; more than there is room for is counted', async (t) => {
  const line = await createLine()
  const root = temporaryDirectory()
  const directory = path.join(root.path, 'journal')
  writeFileSync(directory, 'in the way')
  const connection = { ...client, host: '127.0.0.1', port: line.port }
  const shipper = startShipper({ directory, database: database.config, client: connection, log: silent })
  const limits = { maxBodyBytes: 1 << 22, maxSpoolBytes: 1 << 26 }
  const journal = openJournal({ directory, ...limits, hold: (frame, lean) => shipper.hold(frame, lean) })
  t.regex(journal.stats().fault ?? '', /ENOTDIR|EEXIST/)
  const traceId = 'held'
  const ids: string[] = []
  const append = (count: number, bytes = 2000) => {
    for (let index = 0; index < count; index += 1) {
      const record = exchangeRecord({ traceId })
      ids.push(record.id)
      journal.append(record, exchangeBodies('q', 'a'.repeat(bytes)))
    }
  }
  for (let round = 0; round < 3; round += 1) {
    append(700)
    await until(async () => (await stored(traceId)).length > ids.length - 700)
    line.close()
    append(100)
    await line.open()
  }
  await shipper.flushed()
  t.deepEqual(await stored(traceId), ids.toSorted())
  t.like(journal.stats(), { records: 2400, dropped: { body: 0, record: 0 } })
  t.regex(journal.stats().fault ?? '', /ENOTDIR|EEXIST/)

  line.close()
  append(10, 1 << 21)
  t.like(journal.stats(), { records: 2410, dropped: { body: 4, record: 0 } })
  append(8000, 0)
  const { dropped, records } = journal.stats()
  t.true(dropped.record > 0)
  t.is(records + dropped.record, ids.length)

  rmSync(directory)
  await until(() => journal.stats().fault === null)
  append(10)
  await line.open()
  await journal.close()
  await shipper.stop(30_000)
  t.is((await stored(traceId)).length, ids.length - dropped.record)
  line.close()
  root.remove()
})

test('stop gives up at its deadline when the database is away, and the next start ships', async (t) => {
  const line = await createLine()
  const { directory, journal, shipper } = start({ ...client, host: '127.0.0.1', port: line.port })
  const traceId = 'late'
  await shipper.flushed()
  line.close()
  const record = exchangeRecord({ traceId })
  journal.append(record, exchangeBodies('1', '2'))
  await journal.close()
  const startedAt = performance.now()
  await shipper.stop(500)
  t.true(performance.now() - startedAt < 3000)
  t.deepEqual(await stored(traceId), [])

  const next = startShipper({ directory: directory.path, database: database.config, client, log: silent })
  await next.flushed()
  t.deepEqual(await stored(traceId), [record.id])
  t.like(next.stats(), { shipped: 0, adopted: 1 })
  await next.stop()
  directory.remove()
})

test('text that PostgreSQL refuses is mended, in every field', async (t) => {
  const { directory, journal, shipper } = start()
  const odd = 'a\0b\uD800c\uFFFE"\\u0000'
  const text = { clientAddress: odd, method: odd, path: odd, operation: odd, provider: odd, providerSlug: odd, model: odd, errorCode: odd }
  const more = { cacheStatus: odd, lastUsedOption: odd, traceId: odd, spanId: odd, parentSpanId: odd, spanName: odd, upstreamUrl: odd }
  const maps = { metadata: { [odd]: odd }, requestHeaders: { [odd]: odd }, responseHeaders: { [odd]: odd } }
  const numbers = {
    status: 1e12,
    requestBytes: 1e300,
    durationMs: 1e300,
    usage: { ...exchangeRecord().usage, inputTokens: -1.5, totalTokens: 2e20 },
  }
  const record = exchangeRecord({ ...text, ...more, ...maps, ...(numbers as object) })
  journal.append(record, { request: Buffer.from([0, 0xff]), response: Buffer.from(odd), requestTruncated: false, responseTruncated: false })
  await shipper.flushed()
  t.like(shipper.stats(), { shipped: 1, rejected: 0 })
  const row = await inDatabase(
    database.superuser,
    async (pg) =>
      (await pg.query('SELECT * FROM logs JOIN log_bodies USING (id) WHERE id = $1', [record.id])).rows[0] as Record<string, unknown>,
  )
  const mended = 'a\uFFFDb\uFFFDc\uFFFE"\\u0000'
  t.like(row, { path: mended, model: mended, metadata: { [mended]: mended }, request_headers: { [mended]: mended }, input_tokens: '-1' })
  await journal.close()
  await shipper.stop()
  directory.remove()
})

test('records that cannot be stored are set aside, and hold up nothing', async (t) => {
  const { directory, journal, shipper } = start()
  const traceId = 'poisoned'
  const good: string[] = []
  const bad: string[] = []
  for (let index = 0; index < 300; index += 1) {
    const record = exchangeRecord({ traceId })
    // No UUID; a day that no partition can be made for; no status.
    const poison = [{ apiKeyId: 'none' }, { createdAt: 9e20 }, { status: null }][(index / 100) | 0]
    if (index % 100 === 42) bad.push(record.id)
    else good.push(record.id)
    journal.append(index % 100 === 42 ? ({ ...record, ...poison } as typeof record) : record, exchangeBodies('q', 'a'))
  }
  await shipper.flushed()
  t.deepEqual(await stored(traceId), good.toSorted())
  t.like(shipper.stats(), { shipped: 297, rejected: 3, fault: null })
  const lines = readFileSync(path.join(directory.path, 'rejected.bad'), 'utf8').trim().split('\n')
  const rejected = lines.map((line) => JSON.parse(line) as { record: string; request: string; reason: string })
  t.true(
    bad.every(
      (id, index) => rejected[index]?.record.includes(id) === true && rejected[index].request === 'cQ==' && rejected[index].reason !== '',
    ),
  )
  await journal.close()
  await shipper.stop()
  directory.remove()
})

test('a partition that was dropped meanwhile is made again', async (t) => {
  const { directory, journal, shipper } = start()
  const createdAt = Date.UTC(2026, 4, 5)
  const traceId = 'dropped'
  const append = () => journal.append(exchangeRecord({ traceId, createdAt }), exchangeBodies('q', 'a'))
  append()
  await shipper.flushed()
  await inDatabase(database.superuser, (pg) => pg.query('DROP TABLE logs_20260505, log_bodies_20260505'))
  append()
  await shipper.flushed()
  t.is((await stored(traceId)).length, 1)
  t.like(shipper.stats(), { shipped: 2, rejected: 0 })
  await journal.close()
  await shipper.stop()
  directory.remove()
})

test('what was shipped before, but whose cursor was lost, is not doubled', async (t) => {
  const { directory, journal, shipper } = start()
  const traceId = 'replayed'
  const record = exchangeRecord({ traceId })
  journal.append(record, exchangeBodies('q', 'a'))
  await shipper.flushed()
  await shipper.stop()
  await inDatabase(database.superuser, (pg) => pg.query('DELETE FROM journal_cursors WHERE node = ANY($1)', [readdirSync(directory.path)]))
  const next = startShipper({ directory: directory.path, database: database.config, client, log: silent })
  await next.flushed()
  t.deepEqual(await stored(traceId), [record.id])
  await journal.close()
  await next.stop()
  directory.remove()
})

test('several shippers of one directory at once store each record once', async (t) => {
  const { directory, journal, shipper } = start()
  const others = [1, 2].map(() => startShipper({ directory: directory.path, database: database.config, client, log: silent }))
  const traceId = 'contended'
  const ids: string[] = []
  for (let index = 0; index < 4000; index += 1) {
    const record = exchangeRecord({ traceId })
    ids.push(record.id)
    journal.append(record, exchangeBodies('q', 'a'.repeat(3000)))
  }
  await Promise.all([shipper, ...others].map((each) => each.flushed()))
  t.deepEqual(await stored(traceId), ids.toSorted())
  await journal.close()
  await Promise.all([shipper, ...others].map((each) => each.stop(20_000)))
  directory.remove()
})
