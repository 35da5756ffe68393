import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { inParallel } from '../../support/in-parallel.ts'
import type { TestPerson } from '../../support/people.ts'
import {
  credentialsOf,
  keyCredential,
  makeKey,
  personOf,
  rankLetters,
  ranks,
  sessionOf,
  type Credential,
  type Rank,
  type Reply,
} from './ranks.ts'
import { clientWith, groupSchema, patchOf, userSchema, type ScimClient, type ScimReply } from './scim-client.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

/**
 * The credentials that may act for a person, or change that person's rights: compared with `test/golden/ranks.txt`, which `UPDATE_GOLDEN=1` writes.
 * Each cell has a person of its own.
 */
const golden = join(import.meta.dirname, '../../golden/ranks.txt')

let control: Control
let acme: Tenant
/** A token for SCIM that may write all people. */
let byOwner: string
test.before(async () => {
  control = await startControl({}, { STORED_ITEMS_MAX: 'scim_tokens=1000' })
  acme = await control.createTenant('acme')
  const owner = await sessionOf(control, await personOf(control, acme, 'O'), 'owner')
  byOwner = String((await owner.ask('POST', '/scim/tokens', { name: 'By an owner' })).body['token'])
})
test.after.always(() => control?.close())

interface Act {
  readonly name: string
  /** The ranks of the persons for whom it makes sense. */
  readonly of: readonly Rank[]
  readonly does: (by: Credential, person: TestPerson, rank: Rank) => Promise<Reply>
}

const member = (person: TestPerson) => `/admin/workspaces/${acme.workspaceId}/users/${person.id}`
const placed = rankLetters.filter((rank) => ranks[rank][1] !== null)

async function keyIdOf(person: TestPerson): Promise<string> {
  await control.createKey(acme, { workspaceId: acme.workspaceId, userId: person.id, scopes: ['completions.write'] })
  const { rows } = await control.sql.query<{ id: string }>('SELECT id FROM api_keys WHERE user_id = $1', [person.id])
  return rows[0]?.id ?? ''
}

const acts: readonly Act[] = [
  {
    name: 'makes a user key of',
    of: rankLetters,
    does: (by, { id }) =>
      by.ask('POST', '/api-keys/workspace/user', {
        name: 'Of another',
        user_id: id,
        workspace_id: acme.workspaceId,
        scopes: ['logs.list'],
      }),
  },
  {
    name: 'changes the user key of',
    of: rankLetters,
    does: async (by, person) => by.ask('PUT', `/api-keys/${await keyIdOf(person)}`, { description: 'changed' }),
  },
  {
    name: 'rotates the user key of',
    of: rankLetters,
    does: async (by, person) => by.ask('POST', `/api-keys/${await keyIdOf(person)}/rotate`, {}),
  },
  {
    name: 'rotates a workspace key made by',
    of: ['O', 'A', 'a', 'g'],
    async does(by, person) {
      const session = await sessionOf(control, person, 'its maker')
      const { id } = await makeKey(session, 'workspace', { workspaceId: acme.workspaceId, scopes: ['logs.list'] })
      return by.ask('POST', `/api-keys/${id}/rotate`, {})
    },
  },
  {
    name: 'adds scopes to a workspace key made by',
    of: ['O', 'A', 'a', 'g'],
    async does(by, person) {
      const session = await sessionOf(control, person, 'its maker')
      const { id } = await makeKey(session, 'workspace', { workspaceId: acme.workspaceId, scopes: ['logs.list'] })
      return by.ask('PUT', `/api-keys/${id}`, { scopes: ['logs.list', 'logs.view'] })
    },
  },
  {
    name: 'gives a member the role of',
    of: placed,
    does: async (by, _, rank) => by.ask('PUT', member(await newMember()), { role: ranks[rank][1] }),
  },
  { name: 'takes the role of', of: placed, does: (by, person) => by.ask('PUT', member(person), { role: 'member' }) },
  { name: 'takes out of the workspace', of: placed, does: (by, person) => by.ask('DELETE', member(person)) },
  { name: 'names anew', of: rankLetters, does: (by, { id }) => by.ask('PUT', `/admin/users/${id}`, { first_name: 'Another' }) },
  {
    name: 'forgets the identities of',
    of: rankLetters,
    does: (by, { id }) => by.ask('PUT', `/admin/users/${id}`, { token_identities: null }),
  },
  { name: 'removes', of: rankLetters, does: (by, { id }) => by.ask('DELETE', `/admin/users/${id}`) },
  { name: 'ends the sessions of', of: rankLetters, does: (by, { id }) => by.ask('DELETE', `/admin/users/${id}/sessions`) },
  {
    name: 'invites as',
    of: ['A', 'm'],
    does: (by, { email }, rank) => by.ask('POST', '/admin/users/invites', { email: `new-${email}`, role: ranks[rank][0], workspaces: [] }),
  },
]

