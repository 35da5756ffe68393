import test from 'ava'
import { errorOf } from '../../support/caller.ts'
import type { RawAnswer } from '../../support/http.ts'
import { openBrowser, publicUrl, type SsoBrowser } from '../../support/oidc/browser.ts'
import { startFaultyIssuer, type FaultyIssuer } from '../../support/oidc/faulty-issuer.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

interface View {
  readonly id: string
  readonly finished_at: string | null
  readonly outcome: {
    readonly ok: boolean
    readonly error: { readonly code: string; readonly message: string } | null
    readonly subject: string | null
    readonly email: string | null
    readonly person: string | null
    readonly user_id: string | null
    readonly role: string | null
    readonly groups: readonly string[] | null
    readonly workspaces: readonly { readonly workspace_id: string; readonly role: string; readonly by_group: boolean }[]
    readonly claims: Readonly<Record<string, unknown>>
    readonly claims_left_out: readonly string[]
  } | null
}

let issuer: FaultyIssuer
let control: Control
let own: Tenant
let other: Tenant
let now = Date.now()

const path = '/admin/organisation/sso'
const tests = `${path}/test-sign-ins`

test.before(async () => {
  issuer = await startFaultyIssuer()
  control = await startControl(
    { clock: { now: () => now } },
    { PUBLIC_URL: publicUrl, ORGANISATION_DOMAINS: 'own=own.example,other=other.example' },
  )
  own = await control.createTenant('own')
  other = await control.createTenant('other')
})
test.after.always(async () => {
  await control?.close()
  issuer?.close()
})
test.beforeEach(() => {
  now = Date.now()
  issuer.fault = {}
})

const set = async (more: Readonly<Record<string, unknown>> = {}): Promise<void> => {
  const body = {
    type: 'oidc',
    enabled: false,
    issuer: issuer.issuer,
    client_id: 'gatehouse',
    client_secret: 'a secret',
    domains: ['own.example'],
    group_claim: 'groups',
    role_mappings: [{ group: 'Engineers', workspace_id: own.workspaceId, role: 'manager' }],
    ...more,
  }
  const answer = await control.call(own.adminKey, 'PUT', path, body)
  if (answer.status !== 200) throw new Error(answer.text)
}

/** Makes a test sign-in; returns its id, and the path at which a browser begins it. */
async function begin(): Promise<{ readonly id: string; readonly start: string }> {
  const answer = await control.call(own.adminKey, 'POST', tests)
  if (answer.status !== 200) throw new Error(answer.text)
  const { id, url } = answer.body as { id: string; url: string }
  return { id, start: url.slice(publicUrl.length) }
}

async function comeBack(
  person: FaultyIssuer['person'],
): Promise<{ readonly answer: RawAnswer; readonly browser: SsoBrowser; readonly id: string }> {
  issuer.person = person
  const { id, start } = await begin()
  const browser = openBrowser(control.origin)
  return { answer: await browser.signIn(start), browser, id }
}

const seenIn = ({ text }: RawAnswer): View => (JSON.parse(text) as { test_sign_in: View }).test_sign_in
const read = async (id: string): Promise<View> => (await control.call(own.adminKey, 'GET', `${tests}/${id}`)).body as unknown as View

/** Everything that a sign-in could leave behind. */
async function traces(): Promise<unknown> {
  const { rows } = await control.sql.query(
    `SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM user_identities) AS identities, (SELECT count(*) FROM sessions) AS sessions,
            (SELECT count(*) FROM sso_groups) AS groups, (SELECT count(*) FROM workspace_members) AS members,
            (SELECT count(*) FROM invites WHERE accepted_at IS NOT NULL) AS accepted`,
  )
  return rows[0]
}

const ada = {
  sub: 'ada',
  email: 'Ada@own.example',
  email_verified: true,
  groups: ['Engineers', 'ws-side-role-member'],
  department: { name: 'R&D' },
}

test.serial(
  'who tests a sign-in sees the claims, the groups, and the role and places that they would give; nothing is changed',
  async (t) => {
    await set()
    const userId = await control.createUser(own, { email: 'ada@own.example', role: 'member' })
    const before = await traces()
    const { answer, browser, id } = await comeBack(ada)
    t.is(answer.status, 200, answer.text)
    const { outcome, finished_at } = seenIn(answer)
    t.truthy(finished_at)
    t.like(outcome, { ok: true, error: null, subject: 'ada', email: 'ada@own.example', person: 'known', user_id: userId, role: 'member' })
    t.deepEqual(outcome?.groups, ada.groups)
    t.deepEqual(
      outcome?.workspaces.map(({ workspace_id, role, by_group }) => `${workspace_id} ${role} ${by_group}`).toSorted(),
      [`${own.workspaceId} manager true`, `${own.sideId} member true`].toSorted(),
    )
    t.like(outcome?.claims, { sub: 'ada', iss: issuer.issuer, department: { name: 'R&D' } })
    t.deepEqual(await read(id), seenIn(answer))
    t.deepEqual(await traces(), before)
    t.false(browser.cookies.has('__Host-gatehouse'), 'no session')
  },
)

