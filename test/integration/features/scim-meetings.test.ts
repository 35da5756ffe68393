// SCIM: writes that meet others on their way, and people who share a name or an address.
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { patchOf, scimClient, type ScimClient } from './scim-client.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
test.before(async () => {
  control = await startControl()
})
test.after.always(() => control.close())

async function provider(name: string): Promise<{ readonly tenant: Tenant; readonly client: ScimClient }> {
  const tenant = await control.createTenant(name)
  return { tenant, client: await scimClient(control, tenant) }
}

async function addUser(client: ScimClient, userName: string, email = userName): Promise<string> {
  const { status, body, text } = await client.send('POST', '/Users', { body: { userName, emails: [{ value: email }] } })
  if (status !== 201) throw new Error(text)
  return String(body.id)
}

async function addGroup(client: ScimClient, displayName: string, members: readonly string[] = []): Promise<string> {
  const body = { displayName, members: members.map((value) => ({ value })) }
  return String((await client.send('POST', '/Groups', { body })).body.id)
}

const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

test.serial('a key that is made for somebody while they are removed does not wait for their return', async (t) => {
  const { tenant, client } = await provider('keys')
  const id = await addUser(client, 'keyed@example.com')
  await client.send('POST', '/Groups', { body: { displayName: 'ws-main-role-member', members: [{ value: id }] } })
  const active = (value: boolean) => client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'active', value }) })
  const wait = (count: number) =>
    eventually(async () => (await control.sql.query(waiting)).rows.length === count, 10_000, `${count} that wait`)
  const trail = await control.sql.connect()
  await trail.query('BEGIN')
  await trail.query('SELECT 1 FROM audit_heads WHERE organisation_id = $1 FOR UPDATE', [tenant.organisationId])
  const key = { name: 'k', scopes: ['completions.write'], workspace_id: tenant.workspaceId, user_id: id }
  const making = control.call(tenant.adminKey, 'POST', '/api-keys/workspace/user', key)
  await wait(1)
  const removing = active(false)
  await wait(2)
  await trail.query('ROLLBACK')
  trail.release()
  const { status, body, text } = await making
  t.is(status, 200, text)
  t.is((await removing).status, 200)
  t.is((await active(true)).status, 200)
  const { rows } = await control.sql.query('SELECT status FROM api_keys WHERE id = $1', [body['id']])
  t.deepEqual(rows, [{ status: 'archived' }])
})

test('changes of one group at the same time are all there afterwards, whoever made them', async (t) => {
  const { tenant, client } = await provider('together')
  const beside = await scimClient(control, tenant)
  const ids = await Promise.all(Array.from({ length: 8 }, (_, at) => addUser(client, `member-${at}@example.com`)))
  const { body: group } = await client.send('POST', '/Groups', { body: { displayName: 'ws-side-role-member' } })
  const change = (at: number, operation: object) =>
    (at % 2 === 0 ? client : beside).send('PATCH', `/Groups/${String(group.id)}`, { body: patchOf(operation) })
  const joined = await Promise.all(ids.map((value, at) => change(at, { op: 'add', path: 'members', value: [{ value }] })))
  t.true(joined.every((answer) => answer.status === 200))
  const [rename, ...left] = await Promise.all([
    change(1, { op: 'replace', path: 'displayName', value: 'ws-side-role-manager' }),
    ...ids.slice(0, 4).map((id, at) => change(at, { op: 'remove', path: `members[value eq "${id}"]` })),
  ])
  t.deepEqual(
    [rename, ...left].map((answer) => answer.status),
    [200, 200, 200, 200, 200],
  )
  const { rows } = await control.sql.query<{ user_id: string; role: string }>(
    'SELECT user_id, role FROM workspace_members WHERE user_id = ANY ($1) ORDER BY user_id',
    [ids],
  )
  t.deepEqual(
    rows,
    ids
      .slice(4)
      .toSorted((one, other) => (one < other ? -1 : 1))
      .map((user_id) => ({ user_id, role: 'manager' })),
  )
  const headers = { 'if-match': String((await client.send('GET', `/Users/${ids[0]}`)).headers.get('etag')) }
  const retitle = (value: string) =>
    client.send('PATCH', `/Users/${ids[0]}`, { headers, body: patchOf({ op: 'replace', path: 'title', value }) })
  const raced = await Promise.all(['a', 'b', 'c'].map(retitle))
  t.is(raced.filter(({ status }) => status === 200).length, 1)
  t.is(raced.filter(({ status }) => status === 412).length, 2)
})

