// The figures around the list of logs in a real browser: requests over time, of which a part is chosen, and facets, by which one filters.
import type { Page } from 'playwright-core'
import { assertAccessible, consoleTest as test, startConsole, untilCount, type ConsoleBed } from '../../support/console.ts'
import { eventually } from '../../support/eventually.ts'
import { send, sendJson } from '../../support/http.ts'

let bed: ConsoleBed
const owner = { role: 'owner' } as const
const logsPath = '/console/w/default-workspace/logs'
const [answered, failed] = [3, 1]
const all = answered + failed

test.before(async () => {
  bed = await startConsole()
  const { app, emulator } = bed
  const stored = await sendJson(
    `${app.baseUrl}/v1/integrations`,
    { 'x-service-api-key': app.adminKey },
    {
      name: 'Scripted',
      slug: 'scripted',
      ai_provider_id: 'openai',
      key: 'sk-canary-over-time',
      default_provider_slug: 'scripted',
      configurations: { custom_host: emulator.url },
    },
  )
  if (stored.status !== 200) throw new Error(stored.text)
  for (let sent = 0; sent < answered; sent += 1) await ask()
  emulator.script({ times: 1, behaviour: { status: 400, body: '{"error":{"message":"no"}}' } })
  await ask()
  await eventually(async () => (await requestsCounted()) === all, 30_000, 'the figures of all requests')
})
test.after.always(() => bed?.stop())

