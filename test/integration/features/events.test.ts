import test from 'ava'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import { settleScimPlaces } from '../../../src/features/scim/settle.jobs.ts'
import { makeParts } from '../../../src/features/log-exports/run.ts'
import { createPending } from '../../../src/features/events/pending.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { silent } from '../../support/database.ts'
import { exchangeBodies, temporaryDirectory } from '../../support/journal.ts'
import { recordOf } from './exporting.ts'
import { scimClient } from './scim-client.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let beside: string
let acme: Tenant
let rival: Tenant
let ship: (records: readonly ExchangeRecord[]) => Promise<void>
let closeShipping: () => Promise<void>

test.before(async () => {
  control = await startControl()
  beside = await control.openBeside()
  ;[acme, rival] = [await control.createTenant('acme'), await control.createTenant('rival')]
  const directory = temporaryDirectory()
  const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26, seal: null })
  const { database } = control.started.deps.config
  const { runtime } = await connect(database, silent)
  const shipper = startShipper({ directory: directory.path, database, client: runtime, log: silent })
  ship = async (records) => {
    for (const record of records) journal.append(record, exchangeBodies('{}', '{}'))
    await shipper.flushed()
  }
  closeShipping = async () => {
    await journal.close()
    await shipper.stop()
    directory.remove()
  }
})
test.after.always(async () => {
  await closeShipping()
  await control?.close()
})

interface Event {
  readonly id: string | null
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A client of one stream, which reads event by event. */
async function listen(query: string, { key = acme.workspaceKey, origin = control.origin, lastEventId = '' } = {}) {
  const abort = new AbortController()
  const response = await fetch(`${origin}/v1/events?${query}`, {
    headers: { 'x-service-api-key': key, ...(lastEventId !== '' && { 'last-event-id': lastEventId }) },
    signal: abort.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<Event | null> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end !== -1) {
        const lines = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null
        const event = field('event')
        if (event !== null) return { id: field('id'), event, data: JSON.parse(field('data') ?? '{}') as Event['data'] }
        continue
      }
      const read = await reader?.read()
      if (read === undefined || read.done) return null
      text += read.value
    }
  }
  /** The next event of this name. */
  const until = async (name: string): Promise<Event> => {
    for (let event = await next(); event !== null; event = await next()) if (event.event === name) return event
    throw new Error(`the stream ended without ${name}`)
  }
  const live = async () => {
    for (;;) if ((await until('live')).data['live'] === true) return
  }
  return { response, next, until, live, leave: () => abort.abort() }
}

const idsOf = ({ data }: Event): readonly unknown[] => (data['data'] as readonly Readonly<Record<string, unknown>>[]).map(({ id }) => id)