type Ending = (tenant: Tenant, tokenId: string) => Promise<unknown>

const rotating =
  (transition_period_ms: number): Ending =>
  ({ adminKey }, id) =>
    control.call(adminKey, 'POST', `/scim/tokens/${id}/rotate`, { transition_period_ms })

const endings: readonly (readonly [title: string, ending: Ending, status: number])[] = [
  ['undone if its token is revoked', ({ adminKey }, id) => control.call(adminKey, 'DELETE', `/scim/tokens/${id}`), 401],
  ['undone if its token is rotated and the old one is good no longer', rotating(0), 401],
  ['done if its token is rotated and the old one is good for a while', rotating(60_000), 201],
  [
    'undone if its token expires',
    (_, id) => control.sql.query(`UPDATE scim_tokens SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]),
    401,
  ],
]

for (const [at, [title, end, status]] of endings.entries())
  test.serial(`a write that waits for others is ${title} meanwhile`, async (t) => {
    const { tenant, client } = await provider(`waiting-${at}`)
    const { body } = await control.call(tenant.adminKey, 'GET', '/scim/tokens')
    const [{ id } = { id: '' }] = body['data'] as { id: string }[]
    const other = await control.sql.connect()
    await other.query('BEGIN')
    await other.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`gatehouse:scim:${tenant.organisationId}`])
    const writing = client.send('POST', '/Users', { body: { userName: 'late@example.com' } })
    const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%gatehouse:scim:${tenant.organisationId}%'`
    await eventually(async () => (await control.sql.query(waits)).rows.length > 0, 10_000, 'a write that waits')
    await end(tenant, id)
    await other.query('ROLLBACK')
    other.release()
    t.is((await writing).status, status)
    const made = await control.sql.query('SELECT 1 FROM users WHERE organisation_id = $1', [tenant.organisationId])
    t.is(made.rows.length, status === 201 ? 1 : 0)
  })

test('somebody may go by the address of another, who goes by another name', async (t) => {
  const { client } = await provider('names')
  await addUser(client, 'jane', 'jane@example.com')
  const id = await addUser(client, 'jane@example.com', 'jane.two@example.com')
  const found = await client.send('GET', `/Users?filter=${encodeURIComponent('userName eq "jane@example.com"')}`)
  t.deepEqual(
    found.body.Resources.map((one: { id: string }) => one.id),
    [id],
  )
  const taken = await client.send('PATCH', `/Users/${id}`, {
    body: patchOf({ op: 'replace', path: 'emails', value: [{ value: 'jane@example.com' }] }),
  })
  t.is(taken.body.scimType, 'uniqueness')
  t.regex(taken.body.detail, /`emails` jane@example\.com/)
})

/** Ways in which the members of a group change. */
const moves: Readonly<
  Record<string, readonly [method: string, path: (user: string, group: string) => string, body: (user: string) => unknown]>
> = {
  'a member is removed from the organisation': ['DELETE', (user) => `/Users/${user}`, () => undefined],
  'a member is taken out': [
    'PATCH',
    (_, group) => `/Groups/${group}`,
    (user) => patchOf({ op: 'remove', path: `members[value eq "${user}"]` }),
  ],
  'its members are replaced': ['PUT', (_, group) => `/Groups/${group}`, () => ({ displayName: 'People', members: [] })],
}

for (const [name, [method, path, body]] of Object.entries(moves))
  test(`the version of a group changes when ${name}: who has the one before writes nothing`, async (t) => {
    const { client } = await provider(`versions: ${name}`)
    const id = await addUser(client, 'ada@example.com')
    const group = await addGroup(client, 'People', [id])
    const apart = await addGroup(client, 'Others')
    const versions = async () =>
      Promise.all([group, apart].map(async (one) => (await client.send('GET', `/Groups/${one}`)).body.meta.version))
    const [before, beside] = await versions()
    const sent = body(id)
    t.true((await client.send(method, path(id, group), sent === undefined ? {} : { body: sent })).status < 300)
    const [after, still] = await versions()
    t.not(after, before)
    t.is(still, beside)
    const rename = { body: patchOf({ op: 'replace', path: 'displayName', value: 'New' }), headers: { 'if-match': before } }
    t.is((await client.send('PATCH', `/Groups/${group}`, rename)).status, 412)
    t.is((await client.send('GET', `/Groups/${group}`, { headers: { 'if-none-match': before } })).status, 200)
  })
