// SCIM 2.0: users, groups and places that an identity provider writes, its tokens, and the excluded callers.
import test from 'ava'
import { userScopes } from '../../../src/lib/access/scopes.ts'
import { settleScimPlaces } from '../../../src/features/scim/settle.jobs.ts'
import { clientWith, enterprise, groupSchema, patchOf, scimClient, userSchema, type ScimClient } from './scim-client.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
test.before(async () => {
  control = await startControl()
})
test.after.always(() => control.close())

let tenants = 0

async function provider(): Promise<{ readonly tenant: Tenant; readonly client: ScimClient }> {
  tenants += 1
  const tenant = await control.createTenant(`scim-${tenants}`)
  return { tenant, client: await scimClient(control, tenant) }
}

const ada = { schemas: [userSchema], userName: 'ada@example.com', name: { givenName: 'Ada', familyName: 'Lovelace' }, active: true }

async function addUser(client: ScimClient, userName: string, more: object = {}): Promise<string> {
  const { status, body, text } = await client.send('POST', '/Users', { body: { schemas: [userSchema], userName, active: true, ...more } })
  if (status !== 201) throw new Error(text)
  return body.id as string
}

async function addGroup(client: ScimClient, displayName: string, members: readonly string[] = []): Promise<string> {
  const { status, body, text } = await client.send('POST', '/Groups', {
    body: { schemas: [groupSchema], displayName, members: members.map((value) => ({ value })) },
  })
  if (status !== 201) throw new Error(text)
  return body.id as string
}

/** Role by slug of workspace; a star: given by a group. */
async function placesOf(userId: string): Promise<Readonly<Record<string, string>>> {
  const { rows } = await control.sql.query<{ slug: string; role: string; by_group: boolean }>(
    'SELECT w.slug, m.role, m.by_group FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = $1 ORDER BY w.slug',
    [userId],
  )
  return Object.fromEntries(rows.map(({ slug, role, by_group }) => [slug, by_group ? `${role}*` : role]))
}

const roleOf = async (userId: string) =>
  (await control.sql.query<{ role: string; status: string }>('SELECT role, status FROM users WHERE id = $1', [userId])).rows[0]

const usersWhere = (text: string) => `/Users?filter=${encodeURIComponent(text)}`

test('a user is made, read, found, replaced, changed and removed; each answer has the shape of RFC 7644', async (t) => {
  const { client } = await provider()
  const made = await client.send('POST', '/Users', {
    body: {
      ...ada,
      externalId: 'okta-1',
      emails: [{ value: 'Ada@Example.com', primary: true, type: 'work' }],
      [enterprise]: { department: 'Maths' },
    },
  })
  t.is(made.status, 201)
  t.is(made.headers.get('content-type'), 'application/scim+json; charset=utf-8')
  t.is(made.headers.get('location'), made.body.meta.location)
  t.is(made.headers.get('etag'), made.body.meta.version)
  t.deepEqual(made.body.schemas, [userSchema, enterprise])
  t.like(made.body, { userName: 'ada@example.com', externalId: 'okta-1', active: true, [enterprise]: { department: 'Maths' } })
  const path = `/Users/${made.body.id}`
  t.deepEqual((await client.send('GET', path)).body, made.body)
  const replaced = await client.send('PUT', path, { body: { ...ada, name: { givenName: 'Augusta' }, title: 'Countess' } })
  t.like(replaced.body, { name: { givenName: 'Augusta' }, title: 'Countess' })
  t.is(replaced.body.externalId, undefined)
  t.is(replaced.body[enterprise], undefined)
  t.not(replaced.headers.get('etag'), made.headers.get('etag'))
  const changed = await client.send('PATCH', path, { body: patchOf({ op: 'Replace', path: 'active', value: 'False' }) })
  t.like(changed.body, { active: false, title: 'Countess' })
  t.is((await client.send('DELETE', path)).status, 204)
  const gone = await client.send('GET', path)
  t.is(gone.status, 404)
  t.like(gone.body, { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '404' })
  const again = await client.send('POST', '/Users', { body: ada })
  t.is(again.status, 201)
  t.not(again.body.id, made.body.id)
})

