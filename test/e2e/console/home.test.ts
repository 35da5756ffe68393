// The home page of the web console in a real browser: figures, charts with their tables, lists, and what needs attention.
import { assertAccessible, consoleTest as test, startConsole, type ConsoleBed } from '../../support/console.ts'
import { eventually } from '../../support/eventually.ts'
import { send, sendJson } from '../../support/http.ts'

let bed: ConsoleBed
const owner = { role: 'owner' } as const
const home = '/console/w/default-workspace'
const [answered, failed] = [3, 1]

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
      key: 'sk-canary-home-page',
      default_provider_slug: 'scripted',
      configurations: { custom_host: emulator.url },
    },
  )
  if (stored.status !== 200) throw new Error(stored.text)
  for (let sent = 0; sent < answered; sent += 1) await ask()
  emulator.script({ times: 1, behaviour: { status: 400, body: '{"error":{"message":"no"}}' } })
  await ask()
  await eventually(async () => (await requestsCounted()) === answered + failed, 30_000, 'the figures of four requests')
})
test.after.always(() => bed?.stop())

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

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

for (const colorScheme of ['light', 'dark'] as const)
  test(`home shows figures, charts and lists, each also as a table, in ${colorScheme}`, async (t) => {
    const { page, faults } = await bed.open(owner, { path: home, colorScheme })
    await page.getByRole('link', { name: `Requests ${answered + failed}` }).waitFor()
    await page.getByRole('link', { name: `Failed ${failed} of ${answered + failed}` }).waitFor()
    const chart = page.getByRole('img', { name: /^Requests and failures\. 4 requests, 1 failed; the most in one hour: \d+ at / })
    await chart.focus()
    await page.keyboard.press('End')
    await page.getByText(/: Requests \d+, Failed \d+$/).waitFor()
    const models = page.getByRole('table', { name: 'Top models' })
    await models.getByRole('row', { name: /gpt-4o-mini/ }).waitFor()
    await page
      .getByRole('table', { name: 'Top keys' })
      .getByRole('row', { name: /First workspace key/ })
      .waitFor()
    await assertAccessible(t, page, 'charts')
    await page.getByRole('button', { name: 'Show as table: Requests and failures' }).click()
    const table = page.getByRole('table', { name: 'Requests and failures' })
    const cells = await table.getByRole('row').locator('td:nth-child(2)').allTextContents()
    t.is(
      cells.reduce((sum, text) => sum + (Number(text) || 0), 0),
      answered + failed,
    )
    await assertAccessible(t, page, 'the table')
    await models.getByRole('link', { name: 'gpt-4o-mini' }).click()
    await page.getByText(`${answered + failed} rows`, { exact: true }).waitFor()
    t.is(new URL(page.url()).searchParams.get('q'), 'model:gpt-4o-mini')
    t.deepEqual(faults, [])
  })

test('the home of the organisation has a row for each workspace, which leads to its home', async (t) => {
  const { page, faults } = await bed.open(owner, { path: '/console/org' })
  const row = page.getByRole('table', { name: 'Workspaces' }).getByRole('row', { name: /default-workspace/ })
  await row.getByText(String(answered + failed), { exact: true }).waitFor()
  await assertAccessible(t, page, 'the organisation')
  await row.getByRole('link').click()
  await page.waitForURL('**/w/default-workspace')
  t.deepEqual(faults, [])
})

test('a limit that runs out is a sentence with a way to its key, also by a digit', async (t) => {
  const { page, faults } = await bed.open(owner, { path: '/console/me' })
  const keyId = '00000000-0000-4000-8000-000000000001'
  await page.route('**/v1/limits?*', (route) =>
    route.fulfill({
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify({
        object: 'list',
        has_more: false,
        next_cursor: null,
        data: [
          {
            object: 'limit',
            owner_kind: 'api-key',
            owner_id: keyId,
            owner_name: 'web <b>prod</b>',
            group: null,
            kind: 'usage',
            type: 'cost',
            unit: null,
            workspace_id: null,
            spent: 82,
            reserved: 0,
            limit: 100,
            resets_at: inDays(6.1),
            state: 'at_risk',
            runs_out_at: inDays(2.1),
          },
        ],
      }),
    }),
  )
  await page.goto(bed.app.baseUrl + home)
  const region = page.getByRole('region', { name: 'Needs attention' })
  await region.getByText('The budget of "web <b>prod</b>" is at 82 %. It runs out in about 2 days, 4 days before its reset.').waitFor()
  await assertAccessible(t, page, 'attention')
  await page.keyboard.press('1')
  await page.waitForURL(`**/keys/${keyId}`)
  t.deepEqual(faults, [])
})

test('figures that fail say why beside the lists that did not, and are there when they can be read again', async (t) => {
  const { page, faults } = await bed.open(owner, { path: '/console/me' })
  await page.route('**/v1/analytics/overview?*', (route) =>
    route.fulfill({ status: 500, contentType: 'application/json', body: '{"error":{"code":"AB99","message":"It <i>broke</i>."}}' }),
  )
  await page.goto(bed.app.baseUrl + home)
  await page.getByText('It <i>broke</i>.').waitFor()
  await page.getByRole('table', { name: 'Latest failures' }).waitFor()
  await assertAccessible(t, page, 'failed figures')
  await page.unroute('**/v1/analytics/overview?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('img', { name: /^Cost\. / }).waitFor()
  t.deepEqual(faults, [])
})
