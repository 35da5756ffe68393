// The frame of the web console in a real browser: signing in, navigation, themes, and the states in which nothing can be shown.
import { assertAccessible, consoleTest as test, startConsole, type ConsoleBed } from '../../support/console.ts'
import { send } from '../../support/http.ts'

let bed: ConsoleBed
test.before(async () => {
  bed = await startConsole()
})
test.after.always(() => bed?.stop())

const nonceOf = (text = '') => /nonce="([^"]{20,})"/.exec(text)?.[1]
const owner = { role: 'owner' } as const
const member = { role: 'member', places: { 'default-workspace': 'member' } } as const

test('each answer with the page has a content policy with a nonce of its own, and the files are kept for ever', async (t) => {
  const [page, other] = await Promise.all(['/console', '/console/w/x/logs'].map((path) => send(bed.app.baseUrl + path)))
  t.is(page?.status, 200)
  t.is(other?.status, 200)
  t.truthy(nonceOf(page?.text))
  t.not(nonceOf(page?.text), nonceOf(other?.text))
  const policy = String(page?.headers['content-security-policy'])
  t.true(policy.includes(`'nonce-${nonceOf(page?.text)}'`))
  t.regex(policy, /default-src 'none'.*script-src 'self';.*frame-ancestors 'none'/)
  t.notRegex(policy, /unsafe|https?:|\*/)
  t.is(page?.headers['cache-control'], 'no-store')
  const names = [...(page?.text ?? '').matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name = '']) => name)
  t.true(names.length >= 3)
  for (const name of names) {
    const file = await send(`${bed.app.baseUrl}/console/${name}`, { headers: { 'accept-encoding': 'gzip, br' } })
    t.is(file.status, 200, name)
    t.is(file.headers['content-encoding'], 'br')
    t.regex(String(file.headers['cache-control']), /immutable/)
  }
  t.is((await send(`${bed.app.baseUrl}/console/assets/none.js`)).status, 404)
  t.is((await send(`${bed.app.baseUrl}/console/build.json`)).status, 404)
})

test('a browser that nobody is signed in to is led to the page to sign in, and back to where it was', async (t) => {
  const { page, faults } = await bed.open(null, { path: '/console/w/default-workspace/logs?q=hello' })
  await page.waitForURL('**/console/sign-in**')
  t.is(new URL(page.url()).searchParams.get('return_to'), '/console/w/default-workspace/logs?q=hello')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.deepEqual(faults, [])
})

test('a signed-in person gets the pages of their rights, and can sign out', async (t) => {
  const { page, faults } = await bed.open(member)
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  t.regex(page.url(), /\/console\/w\/default-workspace\/?$/)
  const entries = await page.getByRole('navigation', { name: 'Main' }).getByRole('listitem').allTextContents()
  t.true(entries.includes('Logs'))
  t.false(entries.includes('System'))
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL('**/console/sign-in')
  t.deepEqual(faults, [])
})

test('a member who opens a page of the organisation reads which right it needs', async (t) => {
  const { page } = await bed.open(member, { path: '/console/org/logs' })
  await page.getByRole('heading', { name: 'You cannot see this.' }).waitFor()
  await page.goto(`${bed.app.baseUrl}/console/w/nowhere/logs`)
  await page.getByRole('heading', { name: 'There is no such workspace here.' }).waitFor()
  await page.goto(`${bed.app.baseUrl}/console/w/default-workspace/nothing`)
  await page.getByRole('heading', { name: 'There is no such page here.' }).waitFor()
  t.pass()
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the frame and its command list break no rule of accessibility in ${colorScheme}, and work by keyboard`, async (t) => {
    const { page, faults } = await bed.open(owner, { colorScheme })
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await assertAccessible(t, page, 'home')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
    await assertAccessible(t, page, 'commands')
    await page.keyboard.type('system')
    await page.keyboard.press('Enter')
    await page.getByRole('table', { name: 'Checks' }).getByText('Database').waitFor()
    await assertAccessible(t, page, 'system')
    await page.goto(`${bed.app.baseUrl}/console/me`)
    await page.getByRole('table', { name: 'Sessions' }).getByText('now, here').waitFor()
    await assertAccessible(t, page, 'me')
    t.deepEqual(faults, [])
  })

test('/ leads browsers to the console, and stays the way to the API page for programs', async (t) => {
  const browser = await send(`${bed.app.baseUrl}/`, { headers: { accept: 'text/html,*/*;q=0.8' } })
  t.is(browser.headers.location, '/console')
  t.is((await send(`${bed.app.baseUrl}/`)).headers.location, '/docs')
})