/** The rights of a token for SCIM that a credential makes. */
const scimActs: readonly Act[] = (
  [
    [
      'moves to another address',
      (client, { id, email }) =>
        client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'emails', value: [{ value: `x-${email}` }] }) }),
    ],
    [
      'names anew',
      (client, { id }) =>
        client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'name.givenName', value: 'Another' }) }),
    ],
    [
      'deactivates',
      (client, { id }) => client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'active', value: false }) }),
    ],
    [
      'replaces',
      (client, { id, email }) => client.send('PUT', `/Users/${id}`, { body: { schemas: [userSchema], userName: `y-${email}` } }),
    ],
    [
      'brings back',
      async (client, { id }) => {
        await control.sql.query(`UPDATE users SET status = 'archived' WHERE id = $1`, [id])
        await control.sql.query(
          'INSERT INTO scim_users (id, organisation_id, user_name) SELECT id, organisation_id, email FROM users WHERE id = $1',
          [id],
        )
        return client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'active', value: true }) })
      },
    ],
    [
      'takes on as its own',
      (client, { email }) =>
        client.send('POST', '/Users', { body: { schemas: [userSchema], userName: email, name: { givenName: 'Another' } } }),
    ],
    ['deletes', (client, { id }) => client.send('DELETE', `/Users/${id}`)],
    [
      'takes out of a group that gives a place',
      async (client, person) => {
        const id = await groupWith(person)
        return client.send('PATCH', `/Groups/${id}`, { body: patchOf({ op: 'remove', path: `members[value eq "${person.id}"]` }) })
      },
    ],
    [
      'empties a group that gives a place',
      async (client, person) => {
        const id = await groupWith(person)
        return client.send('PUT', `/Groups/${id}`, { body: { schemas: [groupSchema], displayName: id, members: [] } })
      },
    ],
    ['deletes a group that gives a place', async (client, person) => client.send('DELETE', `/Groups/${await groupWith(person)}`)],
  ] satisfies readonly (readonly [string, (client: ScimClient, person: TestPerson) => Promise<ScimReply>])[]
).map(([name, does]) => ({
  name: `by a token for SCIM, ${name}`,
  of: rankLetters,
  async does(by, person) {
    const made = await by.ask('POST', '/scim/tokens', { name: 'Client' })
    if (made.status !== 200) return made
    const { status, text, body } = await does(clientWith(control.origin, String(made.body['token'])), person)
    return { status: status < 300 ? 200 : status, text, body }
  },
}))

/** A group with a person in it, to whom it gives a place as an admin of the workspace. Returns its id. */
async function groupWith({ id }: TestPerson): Promise<string> {
  const client = clientWith(control.origin, byOwner)
  const body = { schemas: [groupSchema], displayName: randomUUID(), members: [{ value: id }] }
  const made = await client.send('POST', '/Groups', { body })
  const group = String(made.body.id)
  const mapping = { workspace_id: acme.workspaceId, scim_group_id: group, role: 'admin' }
  const mapped = await control.call(acme.adminKey, 'POST', '/scim/workspaces', mapping)
  if (mapped.status !== 200) throw new Error(`${made.text} ${mapped.text}`)
  return group
}

