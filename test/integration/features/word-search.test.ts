import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import zlib from 'node:zlib'
import test from 'ava'
import fc from 'fast-check'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import { encodeLogObject, type LogBodies } from '../../../src/app/log-store/log-object.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import { dropOldPartitions } from '../../../src/features/logs/partitions.ts'
import { expireOfWorkspaces } from '../../../src/features/logs/workspace-retention.ts'
import { userScopes } from '../../../src/lib/access/scopes.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { silent } from '../../support/database.ts'
import { exchangeBodies, temporaryDirectory } from '../../support/journal.ts'
import { dataOf, errorOf } from './answers.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'

let exporting: Exporting
let closed: Exporting
let folder: string

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-words-'))
  const store = { LOG_STORE: 'local', LOG_STORE_LOCAL_PATH: folder }
  ;[exporting, closed] = await Promise.all([
    startExporting({ LOG_SEARCH_INDEX: 'on' }),
    startExporting({ LOG_SEARCH_INDEX: 'on', LOG_SEALING: 'on', ...store }),
  ])
})
test.after.always(async () => {
  await Promise.all([exporting?.close(), closed?.close()])
  await rm(folder, { recursive: true, force: true })
})

interface Search {
  readonly read: number
  readonly unreadable: number
  readonly index: { readonly from: string | null } | null
  readonly until: string | null
}
type Query = Readonly<Record<string, string>>

async function page(query: Query, { control, acme } = exporting, key = acme.adminKey) {
  const answer = await control.call(key, 'GET', `/logs?${new URLSearchParams({ match: 'words', ...query }).toString()}`)
  if (answer.status !== 200) throw new Error(answer.text)
  return {
    ids: dataOf(answer).map(({ id }) => String(id)),
    search: answer.body['search'] as Search,
    after: answer.body['next_cursor'] as string | null,
  }
}

/** The ids of a whole search, page after page, and the reports in its answers. */
async function all(query: Query, of = exporting, key = of.acme.adminKey) {
  const [ids, searches]: [string[], Search[]] = [[], []]
  for (let after: string | null = ''; after !== null;) {
    const one = await page({ ...query, ...(after !== '' && { after }) }, of, key)
    ids.push(...one.ids)
    searches.push(one.search)
    after = one.after
  }
  return { ids, searches, index: searches.at(-1)?.index ?? null, read: searches.reduce((sum, { read }) => sum + read, 0) }
}

interface Said {
  readonly of?: Exporting
  readonly workspaceId?: string
  readonly minutes?: number
}

/** Ships logs of a trace with these texts, one each, in the request or else in the answer: the first is the youngest. */
async function say(traceId: string, texts: readonly string[], { of = exporting, workspaceId, minutes = 60 }: Said = {}) {
  const now = Date.now() - minutes * 60_000
  const records = texts.map((_, at) =>
    recordOf(of.acme, 0, {
      id: uuidv7(now - at * 1000),
      createdAt: now - at * 1000,
      traceId,
      workspaceId: workspaceId ?? of.acme.workspaceId,
    }),
  )
  await of.ship(records, (at) => (at % 2 === 0 ? [texts[at] ?? '', '{}'] : ['{}', texts[at] ?? '']))
  return records.map(({ id }) => id)
}

const sql = <Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = [], of = exporting) =>
  of.control.sql.query<Row>(text, [...values]).then(({ rows }) => rows)
const completeFrom = (at: string) => sql('UPDATE log_words_state SET complete_from = $1', [at])

