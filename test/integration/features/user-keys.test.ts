import test from 'ava'
import { expireKeys } from '../../../src/features/api-keys/expiry.jobs.ts'
import { verifyAudit } from '../../../src/app/audit/verify.ts'
import { workspaceScopes } from '../../../src/lib/access/scopes.ts'
import type { OrganisationRole, WorkspaceRole } from '../../../src/lib/access/roles.ts'
import { browse, signIn } from '../../support/people.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let now = Date.now()

test.before(async () => {
  control = await startControl({ clock: { now: () => now } })
  acme = await control.createTenant('acme')
})
test.after.always(() => control.close())

const dayMs = 24 * 3600 * 1000
const admin = (method: string, path: string, body?: unknown) => control.call(acme.adminKey, method, path, body)
const errorOf = ({ body }: Answer) => body['error'] as { code: string; param: string; message: string }
const make = (fields: Readonly<Record<string, unknown>>, key = acme.adminKey) =>
  control.call(key, 'POST', '/api-keys/workspace/user', { name: 'k', scopes: ['completions.write'], ...fields })
const expiryOf = async ({ body }: Answer) => (await admin('GET', `/api-keys/${String(body['id'])}`)).body['expires_at'] as string | null

let made = 0
/** A workspace of its own, with a member. */
async function workspace(overrides: unknown = {}): Promise<{ workspace_id: string; user_id: string }> {
  made += 1
  const email = `u${made}@example.com`
  const { body } = await admin('POST', '/admin/workspaces', { name: `Place ${made}`, access_overrides: { user_api_keys: overrides } })
  const workspace_id = String(body['id'])
  return {
    workspace_id,
    user_id: await control.createUser(acme, { email, workspaces: { [workspace_id]: 'member' } }),
  }
}

test.serial('a user key is that of a user who is there', async (t) => {
  const here = await workspace()
  const elsewhere = await workspace()
  const owner = await control.createUser(acme, { email: 'owner@example.com', role: 'owner' })
  t.is((await make(here)).status, 200)
  t.like(
    errorOf(await make({ ...here, user_id: owner })),
    { code: 'AB03', param: 'user_id' },
    'a key on the organisation is below its owners',
  )
  t.like(errorOf(await make({ workspace_id: here.workspace_id })), { code: 'AB01', param: 'user_id' })
  t.like(errorOf(await make({ ...here, user_id: elsewhere.user_id })), { code: 'AB01', param: 'user_id' })
  t.like(errorOf(await make({ ...here, user_id: acme.workspaceId })), { code: 'AB08', param: 'user_id' })
})

const makers: readonly (readonly [who: string, role: OrganisationRole, place: WorkspaceRole | null, forOthers: boolean])[] = [
  ['an owner', 'owner', null, true],
  ['an admin of the organisation', 'admin', null, true],
  ['an admin of the workspace', 'member', 'admin', true],
  ['a manager of the workspace', 'member', 'manager', true],
  ['a member of the workspace', 'member', 'member', false],
]

for (const [who, role, place, forOthers] of makers)
  test.serial(`${who} makes user keys for ${forOthers ? 'others, which are theirs' : 'themselves alone'}`, async (t) => {
    const here = await workspace()
    const elsewhere = await workspace()
    const settings = { membersManageApiKeys: true, managersManageApiKeys: true }
    t.is((await admin('PUT', '/admin/organisation', { settings })).status, 200)
    await control.refresh()
    const email = `maker${made}@example.com`
    const id = await control.createUser(acme, { email, role, workspaces: place === null ? {} : { [here.workspace_id]: place } })
    const browser = await signIn(control.started, { id, organisationId: acme.organisationId, email, role })
    const makeFor = async (user_id: string | undefined) => {
      const { status, text } = await browse({ baseUrl: control.origin }, browser, {
        method: 'POST',
        path: '/v1/api-keys/workspace/user',
        headers: { 'x-service-workspace': here.workspace_id },
        body: { name: 'k', scopes: ['completions.write'], user_id },
      })
      return { status, text, body: JSON.parse(text) as Record<string, unknown> }
    }
    const holderOf = async ({ body }: Answer) => (await admin('GET', `/api-keys/${String(body['id'])}`)).body['user_id']
    t.is(await holderOf(await makeFor(undefined)), id)
    t.is(await holderOf(await makeFor(id)), id)
    const other = await makeFor(here.user_id)
    t.is(other.status, forOthers ? 200 : 403, other.text)
    if (forOthers) t.is(await holderOf(other), here.user_id)
    else t.like(errorOf(other), { code: 'AB03', param: 'user_id' })
    // A person without a place cannot be given a key there.
    t.like(errorOf(await makeFor(elsewhere.user_id)), { code: forOthers ? 'AB01' : 'AB03', param: 'user_id' })
  })

