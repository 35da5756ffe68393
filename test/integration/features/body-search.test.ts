import test from 'ava'
import fc from 'fast-check'
import { userScopes } from '../../../src/lib/access/scopes.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { dataOf, errorOf } from './answers.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'

let exporting: Exporting
test.before(async () => void (exporting = await startExporting()))
test.after.always(() => exporting?.close())

interface Search {
  readonly read: number
  readonly unreadable: number
  readonly until: string | null
}

const list = (query: Readonly<Record<string, string>>, key = exporting.acme.adminKey) =>
  exporting.control.call(key, 'GET', `/logs?${new URLSearchParams(query).toString()}`)

/** The ids of a whole list, page after page, and the reports of its searches. */
async function all(query: Readonly<Record<string, string>>, key = exporting.acme.adminKey) {
  const [ids, searches]: [string[], Search[]] = [[], []]
  for (let after: string | null = ''; after !== null;) {
    const answer = await list({ ...query, ...(after !== '' && { after }) }, key)
    if (answer.status !== 200) throw new Error(answer.text)
    ids.push(...dataOf(answer).map(({ id }) => String(id)))
    searches.push(answer.body['search'] as Search)
    after = answer.body['next_cursor'] as string | null
  }
  return { ids, searches }
}

/** Writes logs of a trace with these texts, one each: in the request, or else in the answer. */
async function say(traceId: string, texts: readonly string[], workspaceId = exporting.acme.workspaceId): Promise<readonly string[]> {
  const records = texts.map((_, at) => recordOf(exporting.acme, 60 + at, { id: uuidv7(), traceId, workspaceId }))
  await exporting.ship(records)
  for (const [at, text] of texts.entries())
    await exporting.control.sql.query('UPDATE log_bodies SET request_body = $1, response_body = $2 WHERE id = $3', [
      at % 2 === 0 ? Buffer.from(text) : null,
      at % 2 === 0 ? null : Buffer.from(text),
      records[at]?.id,
    ])
  return records.map(({ id }) => id)
}

const ascii = (text: string) => text.replaceAll(/[\u0080-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const told: readonly (readonly [q: string, body: string])[] = [
  ['a/é & <b>', String.raw`{"x":"a\/\u00e9 & <b>"}`],
  ['a/é & <b>', String.raw`{"x":"a/\u00e9 \u0026 \u003cb\u003e"}`],
  ['a/é & <b>', String.raw`{"x":"a\/é \u0026 \u003Cb\u003E"}`],
  ['it="s"', String.raw`{"x":"it\u003d\u0022s\u0022"}`],
  ['refund', '{"content":"A REFUND, please"}'],
  ['Größe ☀', '{"content":"die Größe ☀!"}'],
  ['Größe ☀', ascii('{"content":"die Größe ☀!"}')],
  ['say "no"', JSON.stringify({ content: 'I say "no".' })],
  ['two\nlines', JSON.stringify({ content: 'in two\nlines' })],
  ['two\nlines', 'plain: two\nlines'],
  ['C:\\temp', JSON.stringify({ content: 'in C:\\temp' })],
  ['\\000', 'octal \\000'],
  ['100%_', 'at 100%_ of'],
  ["o'hara}{", "by o'hara}{"],
]

for (const [at, [q, body]] of told.entries())
  test.serial(`a text is found: ${JSON.stringify(q)} in ${body}`, async (t) => {
    const trace = `told-${at}`
    const [id = ''] = await say(trace, [body, 'nothing of it'])
    t.deepEqual((await all({ q, trace_id: trace })).ids, [id])
    t.deepEqual((await all({ q: `${q}?`, trace_id: trace })).ids, [])
  })

const folded = (text: string) => text.replaceAll('B', 'b')

test.serial('a search finds what a plain reading of all bodies finds, page after page, in either order', async (t) => {
  const letters = fc.constantFrom('a', 'B', 'é', '"', '\\', '%', '\n')
  const texts = fc.sample(fc.string({ unit: letters, minLength: 0, maxLength: 12 }), { numRuns: 150, seed: 7 })
  const ids = await say('plain', texts)
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: letters, minLength: 2, maxLength: 3 }),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('asc', 'desc'),
      async (q, size, order) => {
        const json = JSON.stringify(q).slice(1, -1)
        const wanted = ids.filter((_, at) => [q, json, ascii(json)].some((needle) => folded(texts[at] ?? '').includes(folded(needle))))
        const found = await all({ q, order, page_size: String(size), trace_id: 'plain' })
        t.deepEqual(found.ids, order === 'desc' ? wanted : wanted.toReversed(), JSON.stringify(q))
        t.is(
          found.searches.reduce((sum, { read }) => sum + read, 0),
          texts.length,
        )
        t.is(found.searches.at(-1)?.until, null)
      },
    ),
    { numRuns: 25 },
  )
})