const ask = () =>
  sendJson(
    `${bed.app.baseUrl}/v1/chat/completions`,
    { authorization: `Bearer ${bed.app.workspaceKey}` },
    { model: '@scripted/gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  )

async function requestsCounted(): Promise<number> {
  const { text } = await send(`${bed.app.baseUrl}/v1/analytics/overview`, { headers: { 'x-service-api-key': bed.app.workspaceKey } })
  return (JSON.parse(text) as { summary?: { requests?: number } }).summary?.requests ?? 0
}

const chartOf = (page: Page) => page.getByRole('img', { name: `Requests over time. ${all} requests, ${failed} failed; ` })
const rowsOf = (page: Page, count: number) => page.getByText(count === 1 ? '1 row' : `${count} rows`, { exact: true }).waitFor()
const fieldOf = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

test('a step of the chart is a range of the list, by keys, with as many rows as its figure, and stays after a reload', async (t) => {
  const { page, faults } = await bed.open(owner, { path: logsPath })
  await chartOf(page).waitFor()
  await page.getByRole('button', { name: 'Show as table: Requests over time' }).press('Enter')
  const table = page.getByRole('table', { name: 'Requests over time' })
  const figures = (await table.getByRole('row').locator('td:nth-child(2)').allTextContents()).map(Number)
  t.is(
    figures.reduce((sum, value) => sum + value, 0),
    all,
  )
  await page.getByRole('button', { name: 'Show as table: Requests over time' }).press('Enter')
  const highest = figures.indexOf(Math.max(...figures))
  await chartOf(page).focus()
  await page.keyboard.press('Home')
  for (let at = 0; at < highest; at += 1) await page.keyboard.press('ArrowRight')
  await page.getByText(`: Requests ${figures[highest]}, Failed`).waitFor()
  await page.keyboard.press('Enter')
  await rowsOf(page, figures[highest] ?? 0)
  const [from, to] = [fieldOf(page, 'from'), fieldOf(page, 'to')]
  t.true(from !== null && to !== null && from < to)
  await page.reload()
  await rowsOf(page, figures[highest] ?? 0)
  t.deepEqual([fieldOf(page, 'from'), fieldOf(page, 'to')], [from, to])
  t.regex(
    (await page.getByRole('combobox', { name: 'Time range' }).locator('option:checked').textContent()) ?? '',
    /^\d{4}-.* to .* UTC, end excluded$/,
  )
  await page.getByRole('combobox', { name: 'Time range' }).selectOption({ label: 'Last hour' })
  await page.waitForURL((url) => url.searchParams.get('t') === '1h' && !url.searchParams.has('from'))
  t.deepEqual(faults, [])
})

test('bars that the pointer draws over are a range with all their rows, and the chart follows the filter', async (t) => {
  const { page, faults } = await bed.open(owner, { path: logsPath })
  await chartOf(page).scrollIntoViewIfNeeded()
  const box = await chartOf(page).boundingBox()
  if (box === null) throw new Error('the chart has no place')
  const middle = box.y + box.height / 2
  await page.mouse.move(box.x + 2, middle)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width - 2, middle, { steps: 5 })
  await page.getByText(/ to the end of .*Enter or a click narrows/).waitFor()
  await page.mouse.up()
  await page.waitForURL((url) => url.searchParams.has('from') && url.searchParams.has('to'))
  await rowsOf(page, all)
  await page.getByRole('textbox', { name: 'Filter' }).fill('status:400')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Requests over time. 1 request, 1 failed; ' }).waitFor()
  await page.getByRole('textbox', { name: 'Filter' }).fill('"words in bodies"')
  await page.keyboard.press('Enter')
  await page.getByText('Words in bodies cannot be counted over time.').waitFor()
  t.deepEqual(faults, [])
})

test('facets have counts that add up to the rows; a value filters, once more it does not, and another is left out', async (t) => {
  const { page, faults } = await bed.open(owner, { path: logsPath })
  const facets = page.getByRole('complementary', { name: 'Facets' })
  const status = facets.getByRole('region', { name: 'Status' })
  await status.getByRole('button', { name: `200, ${answered} requests` }).waitFor()
  await facets
    .getByRole('region', { name: 'Key' })
    .getByRole('button', { name: `First workspace key, ${all} requests` })
    .waitFor()
  await status.getByRole('button', { name: `400, ${failed} request` }).press('Enter')
  await rowsOf(page, failed)
  t.is(fieldOf(page, 'q'), 'status:400')
  await page.reload()
  const pressed = status.getByRole('button', { name: `400, ${failed} request`, pressed: true })
  await pressed.press('Enter')
  await rowsOf(page, all)
  t.is(fieldOf(page, 'q'), null)
  await status.getByRole('button', { name: 'Filter out status 400' }).press('Enter')
  await rowsOf(page, answered)
  t.is(fieldOf(page, 'q'), '-status:400')
  await facets.getByRole('button', { name: 'More fields' }).press('Enter')
  await facets
    .getByRole('region', { name: 'Operation' })
    .getByRole('button', { name: `chatComplete, ${answered} requests` })
    .waitFor()
  await facets.getByRole('button', { name: 'Hide facets' }).press('Enter')
  await page.reload()
  await page.getByRole('button', { name: 'Show facets' }).press('Enter')
  await facets.waitFor()
  t.deepEqual(faults, [])
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the chart, its table and the facets break no rule of accessibility in ${colorScheme}`, async (t) => {
    const { page, faults } = await bed.open(owner, { path: `${logsPath}?q=status:200`, colorScheme })
    await page.getByRole('complementary', { name: 'Facets' }).getByRole('button', { name: '200', pressed: true }).waitFor()
    await page.getByRole('img', { name: 'Requests over time' }).focus()
    await page.keyboard.press('End')
    await assertAccessible(t, page, 'the chart')
    await page.getByRole('button', { name: 'Show as table: Requests over time' }).click()
    await page.getByRole('table', { name: 'Requests over time' }).waitFor()
    await assertAccessible(t, page, 'the table')
    t.deepEqual(faults, [])
  })

test('a chart that fails says why, beside the list that did not', async (t) => {
  const { page, faults } = await bed.open(owner, { path: '/console/me' })
  await page.route('**/v1/analytics/overview?*', (route) =>
    route.fulfill({ status: 500, contentType: 'application/json', body: '{"error":{"code":"AB99","message":"It <i>broke</i>."}}' }),
  )
  await page.goto(bed.app.baseUrl + logsPath)
  await page.getByText('It <i>broke</i>.').waitFor()
  await untilCount(page.getByRole('grid', { name: 'Logs' }).getByRole('row'), all + 1)
  await page.unroute('**/v1/analytics/overview?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await chartOf(page).waitFor()
  t.deepEqual(faults, [])
})

test('the logs of the organisation have the same figures, and the workspace of each request', async (t) => {
  const { page, faults } = await bed.open(owner, { path: '/console/org/logs' })
  await chartOf(page).waitFor()
  await page.getByRole('columnheader', { name: 'Workspace' }).waitFor()
  await page
    .getByRole('complementary', { name: 'Facets' })
    .getByRole('button', { name: `200, ${answered} requests` })
    .waitFor()
  await rowsOf(page, all)
  await assertAccessible(t, page, 'the organisation')
  t.deepEqual(faults, [])
})