const newMember = () => personOf(control, acme, 'm')

async function cellOf(by: Credential, act: Act, rank: Rank): Promise<string> {
  if (!act.of.includes(rank)) return ' '
  const { status, text } = await act.does(by, await personOf(control, acme, rank), rank)
  if (status === 200) return rank
  if (status === 403 || status === 404) return '-'
  throw new Error(`${by.name} ${act.name} ${rank}: ${status} ${text}`)
}

test.serial('who may act for whom is as the reviewed file says', async (t) => {
  t.timeout(300_000)
  const credentials = await credentialsOf(control, acme)
  const all = [...acts, ...scimActs]
  const cells = all.flatMap((act) => credentials.flatMap((by) => rankLetters.map((rank) => ({ act, by, rank }))))
  const told = await inParallel(cells, 4, ({ act, by, rank }) => cellOf(by, act, rank))
  const text = readFileSync(golden, 'utf8')
  const [head = ''] = text.split('\n## ', 1)
  const width = rankLetters.length
  const rowsOf = (at: number) =>
    credentials.map(({ name }, place) => {
      const from = (at * credentials.length + place) * width
      return `${name.padEnd(44)} ${told.slice(from, from + width).join('')}`.trimEnd()
    })
  const lines = all.flatMap(({ name }, at) => ['', `## ${name}`, '', rowsOf(at)].flat())
  const now = `${head.trimEnd()}\n${lines.join('\n')}\n`
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, now)
  t.deepEqual(now.split('\n'), readFileSync(golden, 'utf8').split('\n'))
})

/** The letters of the persons for whom a credential may make a user key, which shows its rank. */
async function reachOf(by: Credential): Promise<string> {
  const cells = await inParallel(rankLetters, 2, (rank) => cellOf(by, acts[0] ?? never(), rank))
  return cells.join('')
}

function never(): never {
  throw new Error('there are no acts')
}

test.serial('a key falls with the person who made it, and with the person who made the key that made it', async (t) => {
  const person = await personOf(control, acme, 'a')
  const session = await sessionOf(control, person, 'admin')
  const own = keyCredential(control, 'key', (await makeKey(session, 'workspace', { workspaceId: acme.workspaceId })).secret)
  const second = keyCredential(control, 'second', (await makeKey(own, 'workspace', { workspaceId: acme.workspaceId })).secret)
  const owner = await sessionOf(control, await personOf(control, acme, 'O'), 'owner')
  for (const by of [own, second]) t.is(await reachOf(by), '--agm')
  t.is((await owner.ask('PUT', member(person), { role: 'manager' })).status, 200)
  await control.refresh()
  for (const by of [own, second]) t.is(await reachOf(by), '---gm')
  t.is((await owner.ask('PUT', member(person), { role: 'member' })).status, 200)
  await control.refresh()
  for (const by of [own, second]) t.is(await reachOf(by), '-----', 'members make no keys for others')
  t.is((await owner.ask('DELETE', member(person))).status, 200)
  await control.refresh()
  for (const by of [own, second]) {
    t.is((await by.ask('POST', `/admin/workspaces/${acme.workspaceId}/users`, { users: [{ id: person.id, role: 'member' }] })).status, 403)
    t.is((await by.ask('GET', '/configs')).status, 200, 'it still looks as a member does')
  }
})

test.serial('a key on the organisation does nothing once its maker is no admin of it', async (t) => {
  const person = await personOf(control, acme, 'A')
  const session = await sessionOf(control, person, 'admin')
  const key = keyCredential(control, 'key', (await makeKey(session, 'organisation', { workspaceId: acme.workspaceId })).secret)
  t.is((await key.ask('GET', '/admin/users')).status, 200)
  const owner = await sessionOf(control, await personOf(control, acme, 'O'), 'owner')
  t.is((await owner.ask('PUT', `/admin/users/${person.id}`, { role: 'member' })).status, 200)
  await control.refresh()
  for (const path of ['/admin/users', '/admin/workspaces', '/logs', '/configs']) t.is((await key.ask('GET', path)).status, 403, path)
})