const ascii = (text: string) => text.replaceAll(/[\u0080-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const told: readonly (readonly [q: string, body: string, isThere: boolean])[] = [
  ['refund', '{"content":"A REFUND, please"}', true],
  ['fund', '{"content":"A REFUND, please"}', false],
  ['order 4711', '{"content":"Order #4711!"}', true],
  ['4711 order', '{"content":"Order #4711!"}', false],
  ['GRÖSSE größe', '{"content":"grösse (Größe)"}', true],
  ['größe', ascii('{"content":"die GRÖßE ☀!"}'), true],
  ['lines', JSON.stringify({ content: 'in two\nlines' }), true],
  ['nlines', JSON.stringify({ content: 'in two\nlines' }), false],
  ['u00f6', ascii('{"content":"ö"}'), false],
  ['C:\\temp', JSON.stringify({ content: 'in C:\\temp' }), true],
  ['İstanbul', '{"content":"in İSTANBUL"}', true],
  ['x y', '{"content":"X, y"}', true],
  ['q'.repeat(80), `{"content":"${'Q'.repeat(80)}"}`, true],
  ['用户', '{"content":"用户, 你好"}', true],
  ["o'hara}{", "by o'hara}{", true],
]

for (const [at, [q, body, isThere]] of told.entries())
  test.serial(`words: ${JSON.stringify(q).slice(0, 20)} ${isThere ? 'is' : 'is not'} in ${body.slice(0, 40)}`, async (t) => {
    const trace = `told-${at}`
    const [id = ''] = await say(trace, [body, 'nothing of it'])
    const indexed = (await all({ q, trace_id: trace })).ids
    t.deepEqual(indexed, isThere ? [id] : [])
    await completeFrom('infinity')
    t.deepEqual((await all({ q, trace_id: trace })).ids, indexed)
    await completeFrom('-infinity')
  })

test.serial('the index finds what a reading of all bodies finds, page after page, in either order, from any time on', async (t) => {
  const word = fc.constantFrom('alpha', 'Beta', 'é', 'ÉTÉ', 'x', '42', 'alphabet')
  const texts = fc
    .sample(fc.array(fc.tuple(word, fc.constantFrom(' ', ', ', '\n', '"', '\\')), { maxLength: 5 }), { numRuns: 120, seed: 7 })
    .map((parts) => JSON.stringify({ content: parts.flat().join('') }))
  const ids = await say('plain', texts)
  const times = await sql<{ at: string }>(
    `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at FROM logs WHERE trace_id = 'plain' ORDER BY created_at`,
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(word, { minLength: 1, maxLength: 2 }).filter((words) => words.join(' ').length > 1),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('asc', 'desc'),
      fc.constantFrom('-infinity', ...times.map(({ at }) => at)),
      async (words, size, order, from) => {
        const query = { q: words.join(' '), order, page_size: String(size), trace_id: 'plain' }
        const plain = new RegExp(`(?<![\\p{L}\\d])${words.join('[^\\p{L}\\d]+')}(?![\\p{L}\\d])`, 'iu')
        const wanted = ids.filter((_, at) => plain.test(JSON.parse(texts[at] ?? '').content))
        await completeFrom('infinity')
        const scanned = await all(query)
        await completeFrom(from)
        const indexed = await all(query)
        t.deepEqual(scanned.ids, order === 'desc' ? wanted : wanted.toReversed(), JSON.stringify(query))
        t.deepEqual(indexed.ids, scanned.ids, JSON.stringify({ query, from }))
        t.is(scanned.index, null)
        t.deepEqual(indexed.index, words.every((one) => one.length === 1) ? null : { from: from === '-infinity' ? null : from })
        t.is(scanned.read, texts.length)
      },
    ),
    { numRuns: 30 },
  )
  await completeFrom('-infinity')
})

test.serial('what is rare is found behind many logs without reading their bodies; what is too long for the index is read', async (t) => {
  const { acme } = exporting
  const many = 700
  const now = Date.now() - 200 * 60_000
  const long = Array.from({ length: 2500 }, (_, at) => `word${at}`).join(' ')
  const records = Array.from({ length: many }, (_, at) =>
    recordOf(acme, 0, { id: uuidv7(now - at * 1000), createdAt: now - at * 1000, model: 'of-many' }),
  )
  await exporting.ship(records, (at) => [at === many - 2 ? long : at >= many - 5 ? 'a rare needle here' : 'a plain haystack', '{}'])
  const found = await all({ q: 'rare needle', ai_model: 'of-many' })
  t.deepEqual(
    found.ids,
    [many - 5, many - 4, many - 3, many - 1].map((at) => records[at]?.id ?? ''),
  )
  t.is(found.read, 5)
  t.deepEqual((await all({ q: 'rare needle', ai_model: 'of-many', order: 'asc', page_size: '2' })).ids, found.ids.toReversed())
  t.deepEqual((await all({ q: 'word2499', ai_model: 'of-many' })).ids, [records[many - 2]?.id ?? ''])
  t.deepEqual((await all({ q: 'rare needle', ai_model: 'of-few' })).ids, [])
})

const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: zlib.brotliCompressSync,
  zstd: zlib.zstdCompressSync,
}

