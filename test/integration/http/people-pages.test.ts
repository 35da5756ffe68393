import test from 'ava'
import { inTenant } from '../../../src/app/database/orm.ts'
import { makeLink } from '../../../src/features/sessions/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { send, sendJson } from '../../support/http.ts'
import { openPage } from '../../support/page.ts'
import { addPerson, type TestPerson } from '../../support/people.ts'

let app: TestApp
test.before(async () => {
  app = await startApp({ env: { FAILED_CREDENTIALS_PER_MINUTE: '0' } })
})
test.after.always(() => app?.stop())

const password = 'a long enough sentence'
const paths = [
  '/console',
  '/console/sign-in',
  '/console/setup',
  '/console/reset-password',
  '/console/forgot-password',
  '/console/let-in',
  '/invite',
]

/** A link as the product makes it; the path and the token of it. */
async function linkFor(person: TestPerson, purpose: 'password' | 'setup'): Promise<string> {
  const { organisationId, id: userId } = person
  const { url } = await inTenant(app.deps.orm, organisationId, (em) => makeLink(em, app.deps, { organisationId, userId, purpose }))
  const { pathname, hash } = new URL(url)
  return pathname + hash
}

test('pages for people load nothing from elsewhere and nothing inline, and cannot be framed', async (t) => {
  for (const path of paths) {
    const page = await send(`${app.baseUrl}${path}`)
    t.is(page.status, 200, path)
    const policy = String(page.headers['content-security-policy'])
    t.regex(policy, /default-src 'none'.*frame-ancestors 'none'/)
    t.notRegex(policy, /unsafe|https?:|\*|data:/)
    t.is(page.headers['referrer-policy'], 'no-referrer')
    t.is(page.headers['x-content-type-options'], 'nosniff')
    t.notRegex(page.text, /<script(?![^>]*src=)|<style|\son\w+=|style=/)
    for (const [, asset = ''] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) {
      t.regex(asset, /^\/(?!\/)/)
      const answer = await send(`${app.baseUrl}${asset}`)
      t.is(answer.status, 200, asset)
      t.notRegex(answer.text.replace(/xmlns="[^"]+"/, ''), /https?:\/\/|innerHTML|\beval\b|localStorage/)
    }
  }
})

test('an owner gets back in by the page of a setup link, once; the token leaves the address', async (t) => {
  const owner = await addPerson(app, { role: 'owner' })
  const link = await linkFor(owner, 'setup')
  t.true(link.startsWith('/console/setup#token='))
  const page = await openPage(app.baseUrl, link)
  t.is(page.address(), '/console/setup')
  await page.submit({ email: owner.email, password: 'short' })
  t.not(page.textOf('fault'), '')
  t.false(page.isHidden('form'))
  await page.submit({ email: owner.email, password })
  t.is(page.textOf('fault'), '')
  t.true(page.isHidden('form'))
  t.regex(page.textOf('said'), /signed in/)
  const home = await openPage(app.baseUrl, '/console', page.cookies)
  t.is(home.textOf('said'), `You are signed in as ${owner.email}.`)
  const again = await openPage(app.baseUrl, link)
  await again.submit({ email: owner.email, password })
  t.regex(again.textOf('fault'), /does not work/)
})

test('a password is set anew by the page of a link from an e-mail, and signs in on the page for it; then out again', async (t) => {
  const person = await addPerson(app)
  const page = await openPage(app.baseUrl, await linkFor(person, 'password'))
  await page.submit({ password })
  t.is(page.textOf('fault'), '')
  const home = await openPage(app.baseUrl, '/console')
  t.false(home.isHidden('form'))
  await home.submit({ email: person.email, password: 'not the password' })
  t.is(home.textOf('fault'), 'E-mail or password is wrong.')
  await home.submit({ email: person.email, password })
  t.is(home.textOf('fault'), '')
  const greeted = await openPage(app.baseUrl, '/console', home.cookies)
  t.true(greeted.isHidden('form'))
  t.is(greeted.textOf('said'), `You are signed in as ${person.email}.`)
  await greeted.click('leave')
  t.is(greeted.address(), '/console/sign-in')
  t.false((await openPage(app.baseUrl, '/console', greeted.cookies)).isHidden('form'))
})

test('an invitation is accepted on its page, which shows the keys that come with it, sets a password and signs in', async (t) => {
  const made = await sendJson(
    `${app.baseUrl}/v1/admin/users/invites`,
    { 'x-service-api-key': app.adminKey },
    {
      email: 'invited@example.com',
      role: 'member',
      workspaces: [{ id: 'default-workspace', role: 'member' }],
      workspace_api_key_details: { scopes: ['completions.write'] },
    },
  )
  t.is(made.status, 200, made.text)
  const { pathname, hash } = new URL((JSON.parse(made.text) as { invite_link: string }).invite_link)
  const page = await openPage(app.baseUrl, pathname + hash)
  t.false(page.isHidden('password_field'))
  await page.submit({ first_name: 'Ina', last_name: 'Vited', password: 'Ina Vited Ina' })
  t.regex(page.textOf('fault'), /easy to guess: it consists of your name/)
  t.regex(page.textOf('keys'), /"key"/, 'they are shown although the password has to be chosen anew')
  t.false(page.isHidden('form'))
  await page.submit({ first_name: 'Ina', last_name: 'Vited', password })
  t.is(page.textOf('fault'), '')
  t.regex(page.textOf('said'), /belong.*You are signed in/)
  const greeted = await openPage(app.baseUrl, '/console', page.cookies)
  t.is(greeted.textOf('said'), 'You are signed in as invited@example.com.')
  const home = await openPage(app.baseUrl, '/console')
  await home.submit({ email: 'invited@example.com', password })
  t.is(home.textOf('fault'), '')
})

test('who forgot the password asks for a link on a page that the one to sign in names', async (t) => {
  t.regex((await send(`${app.baseUrl}/console`)).text, /<a id="help" href="\/console\/forgot-password">/)
  const page = await openPage(app.baseUrl, '/console/forgot-password')
  await page.submit({ email: 'invited@example.com' })
  t.regex(page.textOf('fault'), /sends no mail.*gatehouse people link/)
})

test('a page without the token of its link says so, and sends nothing', async (t) => {
  const page = await openPage(app.baseUrl, '/console/reset-password')
  await page.submit({ password })
  t.regex(page.textOf('fault'), /lacks its token/)
})

test('a process without the control plane has no pages', async (t) => {
  const data = await startApp({ env: { ROLES: 'gateway' }, database: app.database })
  t.teardown(() => data.stop())
  for (const path of [...paths, '/console/page.js']) t.is((await send(`${data.baseUrl}${path}`)).status, 404, path)
})

test('where the console is not built, its page signs people in and gives the way to build it, or the present step', async (t) => {
  for (const path of ['/console', '/console/w/any/logs']) {
    const page = await send(`${app.baseUrl}${path}`)
    t.is(page.status, 200)
    t.regex(page.text, /<h1>Sign in<\/h1>[^]*npm run console:build/)
  }
  const building = await startApp({ database: app.database, overrides: { console: { files: () => null, step: () => 'Building <b>it' } } })
  t.teardown(() => building.stop())
  t.regex((await send(`${building.baseUrl}/console`)).text, /The console is on its way\. Building &lt;b&gt;it\./)
  t.is((await send(`${building.baseUrl}/console/assets/index.js`)).status, 404)
})
