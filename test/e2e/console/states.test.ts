// The states of the web console in which something cannot be shown, each with its copy, in a real browser.
import type { Page } from 'playwright-core'
import { assertAccessible, consoleTest as test, startConsole, type ConsoleBed } from '../../support/console.ts'

let bed: ConsoleBed
test.before(async () => {
  bed = await startConsole()
})
test.after.always(() => bed?.stop())

const owner = { role: 'owner' } as const
const logsPath = '/console/w/default-workspace/logs'

/** Lets the list of logs answer with an error of the API until it is told otherwise. */
async function failLogs(page: Page, status: number, error: Readonly<Record<string, unknown>>): Promise<() => Promise<void>> {
  const place = '**/v1/logs?*'
  await page.route(place, (route) =>
    route.fulfill({
      status,
      contentType: 'application/json',
      body: JSON.stringify({ error: { request_id: '01a2-request', param: null, ...error } }),
    }),
  )
  return () => page.unroute(place)
}

/** Presses the button of a failure at once, unless the page has tried again by itself by now. */
const tryAgain = (page: Page): Promise<void> =>
  page.evaluate("[...document.querySelectorAll('button')].find((one) => one.textContent.trim() === 'Try again')?.click()")

/** The error of the API, and the words of the page. */
const failures: readonly (readonly [status: number, error: Readonly<Record<string, unknown>>, words: readonly (string | RegExp)[]])[] = [
  [
    503,
    { code: 'dependency_unavailable', message: 'x' },
    ['The database does not answer.', /Requests to models go on; this page cannot\. Trying again in \d s\./],
  ],
  [503, { code: 'sealed', message: 'x' }, ['Gatehouse is sealed.', /no valid encryption key/]],
  [403, { code: 'AB03', message: 'It needs <b>logs.list</b>.' }, ['You cannot see this.', 'It needs <b>logs.list</b>.']],
  [500, { code: 'AB99', message: 'Something <i>broke</i>.' }, ['This list did not load.', 'Something <i>broke</i>.', '01a2-request']],
  [429, { code: 'AB06', message: 'Too many requests at once.' }, ['This list did not load.', 'Too many requests at once.']],
]
test('a list that fails says why in the words of its cause, and works again when it can', async (t) => {
  const { page, faults } = await bed.open(owner, { path: '/console/me' })
  for (const [status, error, words] of failures) {
    const what = `${status} ${String(error['code'])}`
    const mend = await failLogs(page, status, error)
    await page.goto(bed.app.baseUrl + logsPath)
    for (const text of words) await page.getByText(text).first().waitFor()
    await assertAccessible(t, page, what)
    const canTry = !['sealed', 'AB03'].includes(String(error['code']))
    t.is(await page.getByRole('button', { name: 'Try again' }).count(), canTry ? 1 : 0, what)
    await mend()
    if (!canTry) continue
    await tryAgain(page)
    await page.getByRole('heading', { name: 'No requests in this range.' }).waitFor()
  }
  t.deepEqual(faults, [])
})

test('a session that ended in another window is one dialog, and the page stays as it is', async (t) => {
  const { page, context } = await bed.open(owner, { path: logsPath })
  await page.getByRole('heading', { name: 'No requests in this range.' }).waitFor()
  await page.getByRole('textbox', { name: 'Filter' }).fill('typed and not sent')
  await context.clearCookies()
  await page.getByRole('button', { name: 'Refresh' }).click()
  const dialog = page.getByRole('dialog', { name: 'You were signed out' })
  await dialog.waitFor()
  await assertAccessible(t, page, 'the dialog')
  t.is(await page.getByRole('textbox', { name: 'Filter' }).inputValue(), 'typed and not sent')
  await dialog.getByRole('link', { name: 'Sign in' }).click()
  await page.waitForURL('**/console/sign-in**')
  t.is(new URL(page.url()).searchParams.get('return_to'), logsPath)
})

test('without a connection a bar says since when, and goes when it is back', async (t) => {
  const { page, context } = await bed.open(owner, { path: logsPath })
  await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor()
  await context.setOffline(true)
  const bar = page.getByRole('region', { name: 'Notices' }).getByText(/No connection to Gatehouse since \d\d:\d\d/)
  await bar.waitFor()
  await context.setOffline(false)
  await bar.waitFor({ state: 'detached' })
  t.pass()
})

test('while the database is away at the start, the page shows the reason and the checks of the process', async (t) => {
  const { page } = await bed.open(owner, { path: '/console/me' })
  await page.route('**/auth/me', (route) =>
    route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":{"code":"dependency_unavailable","message":"x"}}' }),
  )
  await page.goto(bed.app.baseUrl + logsPath)
  await page.getByRole('heading', { name: 'The database does not answer.' }).waitFor()
  await page.getByRole('table', { name: 'Checks' }).getByText('Encryption key').waitFor()
  await assertAccessible(t, page, 'without the database')
  await page.unroute('**/auth/me')
  await tryAgain(page)
  await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor()
})

test('on a phone the navigation is a menu, and nothing is wider than the page', async (t) => {
  const { page, faults } = await bed.open(owner, { path: logsPath, width: 390 })
  await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor()
  t.false(await page.getByRole('navigation', { name: 'Main' }).isVisible())
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
  t.true(await page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth'))
  await assertAccessible(t, page, 'on a phone')
  t.deepEqual(faults, [])
})