for (const [name, encode] of Object.entries(encodings))
  test.serial(`a compressed answer is found: ${name}`, async (t) => {
    const record = recordOf(exporting.acme, 60, { id: uuidv7(), traceId: name, responseHeaders: { 'content-encoding': name } })
    await exporting.ship([record], () => ['{}', encode('{"content":"A packed needle"}')])
    const query = { q: 'packed needle', trace_id: name }
    t.deepEqual((await all(query)).ids, [record.id])
    await completeFrom('infinity')
    t.deepEqual((await all(query)).ids, [record.id])
    await completeFrom('-infinity')
    t.deepEqual((await all({ ...query, q: 'other needle' })).ids, [])
  })

test.serial('sealed bodies are found, and those that are in the log store', async (t) => {
  const [sealed = '', stored = '', gone = '', both = ''] = await say('closed', ['A needle', 'the needle', 'needle', 'a needle too'], {
    of: closed,
  })
  const { deps } = closed.control.started
  const move = async (id: string, bodies: Partial<LogBodies>) => {
    const key = `90/${closed.acme.organisationId}/${id}.json`
    const place = { id, organisationId: closed.acme.organisationId, workspaceId: null, createdAt: 0 }
    const nothing = { request_headers: {}, response_headers: {}, request_body: null, response_body: null, hook_results: null, sealed: null }
    await deps.logStore?.put(key, encodeLogObject(place, { ...nothing, ...bodies }))
    await sql('UPDATE log_bodies SET object_key = $2, sealed = NULL WHERE id = $1', [id, key], closed)
  }
  const [kept] = await sql<{ sealed: Buffer }>('SELECT sealed FROM log_bodies WHERE id = $1', [both], closed)
  await move(both, { sealed: kept?.sealed ?? null })
  await move(stored, { request_body: Buffer.from('the needle') })
  await sql(`UPDATE log_bodies SET object_key = 'gone', sealed = NULL WHERE id = $1`, [gone], closed)
  const { ids, searches } = await all({ q: 'needle', trace_id: 'closed' }, closed)
  t.deepEqual(ids, [sealed, stored, both])
  t.deepEqual(searches, [{ read: 3, unreadable: 1, index: { from: null }, until: null }])
  t.deepEqual((await all({ q: 'nowhere', trace_id: 'closed' }, closed)).searches, [
    { read: 0, unreadable: 0, index: { from: null }, until: null },
  ])
  // Without the index they are passed over, as a text is.
  t.deepEqual((await page({ q: 'needle', trace_id: 'closed', match: 'text' }, closed)).search, {
    read: 0,
    unreadable: 4,
    index: null,
    until: null,
  })
})

test.serial('whoever ships without words ends the index; it begins again with the next who keeps them', async (t) => {
  const { control, acme } = exporting
  const { database } = control.started.deps.config
  const { runtime } = await connect(database, silent)
  const ship = async (text: string, keeps: boolean) => {
    const directory = temporaryDirectory()
    const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
    const wordsUnder = keeps ? control.started.deps.vault.logKey() : null
    const shipper = startShipper({ directory: directory.path, database, client: runtime, log: silent, wordsUnder })
    const record = recordOf(acme, 0, { id: uuidv7(), traceId: 'switched' })
    journal.append(record, exchangeBodies(text, '{}'))
    await shipper.flushed()
    await journal.close()
    await shipper.stop()
    directory.remove()
    return record.id
  }
  const before = await ship('needle one', true)
  t.deepEqual((await all({ q: 'needle', trace_id: 'switched' })).index, { from: null })
  const without = await ship('needle two', false)
  const off = await all({ q: 'needle', trace_id: 'switched' })
  t.deepEqual([off.ids, off.index], [[without, before], null])
  const startedAt = Date.now()
  const after = await ship('needle three', true)
  const again = await all({ q: 'needle', trace_id: 'switched' })
  t.deepEqual(again.ids, [after, without, before])
  t.true(Math.abs(Date.parse(again.index?.from ?? '') - startedAt) < 10_000, again.index?.from ?? 'none')
  await completeFrom('-infinity')
})

