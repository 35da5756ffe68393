// One provider of a workspace as a page of the web console in a real browser: its bounds, its models with their prices, its users, and its end.
import { assertAccessible, consoleTest as test, startConsole, untilCount, type ConsoleBed } from '../../support/console.ts'
import { send, sendJson } from '../../support/http.ts'

let bed: ConsoleBed
test.before(async () => {
  bed = await startConsole()
})
test.after.always(() => bed?.stop())

const owner = { role: 'owner' } as const
const headers = () => ({ 'x-service-api-key': bed.app.workspaceKey })
const listPath = '/console/w/default-workspace/providers'

async function makeProvider(slug: string): Promise<string> {
  const { app, emulator } = bed
  const { status, text } = await sendJson(
    `${app.baseUrl}/v1/integrations`,
    { 'x-service-api-key': app.adminKey },
    {
      name: `Provider ${slug}`,
      slug,
      ai_provider_id: 'openai',
      key: 'sk-canary-provider-page',
      default_provider_slug: slug,
      configurations: { custom_host: emulator.url },
    },
  )
  if (status !== 200) throw new Error(text)
  return `${listPath}/${slug}`
}

async function read(path: string): Promise<Record<string, unknown>> {
  return JSON.parse((await send(`${bed.app.baseUrl}/v1${path}`, { headers: headers() })).text) as Record<string, unknown>
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`a provider gets a budget, a rate and an end, and shows them, in ${colorScheme}`, async (t) => {
    const slug = `bounded-${colorScheme}`
    const path = await makeProvider(slug)
    const { page, faults } = await bed.open(owner, { path: listPath, colorScheme })
    await page.getByRole('grid', { name: 'Providers' }).getByText(`@${slug}`).click()
    await page.getByRole('heading', { level: 1, name: `Provider ${slug}` }).waitFor()
    t.is(new URL(page.url()).pathname, path)
    await page.getByRole('tab', { name: 'Change' }).click()
    await page.getByRole('textbox', { name: 'Limit', exact: true }).fill('250')
    await page.getByRole('button', { name: 'Add rate' }).click()
    await page.getByRole('textbox', { name: 'Rate 1' }).fill('90')
    await page.getByRole('textbox', { name: 'Note' }).fill('for <b>search</b>')
    await page.getByRole('combobox', { name: 'Expires' }).selectOption({ label: 'In a year' })
    await assertAccessible(t, page, 'the form')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. Every process follows within a second.').waitFor()
    t.like(await read(`/providers/${slug}`), {
      note: 'for <b>search</b>',
      usage_limits: { credit_limit: 250, periodic_reset: 'monthly' },
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 90 }],
    })
    await page.getByRole('tab', { name: 'Summary' }).click()
    await page.getByRole('meter', { name: `Budget of Provider ${slug}` }).waitFor()
    await page.getByText('90 requests a minute').waitFor()
    await page.getByText('for <b>search</b>').waitFor()
    await assertAccessible(t, page, 'summary')
    await page.getByRole('tab', { name: 'Used by' }).click()
    await page.getByRole('heading', { name: 'Nothing uses it.' }).waitFor()
    await assertAccessible(t, page, 'users')
    await page.getByRole('textbox', { name: 'Type the name to confirm' }).fill(`Provider ${slug}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor()
    await untilCount(page.getByText(`@${slug}`), 0)
    await page.goto(bed.app.baseUrl + path)
    await page.getByRole('heading', { name: 'There is no provider here.' }).waitFor()
    t.deepEqual(faults, [])
  })

test('the models of a workspace are searched, with prices that are explained', async (t) => {
  await makeProvider('modelled')
  const allowed = JSON.stringify({ allow_all_models: false, models: [{ slug: 'gpt-4o-mini', enabled: true }] })
  const admin = { 'x-service-api-key': bed.app.adminKey, 'content-type': 'application/json' }
  const put = { method: 'PUT', headers: admin, body: allowed }
  t.is((await send(`${bed.app.baseUrl}/v1/integrations/modelled/models`, put)).status, 200)
  const { page, faults } = await bed.open(owner, { path: `${listPath}?tab=models` })
  await page.getByRole('textbox', { name: 'Filter' }).fill('gpt-4o-mini')
  const grid = page.getByRole('grid', { name: 'Models' })
  const row = grid.getByRole('row').filter({ has: page.getByText('@modelled/gpt-4o-mini', { exact: true }) })
  await row.getByText('$0.15').waitFor()
  await row.getByText('$0.60').waitFor()
  await assertAccessible(t, page, 'models')
  await page.getByRole('button', { name: 'Explain price of @modelled/gpt-4o-mini', exact: true }).click()
  await page.getByRole('dialog', { name: 'Price of gpt-4o-mini' }).getByRole('table', { name: 'Prices' }).waitFor()
  t.deepEqual(faults, [])
})

test('a provider that somebody else has changed, that is forbidden, or that may only be read says so', async (t) => {
  const path = await makeProvider('states')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=change` })
  await page.getByRole('textbox', { name: 'Note' }).fill('mine')
  const body = JSON.stringify({ note: 'theirs' })
  const request = { method: 'PUT', headers: { ...headers(), 'content-type': 'application/json' }, body }
  t.is((await send(`${bed.app.baseUrl}/v1/providers/states`, request)).status, 200)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Take theirs: Note' }).click()
  t.is(await page.getByRole('textbox', { name: 'Note' }).inputValue(), 'theirs')
  await page.route('**/v1/providers/states*', (route) =>
    route.fulfill({ status: 403, contentType: 'application/json', body: '{"error":{"code":"AB03","message":"Not you."}}' }),
  )
  await page.goto(bed.app.baseUrl + path)
  await page.getByRole('heading', { name: 'You cannot see this.' }).waitFor()
  await page.unroute('**/v1/providers/states*')
  await page.route('**/auth/me', async (route) => {
    const answer = await route.fetch()
    const text = (await answer.text()).replaceAll(/"providers\.(?:update|delete)",?/g, '')
    await route.fulfill({ response: answer, body: text.replaceAll(',]', ']') })
  })
  await page.goto(`${bed.app.baseUrl}${path}?tab=change`)
  await page.getByText(/Needs providers\.update\. Ask an admin of /).waitFor()
  await assertAccessible(t, page, 'without rights')
  await page.getByRole('tab', { name: 'Used by' }).click()
  await page.getByText(/Needs providers\.delete\./).waitFor()
  t.deepEqual(faults, [])
})