test('ETags: a read that changed nothing is 304, a write of what somebody else has changed is 412', async (t) => {
  const { client } = await provider()
  const id = await addUser(client, 'ada@example.com')
  const etag = (await client.send('GET', `/Users/${id}`)).headers.get('etag') ?? ''
  t.is((await client.send('GET', `/Users/${id}`, { headers: { 'if-none-match': etag } })).status, 304)
  const body = patchOf({ op: 'replace', path: 'title', value: 'Countess' })
  t.is((await client.send('PATCH', `/Users/${id}`, { body, headers: { 'if-match': etag } })).status, 200)
  t.is((await client.send('PATCH', `/Users/${id}`, { body, headers: { 'if-match': etag } })).status, 412)
  t.is((await client.send('PATCH', `/Users/${id}`, { body, headers: { 'if-match': '*' } })).status, 200)
  const group = await addGroup(client, 'People')
  const version = (await client.send('GET', `/Groups/${group}`)).headers.get('etag') ?? ''
  t.is((await client.send('GET', `/Groups/${group}`, { headers: { 'if-none-match': version } })).status, 304)
  t.is((await client.send('DELETE', `/Groups/${group}`, { headers: { 'if-match': 'W/"99"' } })).status, 412)
})

test('filters, sorting, pages and the choice of attributes', async (t) => {
  const { client } = await provider()
  for (const [at, name] of ['Ada', 'Bea', 'Cleo', 'Dora'].entries())
    await addUser(client, `${name.toLowerCase()}@example.com`, {
      externalId: `X${at}`,
      name: { givenName: name, familyName: at < 2 ? 'One' : 'Two' },
      active: at !== 3,
      title: at === 0 ? 'Countess' : undefined,
      emails: [
        { value: `${name.toLowerCase()}@example.com`, type: 'work', primary: true },
        { value: `${name.toLowerCase()}@home.example`, type: 'home' },
      ],
      [enterprise]: { department: at % 2 === 0 ? 'Maths' : 'Sales', manager: { value: 'boss' } },
    })
  const found = async (filter: string) => {
    const { status, body, text } = await client.send('GET', `/Users?sortBy=userName&filter=${encodeURIComponent(filter)}`)
    if (status !== 200) throw new Error(text)
    return body.Resources.map(({ name }: { name: { givenName: string } }) => name.givenName[0]).join('')
  }
  const cases: readonly (readonly [filter: string, who: string])[] = [
    ['userName eq "ADA@example.com"', 'A'],
    ['USERNAME Eq "ada@example.com"', 'A'],
    [`${userSchema}:userName eq "ada@example.com"`, 'A'],
    ['externalId eq "X1"', 'B'],
    ['externalId eq "x1"', ''],
    ['name.familyName eq "two"', 'CD'],
    ['name.givenName sw "d" or name.givenName sw "c"', 'CD'],
    ['not (name.familyName eq "Two")', 'AB'],
    ['name.familyName eq "One" and not (active eq false) and title pr', 'A'],
    ['name.familyName eq "One" or name.familyName eq "Two" and active eq false', 'ABD'],
    ['(name.familyName eq "One" or name.familyName eq "Two") and active eq "False"', 'D'],
    ['active ne true', 'D'],
    ['title ne "Countess"', 'BCD'],
    ['title eq null', 'BCD'],
    ['emails.value co "bea"', 'B'],
    ['emails[type eq "home" and value sw "cleo"]', 'C'],
    ['emails[type eq "work"].value eq "dora@example.com"', 'D'],
    ['emails[type eq "home"].value eq "dora@example.com"', ''],
    ['emails eq "ada@home.example"', 'A'],
    ['emails[not (type eq "work") and value ew "HOME.example"]', 'ABCD'],
    [`${enterprise}:department eq "maths"`, 'AC'],
    [`${enterprise}:manager.value eq "boss"`, 'ABCD'],
    [`${enterprise}:manager eq "boss"`, 'ABCD'],
    ['userName gt "bea@example.com" and userName le "cleo@example.com"', 'C'],
    ['meta.created gt "2020-01-01T00:00:00Z"', 'ABCD'],
    ['meta.lastModified lt "2020-01-01T00:00:00Z"', ''],
    ['meta.resourceType eq "User"', 'ABCD'],
    ['title eq "quote \\" and \\\\ back"', ''],
  ]
  for (const [filter, who] of cases) t.is(await found(filter), who, filter)
  const page = await client.send('GET', '/Users?sortBy=userName&sortOrder=descending&startIndex=2&count=2')
  t.like(page.body, { totalResults: 4, startIndex: 2, itemsPerPage: 2 })
  t.deepEqual(
    page.body.Resources.map(({ userName }: { userName: string }) => userName),
    ['cleo@example.com', 'bea@example.com'],
  )
  t.like((await client.send('GET', '/Users?count=0')).body, { totalResults: 4, itemsPerPage: 0, Resources: [] })
  t.like((await client.send('GET', '/Users?startIndex=-3&aadOptscim062020')).body, { startIndex: 1, itemsPerPage: 4 })
  const [one] = (await client.send('GET', '/Users?count=1&sortBy=userName&attributes=userName,name.givenName,emails.value')).body.Resources
  t.deepEqual(Object.keys(one).toSorted(), ['emails', 'id', 'name', 'schemas', 'userName'])
  t.deepEqual([one.name, one.emails[0]], [{ givenName: 'Ada' }, { value: 'ada@example.com' }])
  const [other] = (await client.send('GET', `/Users?count=1&excludedAttributes=emails.type,meta,${enterprise}:department`)).body.Resources
  t.deepEqual([other.meta, other.emails[0].type, other[enterprise].department], [undefined, undefined, undefined])
  t.truthy(other.emails[0].value)
})