test.serial('words of others are found by nobody else, and the database does not tell them', async (t) => {
  const { acme, rival, control } = exporting
  await say('secret', ['canary of others'])
  const [own = ''] = await say('secret', ['canary of mine'], { workspaceId: acme.sideId })
  const record = recordOf(rival, 60, { id: uuidv7(), traceId: 'secret' })
  await exporting.ship([record], () => ['canary of a rival', '{}'])
  t.deepEqual((await all({ q: 'canary', trace_id: 'secret' }, exporting, acme.sideKey)).ids, [own])
  t.deepEqual((await all({ q: 'canary', trace_id: 'secret' }, exporting, rival.adminKey)).ids, [record.id])
  const listing = await control.createKey(acme, { scopes: ['logs.list'] })
  t.is((await control.call(listing, 'GET', '/logs?q=canary&match=words')).status, 403)
  const rows = await sql<{ organisation_id: string; words: readonly number[] }>(
    `SELECT w.organisation_id, w.words FROM log_words w JOIN logs l ON l.created_at = w.created_at AND l.id = w.id WHERE l.trace_id = 'secret'`,
  )
  const [others, mine] = [
    rows.filter((row) => row.organisation_id === rival.organisationId),
    rows.filter((row) => row.organisation_id === acme.organisationId),
  ]
  t.deepEqual([others.length, mine.length], [1, 2])
  t.true(mine[0]?.words.some((word) => mine[1]?.words.includes(word)))
  t.false(mine.some(({ words }) => words.some((word) => others[0]?.words.includes(word))))
})

test.serial('who sees their own requests alone finds no others, and what was read tells nothing of others', async (t) => {
  const { acme, control } = exporting
  const userId = await control.createUser(acme, { email: 'ada@acme.example', workspaces: { [acme.sideId]: 'member' } })
  const member = await control.createKey(acme, { workspaceId: acme.sideId, userId, scopes: userScopes })
  const many = 700
  await say(
    'hers',
    Array.from({ length: many }, () => 'canary of others'),
    { workspaceId: acme.sideId },
  )
  const hers = Array.from({ length: 2 }, (_, at) =>
    recordOf(acme, 120 + at, { id: uuidv7(), traceId: 'hers', workspaceId: acme.sideId, userId }),
  )
  await exporting.ship(hers, () => ['canary of hers', '{}'])
  const asked = () => all({ q: 'canary', trace_id: 'hers' }, exporting, member)
  t.is((await asked()).ids.length, many + hers.length)
  await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData: false } })
  await control.refresh()
  const own = await asked()
  t.deepEqual(
    own.ids,
    hers.map(({ id }) => id),
  )
  t.is(own.read, hers.length)
  t.true(own.searches.every(({ unreadable, index }) => unreadable === 0 && index !== null))
  await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData: true } })
  await control.refresh()
})

test.serial('words go with their logs: erased, kept for a shorter time, and by day', async (t) => {
  const { acme, control } = exporting
  const count = async () => (await sql<{ n: number }>('SELECT count(*)::int AS n FROM log_words'))[0]?.n ?? NaN
  const base = await count()
  const record = recordOf(acme, 60, { id: uuidv7(Date.now() - 3_600_000), metadata: { _user: 'ada' } })
  await exporting.ship([record], () => ['words of ada', '{}'])
  const day = 24 * 60
  await say('old', ['words of old'], { workspaceId: acme.sideId, minutes: 3 * day })
  await say('older', ['words of older'], { minutes: 40 * day })
  t.is(await count(), base + 3)
  t.is((await control.call(acme.adminKey, 'POST', '/logs/erasures', { metadata: { _user: 'ada' } })).body['erased'], 1)
  t.is(await count(), base + 2)
  await sql('UPDATE workspaces SET log_retention_days = 1 WHERE id = $1', [acme.sideId])
  await expireOfWorkspaces(control.started.deps)
  t.is(await count(), base + 1)
  const { orm, clock } = control.started.deps
  await dropOldPartitions({ orm, clock, log: silent, config: { logRetentionDays: 30 } })
  t.is(await count(), base)
})

test.serial('what has no word is refused', async (t) => {
  const answer = await exporting.control.call(exporting.acme.adminKey, 'GET', '/logs?q=%3F!&match=words')
  t.is(answer.status, 400)
  t.is(errorOf(answer).param, 'q')
  t.is((await exporting.control.call(exporting.acme.adminKey, 'GET', '/logs?q=ab&match=other')).status, 400)
})