test.serial('what a body repeats of the path must be the same', async (t) => {
  const here = await workspace()
  t.is((await make({ ...here, type: 'workspace', 'sub-type': 'user' })).status, 200)
  t.is(errorOf(await make({ ...here, type: 'organisation' })).param, 'type')
  t.is(errorOf(await make({ ...here, 'sub-type': 'service' })).param, 'sub-type')
})

test.serial('a workspace may have so many live user keys, also when they are made at once', async (t) => {
  const here = await workspace({ max_user_api_keys: 3 })
  const answers = await Promise.all(Array.from({ length: 6 }, () => make(here)))
  t.is(answers.filter(({ status }) => status === 200).length, 3)
  for (const answer of answers.filter(({ status }) => status !== 200)) t.like(errorOf(answer), { code: 'AB07', param: 'workspace_id' })
  const first = answers.find(({ status }) => status === 200)
  t.is((await admin('DELETE', `/api-keys/${String(first?.body['id'])}`)).status, 200)
  t.is((await make(here)).status, 200)
  const key = await control.createKey(acme, { workspaceId: here.workspace_id, scopes: workspaceScopes })
  t.is(
    (await control.call(key, 'POST', '/api-keys/workspace/service', { name: 'k', scopes: ['logs.list'] })).status,
    200,
    'service keys do not count',
  )
})

// One after the other: many writers of one organisation at once wait for each other, and a busy machine lets some give up.
const moment = (days: number) => new Date(now + days * dayMs).toISOString()

const lives: readonly (readonly [overrides: object, asked: number | null | undefined, expected: number | null | 'refused'])[] = [
  [{}, undefined, null],
  [{}, 5, 5],
  [{ user_api_key_ttl: 30 }, undefined, 30],
  [{ user_api_key_ttl: 30 }, null, null],
  [{ user_api_key_ttl: 30 }, 90, 90],
  [{ user_api_key_max_ttl: 60 }, undefined, 60],
  [{ user_api_key_max_ttl: 60 }, null, 'refused'],
  [{ user_api_key_max_ttl: 60 }, 60, 60],
  [{ user_api_key_max_ttl: 60 }, 61, 'refused'],
  [{ user_api_key_ttl: 90, user_api_key_max_ttl: 60 }, undefined, 60],
]
for (const [overrides, asked, expected] of lives)
  test.serial(`lifetimes: ${JSON.stringify(overrides)}, asked for ${String(asked)} days: ${String(expected)}`, async (t) => {
    const here = await workspace(overrides)
    const answer = await make({ ...here, ...(asked !== undefined && { expires_at: asked === null ? null : moment(asked) }) })
    if (expected === 'refused') {
      t.like(errorOf(answer), { code: 'AB01', param: 'expires_at' })
      return
    }
    t.is(await expiryOf(answer), expected === null ? null : moment(expected))
  })

test.serial('an expiry is not changed beyond the longest life', async (t) => {
  const here = await workspace({ user_api_key_max_ttl: 60 })
  const path = `/api-keys/${String((await make(here)).body['id'])}`
  t.is(errorOf(await admin('PUT', path, { expires_at: null })).param, 'expires_at')
  t.is((await admin('PUT', path, { name: 'other' })).status, 200)
  t.is((await admin('PUT', path, { expires_at: new Date(now + dayMs).toISOString() })).status, 200)
  now += dayMs / 2
  t.is(errorOf(await admin('PUT', path, { expires_at: moment(60) })).param, 'expires_at', 'it counts from when the key was made')
  t.is((await admin('PUT', path, { expires_at: moment(59) })).status, 200)
})

