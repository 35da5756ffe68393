// Many logs in the web console: few calls and few elements, whatever the number of rows, and no row twice.
import { consoleTest as test, startConsole, type ConsoleBed } from '../../support/console.ts'
import { eventually } from '../../support/eventually.ts'
import { sendJson } from '../../support/http.ts'

let bed: ConsoleBed
const owner = { role: 'owner' } as const
const logsPath = '/console/w/default-workspace/logs'
const rows = 600

test.before(async () => {
  bed = await startConsole()
  const { app } = bed
  const log = {
    request: { url: 'https://api.example/v1/x', provider: 'openai', body: 'x'.repeat(2000) },
    response: { body: 'y'.repeat(2000) },
  }
  for (let sent = 0; sent < rows; sent += 100) {
    const headers = { 'x-service-api-key': app.workspaceKey }
    const stored = await sendJson(
      `${app.baseUrl}/v1/logs`,
      headers,
      Array.from({ length: 100 }, () => log),
    )
    if (stored.status !== 200) throw new Error(stored.text)
  }
  await eventually(async () => {
    const answer = await fetch(`${app.baseUrl}/v1/analytics/graphs/requests`, { headers: { 'x-service-api-key': app.workspaceKey } })
    return answer.ok
  }, 20_000)
})
test.after.always(() => bed?.stop())

test('a page of logs takes two calls beside that of the session, and counts its facets afterwards; home takes three, and reads its lists of keys and models afterwards', async (t) => {
  const { page } = await bed.open(owner, { path: '/console/me' })
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/^\/(?:v1|auth)\//.test(pathname)) asked.push(pathname)
  })
  await page.goto(bed.app.baseUrl + logsPath)
  await page.getByRole('grid', { name: 'Logs' }).getByText('200 OK').first().waitFor()
  await page.getByRole('complementary', { name: 'Facets' }).getByRole('region', { name: 'Status' }).waitFor()
  t.deepEqual(asked.slice(0, 3).toSorted(), ['/auth/me', '/v1/analytics/overview', '/v1/logs'])
  t.deepEqual(asked.splice(0).slice(3), ['/v1/logs/facets'])
  await page.goto(`${bed.app.baseUrl}/console/w/default-workspace`)
  await page.getByRole('heading', { name: 'Latest failures' }).waitFor()
  await page.getByText('No request failed in this range.').waitFor()
  const [first, later] = [asked.slice(0, 4), asked.slice(4)]
  t.deepEqual(first.toSorted(), ['/auth/me', '/v1/analytics/overview', '/v1/limits', '/v1/logs'])
  t.true(
    later.every((path) => /^\/v1\/(?:analytics\/groups\/|api-keys$)/.test(path)),
    later.join(', '),
  )
})

test('rows are read on as one scrolls, none twice, and only those in view are in the document', async (t) => {
  const { page, faults } = await bed.open(owner, { path: logsPath })
  const grid = page.getByRole('grid', { name: 'Logs' })
  await grid.getByText('200 OK').first().waitFor()
  await page.getByRole('gridcell').first().focus()
  await eventually(
    async () => {
      await page.keyboard.press('End')
      return (await page.getByText(`${rows} rows`, { exact: true }).count()) > 0
    },
    30_000,
    'all rows to be loaded',
  )
  t.true((await grid.getByRole('row').count()) < 80)
  await page.keyboard.press('End')
  await eventually(async () => (await grid.locator(`[aria-rowindex="${rows + 1}"]`).count()) === 1, 5000)
  await page.keyboard.press('Home')
  await eventually(async () => (await grid.locator('[aria-rowindex="2"]').count()) === 1, 5000)
  t.deepEqual(faults, [])
})
