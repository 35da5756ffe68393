// The effects of settings and levels on SCIM: users with their groups, other names of groups, owners by group, and no SCIM at all.
import test from 'ava'
import { startApp } from '../../support/app.ts'
import { clientWith, groupSchema, patchOf, userSchema, type ScimClient } from './scim-client.ts'

async function started(t: { teardown(work: () => Promise<void>): void }, env: Readonly<Record<string, string>>, release?: string) {
  const app = await startApp({ env, ...(release !== undefined && { release }) })
  t.teardown(() => app.stop())
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${app.baseUrl}/v1${path}`, {
      method,
      headers: { 'x-service-api-key': app.adminKey, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const { body } = await ask('POST', '/scim/tokens', { name: 'Identity provider' })
  return { app, ask, client: clientWith(app.baseUrl, String(body['token'])) }
}

const addUser = async (client: ScimClient, userName: string, more: object = {}) =>
  (await client.send('POST', '/Users', { body: { schemas: [userSchema], userName, ...more } })).body

const addGroup = async (client: ScimClient, displayName: string, members: readonly string[] = []) =>
  (await client.send('POST', '/Groups', { body: { schemas: [groupSchema], displayName, members: members.map((value) => ({ value })) } }))
    .body

test('SCIM_MEMBERSHIP_USER_MODE: users have groups and say them; operations on the members of groups are skipped', async (t) => {
  const { client } = await started(t, { SCIM_MEMBERSHIP_USER_MODE: 'ON' })
  const [one, two] = [await addGroup(client, 'One'), await addGroup(client, 'Two')]
  const ada = await addUser(client, 'ada@example.com', { groups: [{ value: one.id }] })
  t.like(ada, { groups: [{ value: one.id, display: 'One', type: 'direct' }] })
  const skipped = await client.send('PATCH', `/Groups/${one.id}`, {
    body: patchOf({ op: 'remove', path: `members[value eq "${ada.id}"]` }, { op: 'replace', path: 'displayName', value: 'Uno' }),
  })
  t.like(skipped.body, { displayName: 'Uno', members: [{ value: ada.id }] })
  const moved = await client.send('PATCH', `/Users/${ada.id}`, {
    body: patchOf({ op: 'add', path: 'groups', value: [{ display: 'two' }] }),
  })
  t.deepEqual((moved.body.groups as { value: string }[]).map(({ value }) => value).toSorted(), [String(one.id), String(two.id)].toSorted())
  const left = await client.send('PATCH', `/Users/${ada.id}`, { body: patchOf({ op: 'remove', path: `groups[value eq "${one.id}"]` }) })
  t.deepEqual(
    left.body.groups.map(({ value }: { value: string }) => value),
    [two.id],
  )
  t.is((await client.send('GET', `/Users?filter=${encodeURIComponent(`groups[display eq "Two"]`)}`)).body.totalResults, 1)
  t.is(
    (await client.send('PATCH', `/Users/${ada.id}`, { body: patchOf({ op: 'add', path: 'groups', value: [{ value: 'none' }] }) })).status,
    400,
  )
  const schema = (await client.send('GET', `/Schemas/${userSchema}`)).body
  t.true(schema.attributes.some(({ name }: { name: string }) => name === 'groups'))
})

test('SCIM_MEMBERSHIP_USER_MODE: the version of a user changes with the name of their group, and when it goes', async (t) => {
  const { client } = await started(t, { SCIM_MEMBERSHIP_USER_MODE: 'ON' })
  const group = await addGroup(client, 'One')
  const ada = await addUser(client, 'ada@example.com', { groups: [{ value: group.id }] })
  const bea = await addUser(client, 'bea@example.com')
  const versionOf = async (id: string) => (await client.send('GET', `/Users/${id}`)).body.meta.version as string
  const beside = await versionOf(bea.id)
  const retitle = (version: string) =>
    client.send('PATCH', `/Users/${ada.id}`, {
      body: patchOf({ op: 'replace', path: 'title', value: 'Countess' }),
      headers: { 'if-match': version },
    })
  const ways: readonly (readonly [method: string, body?: object])[] = [
    ['PATCH', patchOf({ op: 'replace', path: 'displayName', value: 'Uno' })],
    ['PUT', { displayName: 'Eins' }],
    ['DELETE'],
  ]
  for (const [method, body] of ways) {
    const before = await versionOf(ada.id)
    t.true((await client.send(method, `/Groups/${group.id}`, body === undefined ? {} : { body })).status < 300)
    t.not(await versionOf(ada.id), before, method)
    t.is((await retitle(before)).status, 412, method)
  }
  t.is(await versionOf(bea.id), beside)
})

test('SCIM_MEMBERSHIP_USER_MODE: whoever leaves their last group loses the place that it gave, in whichever way they leave', async (t) => {
  const { client, ask } = await started(t, { SCIM_MEMBERSHIP_USER_MODE: 'ON' })
  const [workspace] = (await ask('GET', '/admin/workspaces')).body['data'] as { slug: string; id: string }[]
  const group = await addGroup(client, `ws-${workspace?.slug}-role-manager`)
  const said = [{ value: group.id }]
  const userName = 'ada@example.com'
  const { id } = await addUser(client, userName, { groups: said })
  const placed = async () => {
    const { body } = await client.send('GET', `/Users/${id}`)
    const members = (await ask('GET', `/admin/workspaces/${workspace?.id}/users`)).body['data'] as { id: string; role: string }[]
    return [body.groups.map(({ value }: { value: string }) => value), members.find((one) => one.id === id)?.role]
  }
  const write = async (method: string, body: object) => t.is((await client.send(method, `/Users/${id}`, { body })).status, 200)
  const [inside, outside] = [
    [[group.id], 'manager'],
    [[], undefined],
  ]
  t.deepEqual(await placed(), inside)
  await write('PATCH', patchOf({ op: 'replace', path: 'title', value: 'Countess' }))
  t.deepEqual(await placed(), inside)
  await write('PUT', { userName })
  t.deepEqual(await placed(), inside)
  const ways: readonly (readonly [method: string, body: object])[] = [
    ['PATCH', patchOf({ op: 'remove', path: `groups[value eq "${group.id}"]` })],
    ['PATCH', patchOf({ op: 'Remove', path: 'groups', value: said })],
    ['PATCH', patchOf({ op: 'remove', path: 'groups' })],
    ['PATCH', patchOf({ op: 'replace', path: 'groups', value: [] })],
    ['PATCH', patchOf({ op: 'replace', value: { groups: [] } })],
    ['PUT', { userName, groups: [] }],
    ['PUT', { userName, Groups: null }],
  ]
  for (const [method, body] of ways) {
    await write(method, body)
    t.deepEqual(await placed(), outside, JSON.stringify(body))
    await write('PATCH', patchOf({ op: 'add', path: 'groups', value: said }))
    t.deepEqual(await placed(), inside, JSON.stringify(body))
  }
})

test('group_based_user_provisioning lets a removed user return by a group that is made, or sent again, with them', async (t) => {
  const { client, ask } = await started(t, {})
  const set = await ask('PUT', '/admin/organisation', { settings: { group_based_user_provisioning: true } })
  t.is(set.status, 200, JSON.stringify(set.body))
  const [workspace] = (await ask('GET', '/admin/workspaces')).body['data'] as { slug: string; id: string }[]
  const { id } = await addUser(client, 'ada@example.com', { active: false })
  const standing = async () => {
    const members = (await ask('GET', `/admin/workspaces/${workspace?.id}/users`)).body['data'] as { id: string; role: string }[]
    return [members.find((one) => one.id === id)?.role, (await client.send('GET', `/Users/${id}`)).body.active]
  }
  const [inside, outside] = [
    ['member', true],
    [undefined, false],
  ]
  t.deepEqual(await standing(), outside)
  const displayName = `ws-${workspace?.slug}-role-member`
  const group = await addGroup(client, displayName, [id])
  t.deepEqual(await standing(), inside)
  const members = [{ value: id }]
  const ways: readonly (readonly [method: string, body: object, after: unknown])[] = [
    ['PUT', { displayName, members }, inside],
    ['PATCH', patchOf({ op: 'add', path: 'members', value: members }), inside],
    ['PATCH', patchOf({ op: 'replace', path: 'members', value: members }), inside],
    ['PATCH', patchOf({ op: 'replace', path: 'displayName', value: displayName.toUpperCase() }), outside],
    ['PATCH', patchOf({ op: 'add', path: 'members', value: members }, { op: 'remove', path: 'members', value: members }), outside],
  ]
  for (const [method, body, after] of ways) {
    await client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'active', value: false }) })
    t.deepEqual(await standing(), outside)
    t.is((await client.send(method, `/Groups/${group.id}`, { body })).status, 200)
    t.deepEqual(await standing(), after, JSON.stringify(body))
  }
})

test('names of groups are made as the settings say, and SCIM_OWNER_GROUPS lets groups make owners', async (t) => {
  const { client, ask } = await started(t, {
    SCIM_GROUP_PREFIX: 'gatehouse',
    SCIM_GROUP_SEPARATOR: '__',
    SCIM_ORGANISATION_PREFIX: 'company',
    SCIM_OWNER_GROUPS: 'ON',
  })
  const { body } = await ask('GET', '/admin/workspaces')
  const [workspace] = body['data'] as { slug: string; id: string }[]
  const ada = await addUser(client, 'ada@example.com')
  await addGroup(client, `gatehouse__${workspace?.slug}__role__manager`, [ada.id])
  await addGroup(client, 'company__role__owner', [ada.id])
  await addGroup(client, `ws-${workspace?.slug}-role-admin`, [ada.id])
  const members = (await ask('GET', `/admin/workspaces/${workspace?.id}/users`)).body['data'] as object[]
  t.like(members[0], { id: ada.id, role: 'manager', org_role: 'owner' })
})

test('SCIM_ENABLED=OFF takes all of it away, and says so in the schema of SCIM', async (t) => {
  const { client, ask } = await started(t, { SCIM_ENABLED: 'OFF' })
  t.is((await ask('GET', '/scim/tokens')).status, 404)
  t.is((await ask('GET', '/scim/workspaces')).status, 404)
  const answer = await client.send('GET', '/Users')
  t.is(answer.status, 404)
  t.regex(answer.body.detail, /SCIM_ENABLED/)
})

test('below 1.6.0 groups give no places, below 1.6.1 roles count in lower case only, below 1.7.1 queries are read leniently', async (t) => {
  const { client, ask } = await started(t, { RELEASE_LEVEL: '1.3.0' })
  const { body } = await ask('GET', '/admin/workspaces')
  const [workspace] = body['data'] as { slug: string; id: string }[]
  const ada = await addUser(client, 'ada@example.com')
  await addGroup(client, `ws-${workspace?.slug}-role-member`, [ada.id])
  t.is(((await ask('GET', `/admin/workspaces/${workspace?.id}/users`)).body['data'] as unknown[]).length, 0)
  t.is((await ask('GET', '/scim/workspaces')).status, 404)
  t.is((await client.send('GET', '/Users?count=many&filter=nothing%20eq%20%22x%22')).status, 200)
  const later = await started(t, { RELEASE_LEVEL: '1.6.0', SCIM_MEMBERSHIP_USER_MODE: 'ON' })
  const [place] = (await later.ask('GET', '/admin/workspaces')).body['data'] as { slug: string; id: string }[]
  const [bea, cleo] = [await addUser(later.client, 'bea@example.com'), await addUser(later.client, 'cleo@example.com')]
  t.is(bea.groups, undefined)
  await addGroup(later.client, `ws-${place?.slug}-role-Manager`, [bea.id])
  await addGroup(later.client, `ws-${place?.slug}-role-admin`, [cleo.id])
  const members = (await later.ask('GET', `/admin/workspaces/${place?.id}/users`)).body['data'] as { id: string }[]
  t.deepEqual(
    members.map(({ id }) => id),
    [cleo.id],
  )
})