test.serial('new logs are heard in every process, by those who may list them, with their filters', async (t) => {
  const streams = [await listen('topics=logs.tail'), await listen('topics=logs.tail&ai_model=o3', { origin: beside })]
  const foreign = await listen('topics=logs.tail&seconds=3', { key: rival.workspaceKey })
  const side = await listen('topics=logs.tail&seconds=3', { key: acme.sideKey })
  const organisation = await listen('topics=logs.tail', { key: acme.adminKey })
  t.is(streams[0]?.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  for (const stream of [...streams, foreign, side, organisation]) await stream.live()
  const [one, two] = [newRecord({ model: 'gpt-4o' }, 90), newRecord({ model: 'o3' })]
  await ship([one, two])
  const [all, filtered] = [await streams[0]?.until('logs.tail'), await streams[1]?.until('logs.tail')]
  t.deepEqual(all && idsOf(all), [one.id, two.id])
  t.deepEqual(filtered && idsOf(filtered), [two.id])
  t.deepEqual(idsOf(await organisation.until('logs.tail')), [one.id, two.id])
  t.is(all?.data['dropped'], 0)
  for (const stream of [foreign, side]) t.like(await stream.next(), { event: 'end', data: { reason: 'the time is over' } })
  for (const stream of [...streams, organisation]) stream.leave()
})

/** A version 7 id of a time, as the gateway makes them. */
function uuidAt(ms: number): string {
  const hex = Math.floor(ms).toString(16).padStart(12, '0')
  const random = crypto.randomUUID()
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${random.slice(15, 18)}-${random.slice(19)}`
}

function newRecord(more: Parameters<typeof recordOf>[2] = {}, minutes = 0): ExchangeRecord {
  const record = recordOf(acme, minutes, more)
  return { ...record, id: uuidAt(record.createdAt) }
}

test.serial('a member who sees own data only hears of own logs only', async (t) => {
  const userId = await control.createUser(acme, { email: 'm@acme.example', workspaces: { [acme.workspaceId]: 'member' } })
  const set = await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData: false } })
  t.is(set.status, 200, set.text)
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, userId, scopes: ['logs.list', 'logs.view'] })
  await control.refresh()
  const stream = await listen('topics=logs.tail', { key })
  await stream.live()
  const own = { ...newRecord(), userId }
  await ship([newRecord(), own])
  t.deepEqual(idsOf(await stream.until('logs.tail')), [own.id])
  stream.leave()
  await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData: true } })
})

test.serial('after a break a stream goes on where it was, in another process too; what is forgotten is a gap', async (t) => {
  const first = await listen('topics=logs.tail')
  const other = await listen('topics=logs.tail', { origin: beside })
  await first.live()
  await other.live()
  const [before, missed] = [newRecord(), newRecord()]
  await ship([before])
  const { id } = await first.until('logs.tail')
  await other.until('logs.tail')
  first.leave()
  await ship([missed])
  const again = await listen('topics=logs.tail', { origin: beside, lastEventId: id ?? '' })
  t.deepEqual(idsOf(await again.until('logs.tail')), [missed.id])
  const late = await listen('topics=logs.tail', { lastEventId: crypto.randomUUID() })
  t.is((await late.until('gap')).event, 'gap')
  for (const stream of [other, again, late]) stream.leave()
})

test.serial('changes are told to those who may read the resource, when they are committed', async (t) => {
  const reader = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['configs.list'] })
  const [all, some, side] = [
    await listen('topics=changes', { key: acme.adminKey, origin: beside }),
    await listen('topics=changes', { key: reader }),
    await listen('topics=changes&seconds=3', { key: acme.sideKey }),
  ]
  for (const stream of [all, some, side]) await stream.live()
  t.is((await control.call(acme.workspaceKey, 'POST', '/labels', { name: 'l' })).status, 200)
  t.is((await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'bad', config: { nonsense: 1 } })).status, 400)
  const made = await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'c', config: { provider: 'openai' } })
  t.is(made.status, 200, made.text)
  const seen = await some.until('changes')
  t.like(seen.data, { data: [{ resource: 'config', action: 'create', workspace_id: acme.workspaceId }] })
  t.is((await all.until('changes')).event, 'changes')
  t.is((await side.next())?.event, 'end')
  for (const stream of [all, some]) stream.leave()
})

test.serial('what groups give and take in the background is told, and in the trail; what is as it was is not', async (t) => {
  const tenant = await control.createTenant('settled')
  const scim = await scimClient(control, tenant)
  const { body: user } = await scim.send('POST', '/Users', { body: { userName: 'ada@example.com' } })
  await scim.send('POST', '/Groups', { body: { displayName: 'ws-Sales-role-member', members: [{ value: user.id }] } })
  const workspace = await control.call(tenant.adminKey, 'POST', '/admin/workspaces', { name: 'Sales', slug: 'buyers' })
  await control.createKey(tenant, { workspaceId: String(workspace.body['id']), userId: user.id, scopes: ['completions.write'] })
  const stream = await listen('topics=changes', { key: tenant.adminKey })
  await stream.live()
  const settle = async () => {
    await settleScimPlaces.run(control.started.deps)
    await settleScimPlaces.run(control.started.deps)
    const { rows } = await control.sql.query<Readonly<Record<string, unknown>>>(
      `SELECT actor_type, actor_name, resource_type, related FROM audit_logs WHERE organisation_id = $1 AND action = 'settle' ORDER BY at`,
      [tenant.organisationId],
    )
    return rows
  }
  const told = { actor_type: 'system', actor_name: 'settle-scim-places', resource_type: 'workspace-user' }
  const [given, ...others] = await settle()
  t.deepEqual(others, [])
  t.like(given, { ...told, related: [{ table: 'workspace_members', before: null, after: { user_id: user.id, role: 'member' } }] })
  t.like((await stream.until('changes')).data, {
    data: [{ resource: 'workspace-user', id: null, action: 'settle', workspace_id: workspace.body['id'] }],
  })
  const renamed = await control.call(tenant.adminKey, 'PUT', `/admin/workspaces/${String(workspace.body['id'])}`, { name: 'Buyers' })
  t.is(renamed.status, 200, renamed.text)
  const taken = (await settle()).slice(1)
  t.is(taken.length, 1)
  t.like(taken[0], told)
  const rows = taken[0]?.['related'] as { table: string; before: object; after: object | null }[]
  const rowOf = (table: string) => rows.find((row) => row.table === table)
  t.like(rowOf('workspace_members'), { before: { user_id: user.id, workspace_id: workspace.body['id'] }, after: null })
  t.like(rowOf('api_keys'), { before: { status: 'active' }, after: { status: 'archived' } })
  stream.leave()
})

test.serial('exports tell how far they are', async (t) => {
  const stream = await listen('topics=exports')
  const foreign = await listen('topics=exports&seconds=3', { key: rival.workspaceKey })
  await stream.live()
  await foreign.live()
  const { body } = await control.call(acme.workspaceKey, 'POST', '/logs/exports', { filters: {}, requested_data: ['id'] })
  await control.call(acme.workspaceKey, 'POST', `/logs/exports/${String(body['id'])}/start`)
  t.like((await stream.until('exports')).data, { data: [{ id: body['id'], status: 'in_progress' }] })
  await makeParts(control.started.deps)
  t.like((await stream.until('exports')).data, { data: [{ id: body['id'], status: 'success' }] })
  t.is((await foreign.next())?.event, 'end')
  stream.leave()
})

test.serial('a right that is taken away ends the stream within seconds', async (t) => {
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['logs.list'] })
  const stream = await listen('topics=logs.tail', { key })
  await stream.live()
  await control.sql.query(`DELETE FROM api_keys WHERE key_hash = $1`, [control.started.deps.vault.hashKey(key)])
  const from = performance.now()
  t.like(await stream.until('end'), { data: { reason: 'the right to listen is gone' } })
  t.true(performance.now() - from < 5_000)
  t.is(await stream.next(), null)
})

const refused: readonly (readonly [what: string, query: string, scopes: readonly string[], status: number])[] = [
  ['no topic', '', ['logs.list'], 400],
  ['an unknown topic', 'topics=limits', ['logs.list'], 400],
  ['an unknown filter', 'topics=logs.tail&nonsense=1', ['logs.list'], 400],
  ['logs without the right to list them', 'topics=logs.tail', ['logs.export'], 403],
  ['exports without the right to export', 'topics=logs.tail,exports', ['logs.list'], 403],
  ['any topic without any right', 'topics=changes', ['completions.write'], 403],
]
for (const [what, query, scopes, status] of refused)
  test.serial(`refused: ${what}`, async (t) => {
    const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: [...scopes] })
    t.is((await control.call(key, 'GET', `/events?${query}`)).status, status)
  })

test.serial('one key holds so many streams, and no more', async (t) => {
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['logs.list'] })
  const streams = await Promise.all(Array.from({ length: 20 }, () => listen('topics=logs.tail', { key })))
  t.is((await control.call(key, 'GET', '/events?topics=logs.tail')).status, 429)
  for (const stream of streams) stream.leave()
})

test('what waits for a slow client is bounded, and what is left out is counted', (t) => {
  const organisationId = crypto.randomUUID()
  const pending = createPending({ organisationId, workspaceId: null, topics: new Set(['logs.tail', 'changes']) })
  for (let at = 0; at < 10_000; at += 1) {
    pending.add({ topic: 'logs.tail', token: `${at}`, organisationId, workspaceId: null, ids: [`a${at}`, `b${at}`] })
    pending.add({
      topic: 'changes',
      token: `c${at}`,
      organisationId,
      workspaceId: null,
      resource: 'x',
      id: null,
      action: 'y',
      families: [],
    })
    pending.add({ topic: 'exports', token: `e${at}`, organisationId, id: 'e' })
  }
  const taken = pending.take()
  t.like(taken, { token: 'c9999', exports: [], dropped: { 'logs.tail': 19_900, changes: 9_900, exports: 0 } })
  t.deepEqual([taken?.logs.length, taken?.logs.at(-1), taken?.changes.length], [100, 'b9999', 100])
  t.is(pending.take(), null)
})