test.serial('what is sealed or in the log store is passed over, and counted', async (t) => {
  const [sealed = '', stored = '', clear = ''] = await say('closed', ['needle', 'needle', 'needle'])
  const { sql } = exporting.control
  await sql.query(`UPDATE log_bodies SET sealed = 'x', request_body = NULL WHERE id = $1`, [sealed])
  await sql.query(`UPDATE log_bodies SET object_key = 'x', response_body = NULL WHERE id = $1`, [stored])
  const { ids, searches } = await all({ q: 'needle', trace_id: 'closed' })
  t.deepEqual(ids, [clear])
  t.deepEqual(searches, [{ read: 1, unreadable: 2, index: null, until: null }])
  t.is((await list({ trace_id: 'closed' })).body['search'], null)
})

test.serial('a search ends in time, says how far it has come, and goes on from there', async (t) => {
  const { acme, control } = exporting
  const big = 300
  await exporting.ship(Array.from({ length: big }, (_, at) => recordOf(acme, at, { id: uuidv7(), traceId: 'big' })))
  await control.sql.query(
    `UPDATE log_bodies b SET request_body = convert_to(repeat('abcdefgh', 200000), 'UTF8') FROM logs l WHERE l.id = b.id AND l.created_at = b.created_at AND l.trace_id = 'big'`,
  )
  const startedAt = performance.now()
  const { body } = await list({ q: 'needle', trace_id: 'big' })
  t.true(performance.now() - startedAt < 5000)
  const { read, until } = body['search'] as Search
  t.true(read > 0 && read < big, `${read}`)
  t.like(body, { data: [], has_more: true })
  t.true(Date.parse(until ?? '') < Date.now())
  const next = await list({ q: 'needle', trace_id: 'big', after: String(body['next_cursor']) })
  const { until: later } = next.body['search'] as Search
  t.true(later === null || Date.parse(later) < Date.parse(until ?? ''))
})

test.serial('bodies are searched for those alone who may read them', async (t) => {
  const { acme, rival, control } = exporting
  await say('secret', ['needle of others'])
  const [own = ''] = await say('secret', ['needle of mine'], acme.sideId)
  const listing = await control.createKey(acme, { scopes: ['logs.list'] })
  const refused = await list({ q: 'needle', trace_id: 'secret' }, listing)
  t.is(refused.status, 403)
  t.is((await list({ trace_id: 'secret' }, listing)).status, 200)
  t.deepEqual((await all({ q: 'needle', trace_id: 'secret' }, acme.sideKey)).ids, [own])
  t.deepEqual((await all({ q: 'needle', trace_id: 'secret' }, rival.adminKey)).ids, [])
  const userId = await control.createUser(acme, { email: 'ada@acme.example', workspaces: { [acme.sideId]: 'member' } })
  const member = await control.createKey(acme, { workspaceId: acme.sideId, userId, scopes: userScopes })
  await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData: false } })
  await control.refresh()
  t.deepEqual((await all({ q: 'needle', trace_id: 'secret' }, member)).ids, [])
})

test.serial('a text that is too short, too long or no text is refused', async (t) => {
  for (const q of ['', 'a', 'x'.repeat(501), 'a\0b']) {
    const answer = await list({ q })
    t.is(answer.status, 400, JSON.stringify(q).slice(0, 20))
    t.is(errorOf(answer).param, 'q')
  }
})