test.serial('a key that lives anew takes the place of one', async (t) => {
  const here = await workspace({ max_user_api_keys: 1 })
  const paths: string[] = []
  for (const marked of [false, true]) {
    const { body } = await make({ ...here, expires_at: moment(1) })
    paths.push(`/api-keys/${String(body['id'])}`)
    now += dayMs
    if (marked) await expireKeys.run(control.started.deps)
  }
  const { body } = await make(here)
  for (const path of paths) {
    t.like(errorOf(await admin('PUT', path, { expires_at: moment(1) })), { code: 'AB07', param: 'expires_at' })
    t.is((await admin('PUT', path, { name: 'renamed' })).status, 200)
  }
  t.is((await admin('DELETE', `/api-keys/${String(body['id'])}`)).status, 200)
  t.is((await admin('PUT', paths[0] ?? '', { expires_at: moment(1) })).status, 200)
  t.is((await admin('PUT', paths[0] ?? '', { expires_at: moment(2) })).status, 200, 'it has its place')
  t.is(errorOf(await admin('PUT', paths[1] ?? '', { expires_at: null })).param, 'expires_at')
})

test.serial('the settings of the organisation hold where a workspace says nothing', async (t) => {
  t.is((await admin('PUT', '/admin/organisation', { settings: { user_api_key_ttl: 7, membersWritePrompts: true } })).status, 200)
  t.like((await admin('GET', '/admin/organisation')).body['settings'], {
    user_api_key_ttl: 7,
    membersWritePrompts: true,
    membersViewPrompts: true,
  } as never)
  t.is(await expiryOf(await make(await workspace())), new Date(now + 7 * dayMs).toISOString())
  t.is((await admin('PUT', '/admin/organisation', { settings: { user_api_key_ttl: null } })).status, 200)
  t.is(await expiryOf(await make(await workspace())), null)
  t.is(errorOf(await admin('PUT', '/admin/organisation', { settings: { user_api_key_ttl: 0 } })).param, 'settings.user_api_key_ttl')
  t.is(
    errorOf(await admin('PUT', '/admin/organisation', { settings: { membersWriteEverything: true } })).param,
    'settings.membersWriteEverything',
  )
})

test.serial('a provider that has run out is marked as well, by what it is called', async (t) => {
  await admin('POST', '/integrations', {
    name: 'Ends',
    ai_provider_id: 'openai',
    key: 'sk-0123456789abcdefghij',
    create_default_provider: false,
  })
  await admin('PUT', '/integrations/ends/workspaces', { workspaces: [{ id: 'main', enabled: true }], create_default_provider: false })
  const ends = { expires_at: new Date(now + dayMs).toISOString() }
  const answer = await control.call(acme.workspaceKey, 'POST', '/providers', {
    name: 'p',
    slug: 'ends-soon',
    integration_id: 'ends',
    ...ends,
  })
  t.is(answer.status, 200, answer.text)
  now += dayMs
  await expireKeys.run(control.started.deps)
  const { rows } = await control.sql.query(
    `SELECT resource_type, workspace_id, before, after FROM audit_logs WHERE resource_id = $1 AND action = 'expire'`,
    [answer.body['id']],
  )
  const changed = { before: { status: 'active' }, after: { status: 'expired' } }
  t.deepEqual(rows, [{ resource_type: 'provider', workspace_id: acme.workspaceId, ...changed }])
  t.deepEqual((await control.sql.query('SELECT status FROM providers WHERE id = $1', [answer.body['id']])).rows, [{ status: 'expired' }])
})

test.serial('what has run out is marked in the background, with a row in the trail', async (t) => {
  const here = await workspace()
  const { body } = await make({ ...here, expires_at: new Date(now + dayMs).toISOString() })
  const id = String(body['id'])
  const stored = async () => (await control.sql.query('SELECT status FROM api_keys WHERE id = $1', [id])).rows[0] as unknown
  await expireKeys.run(control.started.deps)
  t.deepEqual(await stored(), { status: 'active' })
  now += dayMs
  await expireKeys.run(control.started.deps)
  t.deepEqual(await stored(), { status: 'expired' })
  const { rows } = await control.sql.query(
    `SELECT actor_type, action, before, after FROM audit_logs WHERE resource_id = $1 AND action = 'expire'`,
    [id],
  )
  t.deepEqual(rows, [{ actor_type: 'system', action: 'expire', before: { status: 'active' }, after: { status: 'expired' } }])
  t.deepEqual((await verifyAudit(control.started.deps, { organisation: 'acme' }))[0]?.faults, [])
  t.is((await admin('PUT', `/api-keys/${id}`, { expires_at: null })).status, 200)
  t.deepEqual(await stored(), { status: 'active' })
})
