// Concurrent writes about one person: a person who is removed meanwhile keeps no access, and no write waits while it holds locks that others need.
import test from 'ava'
import { inTenant } from '../../../src/app/database/orm.ts'
import { makeLink } from '../../../src/features/sessions/index.ts'
import { setPassword } from '../../../src/features/auth/passwords.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { inDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { authenticatorApp, nextStep } from '../../support/factors.ts'
import { send } from '../../support/http.ts'
import { addPerson, browse, signIn, type Browser, type TestPerson } from '../../support/people.ts'
import { clientWith, patchOf, type ScimClient } from './scim-client.ts'

let app: TestApp
let scim: ScimClient
let owner: Browser
let workspace: { readonly id: string; readonly slug: string }
let now = Date.now()

const password = 'a long enough sentence'

test.before(async () => {
  app = await startApp({ env: { FAILED_CREDENTIALS_PER_MINUTE: '0' }, overrides: { clock: { now: () => now } } })
  owner = await signIn(app, await addPerson(app, { role: 'owner' }))
  workspace = (await own('GET', '/v1/admin/workspaces')).data[0]
  scim = clientWith(app.baseUrl, (await own('POST', '/v1/scim/tokens', { name: 'Identity provider' })).token)
})
test.after.always(() => app?.stop())

// oxlint-disable-next-line typescript/no-explicit-any -- an answer of any kind
async function own(method: string, path: string, body?: unknown): Promise<any> {
  const { status, text } = await browse(app, owner, { method, path, body })
  if (status !== 200) throw new Error(text)
  return JSON.parse(text)
}

/** A write about a person: its preconditions are made first, then it is sent, and answers with its status. */
type Write = (person: TestPerson) => Promise<() => Promise<number>>

const byLink =
  (purpose: 'password' | 'setup', method: 'PUT' | 'POST', path: string): Write =>
  async ({ id: userId, organisationId, email }) => {
    const { url } = await inTenant(app.deps.orm, organisationId, (em) => makeLink(em, app.deps, { organisationId, userId, purpose }))
    const token = url.split('#token=')[1]
    const body = JSON.stringify({ token, password: 'a wholly new sentence', ...(purpose === 'setup' && { email }) })
    return async () => (await send(app.baseUrl + path, { method, headers: { 'content-type': 'application/json' }, body })).status
  }

async function withApp(person: TestPerson): Promise<Browser> {
  const browser = await signIn(app, person)
  const enrolled = await browse(app, browser, { method: 'POST', path: '/auth/totp', body: { current_password: password } })
  const code = authenticatorApp(JSON.parse(enrolled.text).secret)
  now = nextStep(now)
  const body = { code: code(now) }
  const added = await browse(app, browser, { method: 'POST', path: '/auth/totp/confirm', body })
  if (added.status !== 200) throw new Error(added.text)
  return signIn(app, person)
}

const writes: Readonly<Record<string, { readonly status: number; readonly begin: Write }>> = {
  'a new password by a link': { status: 401, begin: byLink('password', 'PUT', '/auth/password') },
  'getting back in by a link': { status: 400, begin: byLink('setup', 'POST', '/auth/setup') },
  'the removal of an authenticator app': {
    status: 200,
    async begin(person) {
      const browser = await withApp(person)
      const body = { current_password: password }
      return async () => (await browse(app, browser, { method: 'DELETE', path: '/auth/totp', body })).status
    },
  },
  'a place in a workspace': {
    status: 404,
    begin: async ({ id }) => {
      const request = { method: 'POST', path: `/v1/admin/workspaces/${workspace.id}/users`, body: { users: [{ id, role: 'member' }] } }
      return async () => (await browse(app, owner, request)).status
    },
  },
  'a place by a group': {
    status: 200,
    async begin({ id }) {
      const { body } = await scim.send('POST', '/Groups', { body: { displayName: `ws-${workspace.slug}-role-manager` } })
      const add = { body: patchOf({ op: 'add', path: 'members', value: [{ value: id }] }) }
      return async () => (await scim.send('PATCH', `/Groups/${body.id}`, add)).status
    },
  },
  'a role by the new name of a group': {
    status: 200,
    async begin({ id }) {
      const { body } = await scim.send('POST', '/Groups', { body: { displayName: `group of ${id}`, members: [{ value: id }] } })
      const rename = { body: patchOf({ op: 'replace', path: 'displayName', value: 'org-role-admin' }) }
      return async () => (await scim.send('PATCH', `/Groups/${body.id}`, rename)).status
    },
  },
  'leaving a whole group': {
    status: 200,
    async begin({ id }) {
      const other = await addPerson(app)
      const group = { displayName: `whole group of ${id}` }
      const { body } = await scim.send('POST', '/Groups', { body: { ...group, members: [{ value: id }] } })
      return async () => (await scim.send('PUT', `/Groups/${body.id}`, { body: { ...group, members: [{ value: other.id }] } })).status
    },
  },
  'another name by SCIM': {
    status: 200,
    async begin({ id, email }) {
      const body = { userName: email, name: { familyName: 'Stone' } }
      if ((await scim.send('PUT', `/Users/${id}`, { body: { userName: email } })).status !== 200) throw new Error(email)
      return async () => (await scim.send('PUT', `/Users/${id}`, { body })).status
    },
  },
}

/** The tables whose rows the waiting transactions hold. */
const heldByWaiting = `
  SELECT DISTINCT c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
   WHERE l.mode IN ('RowShareLock', 'RowExclusiveLock')
     AND l.pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`
const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
const left = `
  SELECT (SELECT count(*) FROM sessions WHERE user_id = $1 AND method = 'link') AS sessions,
         (SELECT count(*) FROM workspace_members WHERE user_id = $1) AS places,
         (SELECT count(*) FROM users WHERE id = $1 AND role = 'admin') AS roles`

for (const [name, { status, begin }] of Object.entries(writes))
  test.serial(`${name}, while the person is removed`, async (t) => {
    const person = await addPerson(app, { role: name === 'getting back in by a link' ? 'owner' : 'member' })
    await inTenant(app.deps.orm, person.organisationId, (em) => setPassword(em, app.deps, { user: person, password, keeps: null }))
    const write = await begin(person)
    const { superuser } = app.database
    const written = await inDatabase(superuser, async (holder) => {
      await holder.query('BEGIN')
      await holder.query(`UPDATE users SET status = 'archived' WHERE id = $1`, [person.id])
      const answer = write()
      await inDatabase(superuser, async (client) => {
        await eventually(async () => (await client.query(waiting)).rows.length === 1, 10_000, 'the write to wait')
        const { rows } = await client.query<{ relname: string }>(heldByWaiting)
        t.deepEqual(
          rows.map(({ relname }) => relname),
          ['users'],
        )
      })
      await holder.query('COMMIT')
      return answer
    })
    t.is(written, status)
    const { rows } = await inDatabase(superuser, (client) => client.query(left, [person.id]))
    t.deepEqual(rows, [{ sessions: '0', places: '0', roles: '0' }])
  })