test.serial(
  'who would come in for the first time is told as new; who would not come in, with the words that they would read',
  async (t) => {
    await set({ auto_provision: true })
    const before = await traces()
    t.like(seenIn((await comeBack({ ...ada, sub: 'new', email: 'new@own.example' })).answer).outcome, {
      ok: true,
      person: 'new',
      user_id: null,
    })
    await set()
    const stranger = seenIn((await comeBack({ ...ada, sub: 'new', email: 'new@own.example' })).answer).outcome
    t.like(stranger, { ok: false, person: null, role: null, email: 'new@own.example' })
    t.like(stranger?.error, { code: 'AB03' })
    t.regex(stranger?.error?.message ?? '', /no account/)
    t.deepEqual(stranger?.groups, ada.groups, 'the claims are told all the same')
    const unverified = seenIn((await comeBack({ ...ada, sub: 'x', email_verified: false })).answer).outcome
    t.like(unverified, { ok: false, email: null })
    t.regex(unverified?.error?.message ?? '', /verified/)
    t.deepEqual(await traces(), before)
  },
)

test.serial('what goes wrong at the provider is in the outcome too', async (t) => {
  await set()
  issuer.fault = { answer: { code: undefined, error: 'access_denied' } }
  const refused = await comeBack(ada)
  t.is(refused.answer.status, 200, refused.answer.text)
  t.like(seenIn(refused.answer).outcome, { ok: false, subject: null, claims: {} })
  t.regex((await read(refused.id)).outcome?.error?.message ?? '', /access_denied/)
  issuer.fault = { claims: { aud: 'another' } }
  const forged = await comeBack(ada)
  t.regex(seenIn(forged.answer).outcome?.error?.message ?? '', /could not be verified/)
})

test.serial('tokens and secrets are not shown, claims are bounded, and what is kept is sealed', async (t) => {
  await set()
  const canary = 'canary-of-a-secret-claim'
  const token = issuer.sign({ sub: 'ada', canary })
  const { answer, id } = await comeBack({
    ...ada,
    sid: 'sid-1',
    access_token: canary,
    photo: 'p'.repeat(40_000),
    nested: { note: token },
    api_secret: canary,
  })
  const { outcome } = seenIn(answer)
  for (const name of ['nonce', 'sid', 'at_hash', 'photo']) t.false(name in (outcome?.claims ?? {}), name)
  t.deepEqual(outcome?.claims_left_out, ['photo'])
  t.like(outcome?.claims, { access_token: '[hidden]', api_secret: '[hidden]', nested: { note: '[hidden]' } })
  const dump = await control.dump()
  t.false(dump.includes('R&D'), 'the outcome is sealed')
  t.false(answer.text.includes(canary) || dump.includes(canary))
  const { rows } = await control.sql.query('SELECT action, resource_type FROM audit_logs WHERE resource_id = $1 ORDER BY seq', [id])
  t.deepEqual(rows, [
    { action: 'create', resource_type: 'test-sign-in' },
    { action: 'finish', resource_type: 'test-sign-in' },
  ])
})

test.serial('a test serves once, for an hour, in its organisation, and opens no session by any turn', async (t) => {
  await set()
  const { id, start } = await begin()
  const browser = openBrowser(control.origin)
  issuer.person = ada
  const back = await browser.leave(start)
  const rival = await browser.leave(start)
  t.is((await browser.visit(back)).status, 200)
  for (const again of [back, rival]) t.is((await browser.visit(again)).status, 401)
  t.is((await browser.visit(`${publicUrl}${start}`)).status, 401)
  t.is((await browser.visit(`${publicUrl}${start.replace(/=.*/, '=unknown')}`)).status, 401)
  t.is((await browser.visit(`${publicUrl}${start.replace(/\?.*/, '')}`)).status, 404, 'the provider is off')
  t.is((await control.call(other.adminKey, 'GET', `${tests}/${id}`)).status, 404)
  t.is((await control.call(other.adminKey, 'POST', tests)).status, 404, 'the other organisation has no provider')
  const late = await begin()
  now += 3_600_001
  t.is(errorOf(await browser.visit(`${publicUrl}${late.start}`)).code, 'AB05')
  t.false(browser.cookies.has('__Host-gatehouse'))
})

test.serial('only the latest twenty are kept', async (t) => {
  await set()
  for (let made = 0; made < 22; made += 1) {
    now += 1
    await begin()
  }
  const { rows } = await control.sql.query<{ count: string }>('SELECT count(*) FROM test_sign_ins')
  t.is(rows[0]?.count, '20')
})