test('a bad request is told in the schema of SCIM, by the name that RFC 7644 gives it', async (t) => {
  const { client } = await provider()
  const id = await addUser(client, 'ada@example.com')
  await addUser(client, 'bea@example.com')
  const group = await addGroup(client, 'People')
  const patch = (...operations: readonly unknown[]) => ['PATCH', `/Users/${id}`, patchOf(...operations)] as const
  const cases: readonly (readonly [string, string, unknown, number, string?])[] = [
    ['GET', usersWhere('userName'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('userName eq'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('userName is "x"'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('password eq "x"'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere(`userName eq "x"; DROP TABLE users`), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('active gt true'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('name eq "Ada"'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('meta.created gt "+275760-09-13T00:00:00.000Z"'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('meta.created gt "0000-01-01T00:00:00.000Z"'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('meta.created gt "9999-12-31T23:59:59.999Z"'), undefined, 200],
    ['GET', usersWhere('name[givenName eq "Ada"]'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere(`${'('.repeat(11)}active eq true${')'.repeat(11)}`), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere(`userName eq "${'x'.repeat(2100)}"`), undefined, 400, 'invalidFilter'],
    ['GET', '/Users?count=many', undefined, 400, 'invalidValue'],
    ['GET', '/Users?startIndex=99999999999999999999', undefined, 200],
    ['GET', '/Users?sortBy=nothing', undefined, 400, 'invalidPath'],
    ['GET', '/Users?attributes=userName&excludedAttributes=meta', undefined, 400, 'invalidValue'],
    ['GET', '/Users/no-such-id', undefined, 404],
    ['GET', '/Unknown', undefined, 404],
    ['POST', '/Users', {}, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'nobody' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x@example.com', active: 'perhaps' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x@example.com', name: 'Ada' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x@example.com', title: 'a\0b' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'BEA@example.com' }, 409, 'uniqueness'],
    ['POST', '/Users', { userName: 'other', emails: [{ value: 'bea@example.com' }] }, 409, 'uniqueness'],
    ['PUT', `/Users/${id}`, { userName: 'bea@example.com' }, 409, 'uniqueness'],
    ['POST', '/Groups', { displayName: 'people' }, 409, 'uniqueness'],
    ['POST', '/Groups', { displayName: ' ' }, 400, 'invalidValue'],
    ['POST', '/Groups', { displayName: 'New', members: [{ value: 'nobody' }] }, 400, 'invalidValue'],
    ['POST', '/Groups', { displayName: 'New', members: [{ value: crypto.randomUUID() }] }, 400, 'invalidValue'],
    [...patch({ op: 'copy', path: 'title', value: 'x' }), 400, 'invalidSyntax'],
    [...patch(), 400, 'invalidSyntax'],
    [...patch({ op: 'remove' }), 400, 'noTarget'],
    [...patch({ op: 'add', path: 'title' }), 400, 'invalidValue'],
    [...patch({ op: 'replace', path: 'nothing', value: 'x' }), 400, 'invalidPath'],
    [...patch({ op: 'replace', path: 'emails[type eq', value: 'x' }), 400, 'invalidPath'],
    [...patch({ op: 'replace', path: 'emails[type sw "w"].display', value: 'x' }), 200],
    [...patch({ op: 'replace', path: 'emails[type sw "q"].display', value: 'x' }), 400, 'noTarget'],
    [...patch({ op: 'replace', path: 'id', value: 'x' }), 400, 'mutability'],
    [...patch({ op: 'remove', path: 'userName' }), 400, 'invalidValue'],
    ['PATCH', `/Groups/${group}`, patchOf({ op: 'replace', path: 'members[value eq "x"].display', value: 'y' }), 400, 'mutability'],
    ['PATCH', '/Users', patchOf({ op: 'remove', path: 'title' }), 405],
    ['DELETE', '/Schemas', undefined, 405],
    ['POST', '/Bulk', {}, 404],
    [...patch(...Array.from({ length: 1000 }, () => ({ op: 'replace', path: 'title', value: 'x' }))), 200],
    [...patch(...Array.from({ length: 1001 }, () => ({ op: 'replace', path: 'title', value: 'x' }))), 400, 'tooMany'],
    // Names that every object has do not match here.
    ['GET', usersWhere('__proto__ pr'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('constructor eq "x"'), undefined, 400, 'invalidFilter'],
    ['GET', usersWhere('name.constructor eq "x"'), undefined, 400, 'invalidFilter'],
    ['GET', '/Users?sortBy=constructor', undefined, 400, 'invalidPath'],
    ['GET', '/Users?sortBy=toString', undefined, 400, 'invalidPath'],
    ['GET', '/Users?attributes=__proto__,constructor,name.toString', undefined, 200],
    ['POST', '/Users', '{"userName":"x@example.com","__proto__":{"active":true}}', 400],
    ['POST', '/Users', '{"userName":"x@example.com","name":{"constructor":{"prototype":{"x":1}}}}', 400],
    ['POST', '/Groups', '{"displayName":"x","members":[{"__proto__":{"value":"x"}}]}', 400],
    [...patch({ op: 'add', path: '__proto__', value: { active: false } }), 400, 'invalidPath'],
    [...patch({ op: 'add', path: 'constructor.prototype', value: 'x' }), 400, 'invalidPath'],
    [...patch({ op: 'add', path: 'name.__proto__', value: 'x' }), 400, 'invalidPath'],
    ['POST', '/Users', '{', 400, 'invalidSyntax'],
    ['POST', '/Users', [], 400, 'invalidSyntax'],
  ]
  for (const [method, path, body, status, scimType] of cases) {
    const answer = await client.send(method, path, body === undefined ? {} : { body })
    t.is(answer.status, status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`)
    if (status === 200) continue
    t.deepEqual(answer.body.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
    t.is(answer.body.status, String(status))
    t.is(answer.body.scimType, scimType, `${method} ${path}: ${answer.text}`)
    t.is(answer.headers.get('content-type'), 'application/scim+json; charset=utf-8')
  }
  const plain = await client.send('POST', '/Users', { body: 'x', headers: { 'content-type': 'text/plain' } })
  t.is(plain.status, 415)
  t.deepEqual(plain.body.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
  t.regex(plain.text, /must be application\/scim\+json or application\/json, not text\/plain/)
})

test('PATCH takes every form of a path, and the ways in which identity providers bend it', async (t) => {
  const { client } = await provider()
  const id = await addUser(client, 'ada@example.com')
  const patch = async (...operations: readonly unknown[]) => {
    const { status, body, text } = await client.send('PATCH', `/Users/${id}`, { body: patchOf(...operations) })
    if (status !== 200) throw new Error(text)
    return body
  }
  t.like(await patch({ op: 'Add', path: 'name.givenName', value: 'Ada' }), { name: { givenName: 'Ada' } })
  t.like(await patch({ op: 'replace', path: 'name', value: { familyName: 'Byron' } }), { name: { givenName: 'Ada', familyName: 'Byron' } })
  t.like(await patch({ op: 'replace', value: { 'name.familyName': 'Lovelace', active: 'True', nickName: 'A' } }), {
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    nickName: 'A',
  })
  t.like(await patch({ op: 'add', path: 'emails[type eq "home"].value', value: 'ada@home.example' }), {
    emails: [
      { value: 'ada@example.com', type: 'work', primary: true },
      { value: 'ada@home.example', type: 'home' },
    ],
  })
  t.like(await patch({ op: 'replace', path: 'emails[type eq "home"]', value: { display: 'Home' } }), {
    emails: [{ type: 'work' }, { value: 'ada@home.example', display: 'Home' }],
  })
  t.like(await patch({ op: 'add', path: 'emails', value: [{ value: 'ada@new.example', primary: true }] }), {
    emails: [{ primary: false }, { type: 'home' }, { value: 'ada@new.example', primary: true }],
  })
  t.is((await patch({ op: 'remove', path: 'emails[value eq "ADA@home.example"]' })).emails.length, 2)
  t.like(await patch({ op: 'replace', path: `${enterprise}:department`, value: 'Maths' }), { [enterprise]: { department: 'Maths' } })
  t.like(await patch({ op: 'add', value: { [`${enterprise}:employeeNumber`]: 42, [enterprise]: { division: 'D' } } }), {
    [enterprise]: { department: 'Maths', employeeNumber: '42', division: 'D' },
  })
  t.like(await patch({ op: 'add', path: `${enterprise}:manager`, value: 'boss-id' }), { [enterprise]: { manager: { value: 'boss-id' } } })
  t.is((await patch({ op: 'remove', path: enterprise }))[enterprise], undefined)
  t.like(await patch({ op: 'add', path: 'phoneNumbers[type eq "mobile" and primary eq true].value', value: '1' }), {
    phoneNumbers: [{ type: 'mobile', primary: true, value: '1' }],
  })
  t.is((await patch({ op: 'remove', path: 'phoneNumbers' })).phoneNumbers, undefined)
  t.is((await patch({ op: 'replace', path: 'nickName', value: null })).nickName, undefined)
  t.like(await patch({ op: 'replace', value: { unknown: 'x', id: 'y', schemas: [], meta: {} } }), { id })
  t.deepEqual((await control.sql.query('SELECT email, first_name, last_name FROM users WHERE id = $1', [id])).rows, [
    { email: 'ada@new.example', first_name: 'Ada', last_name: 'Lovelace' },
  ])
})

test('groups: members come and go by every form of PATCH and by PUT', async (t) => {
  const { client } = await provider()
  const [a, b, c] = [await addUser(client, 'a@example.com'), await addUser(client, 'b@example.com'), await addUser(client, 'c@example.com')]
  const id = await addGroup(client, 'People', [a])
  const members = async () =>
    ((await client.send('GET', `/Groups/${id}`)).body.members as { value: string }[])
      .map(({ value }) => [a, b, c].indexOf(value))
      .toSorted((first, second) => first - second)
      .join('')
  const patch = async (...operations: readonly unknown[]) => {
    const { status, text } = await client.send('PATCH', `/Groups/${id}`, { body: patchOf(...operations) })
    if (status !== 200) throw new Error(text)
    return members()
  }
  t.is(await patch({ op: 'Add', path: 'members', value: [{ value: b }, { value: b }, { value: a }] }), '01')
  t.is(await patch({ op: 'Remove', path: `members[value eq "${a}"]` }), '1')
  t.is(await patch({ op: 'add', value: { members: [{ value: a }, { value: c }], displayName: 'Folk' } }), '012')
  t.is(await patch({ op: 'Remove', path: 'members', value: [{ value: a }] }), '12')
  t.is(await patch({ op: 'remove', path: 'members', value: [] }), '12')
  t.is(await patch({ op: 'replace', path: 'members', value: [{ value: a }] }), '0')
  t.is(await patch({ op: 'add', path: 'members', value: [{ value: b }, { value: c }] }), '012')
  t.is(await patch({ op: 'remove', path: 'members[display sw "b@"]' }), '02')
  t.is(await patch({ op: 'remove', path: 'members' }), '')
  await client.send('PUT', `/Groups/${id}`, { body: { displayName: 'Folk', members: [{ value: c }] } })
  t.is(await members(), '2')
  t.is((await client.send('GET', `/Groups?filter=${encodeURIComponent(`members[value eq "${c}"]`)}`)).body.totalResults, 1)
  t.is(
    (await client.send('GET', `/Groups?filter=${encodeURIComponent('displayName eq "FOLK"')}&excludedAttributes=members`)).body.Resources[0]
      .members,
    undefined,
  )
  t.is((await client.send('DELETE', `/Users/${c}`)).status, 204)
  t.is(await members(), '')
})

test('the name of a group gives a place in a workspace, the highest role counts, and what groups gave goes with them', async (t) => {
  const { client, tenant } = await provider()
  const id = await addUser(client, 'ada@example.com')
  const member = await addGroup(client, 'ws-Main-role-member', [id])
  t.deepEqual(await placesOf(id), { main: 'member*' })
  const admin = await addGroup(client, 'WS-main-Role-ADMIN', [id])
  t.deepEqual(await placesOf(id), { main: 'admin*' })
  await client.send('DELETE', `/Groups/${admin}`)
  t.deepEqual(await placesOf(id), { main: 'member*' })
  await client.send('PATCH', `/Groups/${member}`, { body: patchOf({ op: 'replace', path: 'displayName', value: 'ws-Side-role-manager' }) })
  t.deepEqual(await placesOf(id), { side: 'manager*' })
  const { body } = await control.call(tenant.adminKey, 'POST', '/api-keys/workspace/user', {
    name: 'hers',
    workspace_id: tenant.sideId,
    user_id: id,
    scopes: [...userScopes].slice(0, 3),
  })
  t.truthy(body['key'])
  await client.send('PATCH', `/Groups/${member}`, { body: patchOf({ op: 'remove', path: 'members' }) })
  t.deepEqual(await placesOf(id), {})
  t.deepEqual((await control.sql.query('SELECT status FROM api_keys WHERE user_id = $1', [id])).rows, [{ status: 'archived' }])
})

test('a place given by hand stays until a group gives it too; from then on the groups decide', async (t) => {
  const { client, tenant } = await provider()
  const id = await addUser(client, 'ada@example.com')
  await control.call(tenant.adminKey, 'POST', '/admin/workspaces/main/users', { users: [{ id, role: 'admin' }] })
  const other = await addGroup(client, 'ws-Side-role-member', [id])
  await client.send('DELETE', `/Groups/${other}`)
  t.deepEqual(await placesOf(id), { main: 'admin' })
  const group = await addGroup(client, 'ws-Main-role-member', [id])
  t.deepEqual(await placesOf(id), { main: 'member*' })
  await client.send('DELETE', `/Groups/${group}`)
  t.deepEqual(await placesOf(id), {})
})

test('a workspace that comes after its group is found within a minute; a name that two have gives nothing', async (t) => {
  const { client, tenant } = await provider()
  const id = await addUser(client, 'ada@example.com')
  await addGroup(client, 'ws-Sales-role-member', [id])
  t.deepEqual(await placesOf(id), {})
  await control.call(tenant.adminKey, 'POST', '/admin/workspaces', { name: 'Sales', slug: 'sales-1' })
  await settleScimPlaces.run(control.started.deps)
  t.deepEqual(await placesOf(id), { 'sales-1': 'member*' })
  await control.call(tenant.adminKey, 'POST', '/admin/workspaces', { name: 'Sales', slug: 'sales-2' })
  await settleScimPlaces.run(control.started.deps)
  t.deepEqual(await placesOf(id), {})
})

test('mappings: any group gives roles in several workspaces', async (t) => {
  const { client, tenant } = await provider()
  const rival = await provider()
  const id = await addUser(client, 'ada@example.com')
  const group = await addGroup(client, 'Engineers', [id])
  const map = (body: unknown) => control.call(tenant.adminKey, 'POST', '/scim/workspaces', body)
  const first = await map({ workspace_id: tenant.workspaceId, role: 'MANAGER', scim_group_id: group })
  t.is(first.status, 200, first.text)
  t.like(first.body, { workspace_id: tenant.workspaceId, scim_group: 'Engineers', scim_group_id: group, role: 'manager' })
  t.is((await map({ workspace_id: 'side', role: 'member', scim_group_name: 'ENGINEERS' })).status, 200)
  t.deepEqual(await placesOf(id), { main: 'manager*', side: 'member*' })
  t.is((await map({ workspace_id: 'side', role: 'admin', scim_group_id: group })).status, 409)
  t.is((await map({ workspace_id: 'side', role: 'admin', scim_group_name: 'Nobody' })).status, 404)
  t.is((await map({ workspace_id: 'side', role: 'admin' })).status, 400)
  const odd = await map({ workspace_id: 'side', role: 'admin', scim_group_name: 'a\0b' })
  t.like(odd.body['error'], { code: 'AB01', param: 'scim_group_name' })
  t.is((await map({ workspace_id: 'side', role: 'owner', scim_group_id: group })).status, 400)
  t.is(
    (await control.call(rival.tenant.adminKey, 'POST', '/scim/workspaces', { workspace_id: 'main', role: 'admin', scim_group_id: group }))
      .status,
    404,
  )
  t.is((await control.call(tenant.workspaceKey, 'GET', '/scim/workspaces')).status, 403)
  const list = await control.call(tenant.adminKey, 'GET', '/scim/workspaces?page=2&page_size=1')
  t.like(list.body, { total_count: 2, mappings: [{ role: 'member' }] })
  t.is(
    (await control.call(tenant.adminKey, 'GET', `/scim/workspaces?role=manager&workspace_id=main&scim_group_id=${group}`)).body[
      'total_count'
    ],
    1,
  )
  t.deepEqual((await control.call(tenant.adminKey, 'DELETE', `/scim/workspaces/${String(first.body['id'])}`)).body, { success: true })
  t.deepEqual(await placesOf(id), { side: 'member*' })
})

test('groups make admins of the organisation, owners only where SCIM_OWNER_GROUPS says so', async (t) => {
  const { client } = await provider()
  const id = await addUser(client, 'ada@example.com')
  const owners = await addGroup(client, 'org-role-owner', [id])
  t.like(await roleOf(id), { role: 'member' })
  const admins = await addGroup(client, 'org-role-admin', [id])
  t.like(await roleOf(id), { role: 'admin' })
  await client.send('PATCH', `/Groups/${admins}`, { body: patchOf({ op: 'remove', path: `members[value eq "${id}"]` }) })
  t.like(await roleOf(id), { role: 'member' })
  t.is((await client.send('GET', `/Groups/${owners}`)).body.members.length, 1)
})

test('a user who is deactivated loses places and keys in every process within a second, and returns without them', async (t) => {
  const { client, tenant } = await provider()
  const id = await addUser(client, 'ada@example.com')
  const group = await addGroup(client, 'ws-Main-role-member', [id])
  const key = await control.createKey(tenant, { workspaceId: tenant.workspaceId, userId: id, scopes: userScopes })
  const beside = await control.openBeside()
  const asks = async (origin: string) => (await fetch(`${origin}/v1/prompts`, { headers: { 'x-service-api-key': key } })).status
  t.deepEqual([await asks(control.origin), await asks(beside)], [200, 200])
  await client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'Replace', path: 'active', value: 'False' }) })
  const at = performance.now()
  while ((await asks(beside)) !== 401 || (await asks(control.origin)) !== 401) t.true(performance.now() - at < 1000)
  t.deepEqual(await placesOf(id), {})
  await client.send('PUT', `/Groups/${group}`, { body: { displayName: 'ws-Main-role-member', members: [{ value: id }] } })
  t.deepEqual([await placesOf(id), (await roleOf(id))?.status], [{}, 'archived'])
  await client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', value: { active: true } }) })
  t.deepEqual([await placesOf(id), (await roleOf(id))?.status], [{ main: 'member*' }, 'active'])
  t.is(await asks(control.origin), 401)
})

test("people who were there before are seen, and become the identity provider's; the last owner stays", async (t) => {
  const { client, tenant } = await provider()
  const owner = await control.createUser(tenant, { email: 'owner@example.com', role: 'owner' })
  const found = await client.send('GET', `/Users?filter=${encodeURIComponent('userName eq "owner@example.com"')}`)
  t.is(found.body.Resources[0].id, owner)
  const adopted = await client.send('POST', '/Users', {
    body: { userName: 'boss', emails: [{ value: 'owner@example.com' }], externalId: '7' },
  })
  t.deepEqual([adopted.status, adopted.body.id], [201, owner])
  t.is((await client.send('POST', '/Users', { body: { userName: 'boss2', emails: [{ value: 'owner@example.com' }] } })).status, 409)
  const refused = await client.send('PATCH', `/Users/${owner}`, { body: patchOf({ op: 'replace', path: 'active', value: false }) })
  t.is(refused.status, 403)
  t.regex(refused.body.detail, /last owner/)
  t.is((await client.send('DELETE', `/Users/${owner}`)).status, 403)
  await control.createUser(tenant, { email: 'second@example.com', role: 'owner' })
  t.is((await client.send('DELETE', `/Users/${owner}`)).status, 204)
})

test('tokens: shown once, hashed, rotated with a transition, revoked at once, refused to others', async (t) => {
  const { tenant } = await provider()
  const made = await control.call(tenant.adminKey, 'POST', '/scim/tokens', { name: 'Okta' })
  const token = String(made.body['token'])
  const ask = async (text: string) => (await clientWith(control.origin, text).send('GET', '/Users')).status
  t.is(await ask(token), 200)
  t.false((await control.dump()).includes(token))
  const list = await control.call(tenant.adminKey, 'GET', '/scim/tokens')
  t.false(list.text.includes(token))
  t.is((list.body['data'] as unknown[]).length, 2)
  const path = `/scim/tokens/${String(made.body['id'])}`
  const rotated = await control.call(tenant.adminKey, 'POST', `${path}/rotate`)
  t.deepEqual([await ask(token), await ask(String(rotated.body['token']))], [200, 200])
  const strict = await control.call(tenant.adminKey, 'POST', `${path}/rotate`, { transition_period_ms: 0 })
  t.deepEqual([await ask(token), await ask(String(rotated.body['token'])), await ask(String(strict.body['token']))], [401, 401, 200])
  t.is((await control.call(tenant.adminKey, 'DELETE', path)).status, 200)
  t.is(await ask(String(strict.body['token'])), 401)
  t.is((await control.call(tenant.adminKey, 'DELETE', path)).status, 404)
  t.is((await control.call(tenant.workspaceKey, 'POST', '/scim/tokens', { name: 'x' })).status, 403)
  t.is((await control.call(tenant.adminKey, 'POST', '/scim/tokens', { name: 'x', expires_at: '2020-01-01T00:00:00Z' })).status, 400)
  for (const credential of [tenant.adminKey, tenant.workspaceKey, 'x', '']) t.is(await ask(credential), 401)
  const other = await scimClient(control, tenant)
  t.is((await control.call(other.token, 'GET', '/admin/users')).status, 401)
  const unauthorized = await clientWith(control.origin, 'bad').send('GET', '/Users')
  t.like(unauthorized.body, { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '401' })
  t.regex(unauthorized.headers.get('www-authenticate') ?? '', /^Bearer/)
})

test('an identity provider sees and changes its own organisation alone', async (t) => {
  const [mine, theirs] = [await provider(), await provider()]
  const id = await addUser(theirs.client, 'ada@example.com')
  const group = await addGroup(theirs.client, 'People', [id])
  t.is(await addUser(mine.client, 'ada@example.com').then((own) => own === id), false)
  for (const path of [`/Users/${id}`, `/Groups/${group}`]) {
    t.is((await mine.client.send('GET', path)).status, 404)
    t.is((await mine.client.send('PUT', path, { body: { userName: 'x@example.com', displayName: 'x' } })).status, 404)
    t.is((await mine.client.send('DELETE', path)).status, 404)
  }
  t.is((await mine.client.send('POST', '/Groups', { body: { displayName: 'Mine', members: [{ value: id }] } })).status, 400)
  t.is((await mine.client.send('GET', `/Users?filter=${encodeURIComponent(`id eq "${id}"`)}`)).body.totalResults, 0)
})

test('every write is in the audit trail with the client that made it; reads are not', async (t) => {
  const { client, tenant } = await provider()
  const id = await addUser(client, 'ada@example.com')
  await client.send('GET', '/Users')
  await addGroup(client, 'ws-Main-role-member', [id])
  const { body } = await control.call(tenant.adminKey, 'GET', '/audit-logs?user_type=scim_token')
  const records = (body['records'] ?? body['data']) as { resource_type: string; action: string; resource_id: string }[]
  t.deepEqual(records.map(({ resource_type, action }) => `${resource_type} ${action}`).toSorted(), [
    'scim-group create',
    'scim-user create',
  ])
})

test('the paths of other control planes lead to the same; letters count in their case', async (t) => {
  const { tenant } = await provider()
  for (const base of ['/v1/scim', '/v1/scim/v2']) {
    const client = await scimClient(control, tenant, base)
    t.is((await client.send('GET', '/ServiceProviderConfig')).body.patch.supported, true)
    t.is((await client.send('GET', '/Users')).status, 200)
    t.is((await client.send('GET', '/ResourceTypes/User')).body.schema, userSchema)
    t.is((await client.send('GET', `/Schemas/${userSchema}`)).body.id, userSchema)
    t.is((await client.send('GET', '/Schemas')).body.totalResults, 3)
  }
})
