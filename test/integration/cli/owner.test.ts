import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { send, sendJson } from '../../support/http.ts'
import { environment } from '../../support/process.ts'

let app: TestApp
test.before(async () => {
  app = await startApp()
})
test.after.always(() => app?.stop())

const gatehouse = (...args: readonly string[]) => gatehouseHere(args, { env: environment(app.config.database) })
const organisation = (...args: readonly string[]) => gatehouse('organisations', 'create', ...args)
const owner = (...args: readonly string[]) => gatehouse('owner', 'create', ...args)
const ask = async (key: string, path: string) => {
  const { status, text } = await send(`${app.baseUrl}/v1${path}`, { headers: { 'x-service-api-key': key } })
  return { status, body: JSON.parse(text) as Record<string, unknown> }
}

/** Sets a password by the link that a command printed. */
const setUp = (url: string, email: string) => {
  const token = new URLSearchParams(new URL(url).hash.slice(1)).get('token')
  return sendJson(`${app.baseUrl}/auth/setup`, {}, { token, email, password: 'a long enough sentence' })
}
const signIn = (email: string) => sendJson(`${app.baseUrl}/auth/login`, {}, { email, password: 'a long enough sentence' })

test.serial('the first owner is made once, and has a key that works', async (t) => {
  const made = await owner('--email', 'Ada@Example.com', '--first-name', 'Ada', '--json')
  t.is(made.status, 0, made.stderr)
  const { user_id, key } = JSON.parse(made.stdout) as { user_id: string; key: string }
  t.like((await ask(app.adminKey, `/admin/users/${user_id}`)).body, { email: 'ada@example.com', first_name: 'Ada', role: 'owner' })
  t.is((await ask(key, '/workspaces')).status, 200)
  t.is((await ask(key, '/admin/users')).status, 403, 'no key of a user is an organisation key')
  const again = await owner('--email', 'bob@example.com')
  t.is(again.status, 1)
  t.regex(again.stderr, /has an owner already/)
  t.like((await ask(app.adminKey, '/admin/users')).body, { total: 1 })
})

test.serial('an owner gets in by a link, once; others get none', async (t) => {
  t.is((await gatehouse('owner', 'link')).status, 2, 'there is an owner: whose link?')
  const stranger = await gatehouse('owner', 'link', '--email', 'bob@example.com')
  t.is(stranger.status, 1)
  t.regex(stranger.stderr, /bob@example.com is no owner/)
  const made = await gatehouse('owner', 'link', '--email', 'Ada@Example.com', '--json')
  t.is(made.status, 0, made.stderr)
  const { url } = JSON.parse(made.stdout) as { url: string }
  t.is((await setUp(url, 'bob@example.com')).status, 400, 'the link is of Ada')
  t.is((await setUp(url, 'ada@example.com')).status, 200)
  t.is((await setUp(url, 'ada@example.com')).status, 401, 'it serves once')
  t.is((await signIn('ada@example.com')).status, 200)
})

const peopleLink = (...args: readonly string[]) => gatehouse('people', 'link', ...args)

test.serial('a person who is no owner gets in by a link of the operator, without mail; owners by theirs', async (t) => {
  t.is((await peopleLink()).status, 2, 'whose link?')
  for (const [email, message] of [
    ['nobody@example.com', /is no person of the organisation/],
    ['ada@example.com', /is an owner: gatehouse owner link/],
  ] as const) {
    const refused = await peopleLink('--email', email)
    t.not(refused.status, 0)
    t.regex(refused.stderr, message)
  }
  const invited = await sendJson(
    `${app.baseUrl}/v1/admin/users/invites`,
    { 'x-service-api-key': app.adminKey },
    { email: 'mia@example.com', role: 'admin' },
  )
  const token = /#token=([\w-]+)/.exec(invited.text)?.[1] ?? ''
  t.is((await sendJson(`${app.baseUrl}/v1/admin/users/invites/accept`, {}, { token })).status, 200)
  t.is((await signIn('mia@example.com')).status, 401)
  const made = await peopleLink('--email', 'Mia@Example.com', '--json')
  t.is(made.status, 0, made.stderr)
  const { url, expires_at } = JSON.parse(made.stdout) as { url: string; expires_at: string }
  t.regex(url, /\/console\/reset-password#token=/)
  t.true(Date.parse(expires_at) - Date.now() > 20 * 3_600_000)
  const set = () =>
    send(`${app.baseUrl}/auth/password`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: /#token=([\w-]+)/.exec(url)?.[1], password: 'a long enough sentence' }),
    })
  t.is((await set()).status, 200)
  t.is((await set()).status, 401, 'it serves once')
  t.is((await signIn('mia@example.com')).status, 200)
})

test.serial('a further organisation is made, its owner gets in by a link, and sees nothing of others', async (t) => {
  const made = await organisation('Zoë & Söhne', '--owner', 'zoe@example.com', '--json')
  t.is(made.status, 0, made.stderr)
  const {
    organisation: slug,
    organisation_id,
    workspace_id,
    link,
  } = JSON.parse(made.stdout) as Record<string, string> & {
    link: { url: string }
  }
  t.is(slug, 'zoe-sohne')
  const session = await setUp(link.url, 'zoe@example.com')
  t.is(session.status, 200, session.text)
  const cookie = session.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  const as = async (path: string) =>
    JSON.parse((await send(`${app.baseUrl}/v1${path}`, { headers: { cookie } })).text) as Record<string, unknown>
  t.like(await as('/admin/organisation'), { id: organisation_id, name: 'Zoë & Söhne' })
  t.like(await as('/workspaces'), { total: 1, data: { 0: { id: workspace_id } } })
  t.like(await as('/admin/users'), { total: 1, data: { 0: { email: 'zoe@example.com', role: 'owner' } } })
  t.like(await as('/audit-logs'), { total: 2, data: { 1: { resource_type: 'organisation', action: 'create' } } })
  t.like((await ask(app.adminKey, '/organisations')).body, { total: 1 }, 'the first organisation sees itself alone')
  const taken = await organisation('Other', '--slug', slug ?? '', '--owner', 'eve@example.com')
  t.is(taken.status, 1)
  t.regex(taken.stderr, /has the slug zoe-sohne/)
  const second = await organisation('Zoë & Söhne', '--owner', 'zoe@example.com')
  t.is(second.status, 0, second.stderr)
  t.regex(second.stdout, /zoe-sohne-\w{6} is there\. zoe@example\.com sets a password by this link/)
})

test.serial('wrong command lines', async (t) => {
  t.is((await owner()).status, 2)
  t.is((await owner('--email', 'nobody')).status, 2)
  t.is((await gatehouse('organisations', 'create', 'Acme')).status, 2)
  t.is((await gatehouse('organisations', 'create', 'Acme', '--owner', 'nobody')).status, 2)
  t.is((await gatehouse('organisations', 'create', 'Acme', '--owner', 'a@example.com', '--slug', 'a b')).status, 2)
  t.is((await owner('--email', 'a@example.com', '--organisation', 'nowhere')).status, 1)
})