test.serial('a person above takes a key over by rotating it, and the secret before stays where it was', async (t) => {
  const manager = await sessionOf(control, await personOf(control, acme, 'g'), 'manager')
  const admin = await sessionOf(control, await personOf(control, acme, 'a'), 'admin')
  const { id, secret } = await makeKey(manager, 'workspace', { workspaceId: acme.workspaceId })
  const rotated = await admin.ask('POST', `/api-keys/${id}/rotate`, {})
  t.is(rotated.status, 200)
  await control.refresh()
  t.is(await reachOf(keyCredential(control, 'new', String(rotated.body['key']))), '--agm')
  t.is(await reachOf(keyCredential(control, 'old', secret)), '---gm')
})

test.serial('a key shows no more logs than the person who made it sees', async (t) => {
  const set = (value: boolean) => control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { managersViewAllData: value } })
  const { workspaceId } = acme
  const person = await personOf(control, acme, 'g')
  const session = await sessionOf(control, person, 'manager')
  const own = keyCredential(control, 'service key', (await makeKey(session, 'workspace', { workspaceId })).secret)
  const other = await personOf(control, acme, 'm')
  const lent = await session.ask('POST', '/api-keys/workspace/user', {
    name: 'Lent',
    user_id: other.id,
    workspace_id: workspaceId,
    scopes: ['logs.list', 'logs.write'],
  })
  const user = keyCredential(control, 'user key', String(lent.body['key']))
  const theirs = keyCredential(
    control,
    'their own',
    await control.createKey(acme, { workspaceId, userId: other.id, scopes: ['logs.write', 'logs.list'] }),
  )
  const writers = [keyCredential(control, 'foreign', acme.workspaceKey), own, user, theirs]
  const ids = new Map<string, string>()
  for (const by of writers) {
    const request = { url: 'https://api.example/v1/chat/completions', body: { model: 'm-1', messages: [] } }
    const { status, body, text } = await by.ask('POST', '/logs', { request, response: { body: { choices: [] } } })
    if (status !== 200) throw new Error(text)
    ids.set(String((body['log_ids'] as string[])[0]), by.name)
  }
  const seenBy = async (by: Credential) => {
    const { body } = await by.ask('GET', '/logs?page_size=200')
    return (body['data'] as { id: string }[]).flatMap(({ id }) => ids.get(id) ?? []).toSorted()
  }
  const all = writers.map(({ name }) => name).toSorted()
  await eventually(async () => (await seenBy(own)).length === all.length, 20_000, 'the logs')
  t.is((await set(false)).status, 200)
  await control.refresh()
  t.deepEqual(await seenBy(session), [], 'a manager who sees own data only')
  t.deepEqual(await seenBy(own), ['service key'])
  t.deepEqual(await seenBy(user), [], 'a key for another shows not what is theirs, and its maker knows its secret')
  t.deepEqual(await seenBy(theirs), all)
  t.is((await set(true)).status, 200)
})

test.serial('a token for SCIM falls with the person who made it, and goes on writing members', async (t) => {
  const person = await personOf(control, acme, 'O')
  const made = await (await sessionOf(control, person, 'owner')).ask('POST', '/scim/tokens', { name: 'Client' })
  const client = clientWith(control.origin, String(made.body['token']))
  const rename = async (rank: Rank) => {
    const { id } = await personOf(control, acme, rank)
    return (await client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'name.givenName', value: 'Another' }) }))
      .status
  }
  t.is(await rename('O'), 200)
  await control.sql.query(`UPDATE users SET role = 'member' WHERE id = $1`, [person.id])
  t.deepEqual([await rename('O'), await rename('A'), await rename('m')], [403, 403, 200])
})
