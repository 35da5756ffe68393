// One API key as a page of the web console in a real browser: changing all that was set, two people at once, faults, and who may not.
import type { Page } from 'playwright-core'
import { assertAccessible, consoleTest as test, startConsole, untilCount, type ConsoleBed } from '../../support/console.ts'
import { send, sendJson } from '../../support/http.ts'

let bed: ConsoleBed
test.before(async () => {
  bed = await startConsole()
})
test.after.always(() => bed?.stop())

const owner = { role: 'owner' } as const
const headers = () => ({ 'x-service-api-key': bed.app.workspaceKey })

/** Makes a key, and returns its id and the address of its page. */
async function makeKey(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<{ id: string; path: string }> {
  const { text, status } = await sendJson(`${bed.app.baseUrl}/v1/api-keys/workspace/service`, headers(), {
    name,
    scopes: ['completions.write', 'logs.list'],
    ...fields,
  })
  if (status !== 200) throw new Error(text)
  const { id } = JSON.parse(text) as { id: string }
  return { id, path: `/console/w/default-workspace/keys/${id}` }
}

async function readKey(id: string): Promise<Record<string, unknown>> {
  return JSON.parse((await send(`${bed.app.baseUrl}/v1/api-keys/${id}`, { headers: headers() })).text) as Record<string, unknown>
}

const changeKey = (id: string, body: Readonly<Record<string, unknown>>) =>
  send(`${bed.app.baseUrl}/v1/api-keys/${id}`, {
    method: 'PUT',
    headers: { ...headers(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const saved = (page: Page) => page.getByText('Saved. Every process follows within a second.').waitFor()

for (const colorScheme of ['light', 'dark'] as const)
  test(`all that a key has can be changed by keyboard and is there after a reload, in ${colorScheme}`, async (t) => {
    const { id, path } = await makeKey(`web-${colorScheme}`, { usage_limits: { credit_limit: 5, periodic_reset: 'monthly' } })
    const { page, faults } = await bed.open(owner, { path, colorScheme })
    await page.getByRole('heading', { level: 1, name: `web-${colorScheme}` }).waitFor()
    await page.getByRole('meter', { name: `Budget of web-${colorScheme}` }).waitFor()
    await assertAccessible(t, page, 'summary')
    await page.getByRole('tab', { name: 'Change' }).click()
    await page.getByLabel('Description').fill('for <b>the</b> web')
    await page.getByRole('textbox', { name: 'Limit' }).fill('800')
    await page.getByRole('textbox', { name: 'Tell at' }).fill('600.5')
    await page.getByRole('combobox', { name: 'Resets' }).selectOption({ label: 'Every some days' })
    await page.getByRole('textbox', { name: 'Days' }).fill('10')
    await page.getByRole('button', { name: 'Add rate' }).click()
    await page.getByRole('textbox', { name: 'Rate 1' }).fill('600')
    await page.getByLabel('Alerts to').fill('ana@example.com, bo@example.com')
    await page.getByRole('combobox', { name: 'Expires' }).selectOption({ label: 'At a date' })
    await page.getByLabel('Date and time').fill('2031-05-06T07:08')
    await page.getByRole('button', { name: 'Add to metadata' }).click()
    await page.getByRole('textbox', { name: 'Name 1' }).fill('team')
    await page.getByRole('textbox', { name: 'Value 1' }).fill('search')
    await page.getByRole('combobox', { name: 'Rotation due' }).selectOption({ label: 'Each month' })
    const tree = page.getByRole('tree', { name: 'Scopes' })
    await page.getByRole('textbox', { name: 'Search rights' }).fill('prompts.')
    await tree.getByRole('treeitem').first().focus()
    await page.keyboard.press('ArrowDown')
    const chosen = tree.locator('[data-node]:focus')
    const scope = await chosen.getAttribute('data-node')
    t.is(await chosen.getAttribute('aria-checked'), 'false')
    await page.keyboard.press('Space')
    t.is(await chosen.getAttribute('aria-checked'), 'true')
    await assertAccessible(t, page, 'the form')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await saved(page)
    const key = await readKey(id)
    t.like(key, {
      description: 'for <b>the</b> web',
      usage_limits: { credit_limit: 800, alert_threshold: 600.5, periodic_reset: null, periodic_reset_days: 10 },
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 600 }],
      alert_emails: ['ana@example.com', 'bo@example.com'],
      expires_at: '2031-05-06T07:08:00.000Z',
      defaults: { metadata: { team: 'search' } },
      rotation_policy: { rotation_period: 'monthly' },
    })
    t.deepEqual(new Set(key['scopes'] as string[]), new Set(['completions.write', 'logs.list', scope]))
    await page.reload()
    t.is(await page.getByRole('textbox', { name: 'Limit' }).inputValue(), '800')
    t.is(await page.getByLabel('Alerts to').inputValue(), 'ana@example.com, bo@example.com')
    await page.getByRole('button', { name: 'Remove rate 1' }).click()
    await page.getByRole('textbox', { name: 'Limit' }).fill('')
    await page.getByRole('textbox', { name: 'Tell at' }).fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await saved(page)
    t.like(await readKey(id), { usage_limits: null, rate_limits: null, alert_emails: ['ana@example.com', 'bo@example.com'] })
    t.deepEqual(faults, [])
  })

test('what somebody else has stored in the meantime is shown field by field, and nothing is overwritten unseen', async (t) => {
  const { id, path } = await makeKey('shared')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=change` })
  await page.getByLabel('Description').fill('mine')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('my name')
  const theirs = { name: 'their name', description: 'theirs', alert_emails: ['cy@example.com'] }
  t.is((await changeKey(id, theirs)).status, 200)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const notice = page.getByRole('alert', { name: 'Changed by somebody else' })
  await notice.getByText('Now also changed here: Alerts to.').waitFor()
  await assertAccessible(t, page, 'the conflict')
  t.true(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled())
  t.like(await readKey(id), theirs)
  await notice.getByRole('button', { name: 'Keep mine: Description' }).click()
  await notice.getByRole('button', { name: 'Take theirs: Name' }).click()
  t.is(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'their name')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await saved(page)
  t.like(await readKey(id), { ...theirs, description: 'mine' })
  t.deepEqual(faults, [])
})

test('what the API refuses is listed with a way to each field, and leaving with changes asks', async (t) => {
  const { path } = await makeKey('faulty')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=change` })
  await page.getByRole('textbox', { name: 'Limit' }).fill('5')
  await page.getByRole('textbox', { name: 'Tell at' }).fill('9')
  await page.getByLabel('Alerts to').fill('nobody')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const list = page.getByRole('alert').filter({ hasText: /things? needs? attention/ })
  await list.getByRole('button', { name: 'Alerts to' }).waitFor()
  t.true(await list.evaluate((box) => box === box.ownerDocument.activeElement))
  await assertAccessible(t, page, 'faults')
  await list.getByRole('button', { name: 'Alerts to' }).click()
  t.is(await page.getByLabel('Alerts to').getAttribute('aria-invalid'), 'true')
  t.true(await page.getByLabel('Alerts to').evaluate((field) => field === field.ownerDocument.activeElement))
  await page.getByRole('link', { name: 'Logs' }).click()
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
  await dialog.getByText('2 changes will be lost.').waitFor()
  await assertAccessible(t, page, 'leaving')
  await dialog.getByRole('button', { name: 'Stay' }).click()
  t.is(await page.getByRole('textbox', { name: 'Tell at' }).inputValue(), '9')
  await page.getByRole('link', { name: 'Logs' }).click()
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor()
  t.deepEqual(faults, [])
})

test('a key that is away, forbidden or not to be changed says so', async (t) => {
  const { path } = await makeKey('states')
  const { page, faults } = await bed.open(owner, { path: path.replace(/[^/]+$/, '00000000-0000-4000-8000-000000000000') })
  await page.getByRole('heading', { name: 'There is no key here.' }).waitFor()
  await assertAccessible(t, page, '404')
  for (const [status, code, words] of [
    [403, 'AB03', 'You cannot see this.'],
    [503, 'dependency_unavailable', 'The database does not answer.'],
  ] as const) {
    await page.route('**/v1/api-keys/*', (route) =>
      route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ error: { code, message: 'Not now.' } }) }),
    )
    await page.goto(bed.app.baseUrl + path)
    await page.getByRole('heading', { name: words }).waitFor()
    await page.unroute('**/v1/api-keys/*')
  }
  await page.route('**/auth/me', async (route) => {
    const answer = await route.fetch()
    const text = (await answer.text()).replaceAll(/"workspace_service_api_keys\.(?:update|rotate|delete)",?/g, '')
    await route.fulfill({ response: answer, body: text.replaceAll(',]', ']') })
  })
  await page.goto(`${bed.app.baseUrl}${path}?tab=change`)
  await page.getByText(/Needs workspace_service_api_keys\.update\. Ask an admin of /).waitFor()
  await page.getByRole('tab', { name: 'Rotate or stop' }).click()
  const rotate = page.getByRole('button', { name: 'Rotate' })
  t.is(await rotate.getAttribute('aria-disabled'), 'true')
  await page.getByText(/Needs workspace_service_api_keys\.rotate\./).waitFor()
  await assertAccessible(t, page, 'without rights')
  t.deepEqual(faults, [])
})

test('a key is rotated on its page with a date for the old one, and stopped there', async (t) => {
  const { id, path } = await makeKey('old-ci')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=replace` })
  await page.getByRole('combobox', { name: 'The old key serves for' }).selectOption({ label: '7 days' })
  await page.getByRole('button', { name: 'Rotate' }).click()
  const shown = page.getByRole('dialog', { name: 'Your new key' })
  await shown.getByText(/The old key serves until \d{4}-\d\d-\d\d .* UTC\./).waitFor()
  await page.getByRole('button', { name: 'I have it' }).click()
  await page.getByRole('textbox', { name: 'Type the name to confirm' }).fill('old-ci')
  await page.getByRole('button', { name: 'Stop now' }).click()
  await page.getByText('Stopped. Every process follows within a second.').waitFor()
  await untilCount(page.getByRole('grid', { name: 'API keys' }).getByText('old-ci'), 0)
  t.is((await send(`${bed.app.baseUrl}/v1/api-keys/${id}`, { headers: headers() })).status, 404)
  t.deepEqual(faults, [])
})

test('a new key can have rights chosen one by one, rates, and be of another member', async (t) => {
  await bed.open({ role: 'member', email: 'dan@example.com', places: { 'default-workspace': 'member' } })
  const { page, faults } = await bed.open(owner, { path: '/console/w/default-workspace/keys' })
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('dan-laptop')
  await dialog.getByRole('radio', { name: 'Somebody else' }).check()
  await dialog.getByRole('combobox', { name: 'Person' }).selectOption({ label: 'dan@example.com' })
  await dialog.getByRole('radio', { name: 'Chosen one by one' }).check()
  await dialog.getByRole('textbox', { name: 'Search rights' }).fill('logs.list')
  await dialog.getByRole('treeitem', { name: 'logs.list' }).click()
  await dialog.getByRole('button', { name: 'Add rate' }).click()
  await dialog.getByRole('textbox', { name: 'Rate 1' }).fill('60')
  await assertAccessible(t, page, 'the form')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'I have it' }).click()
  const row = page.getByRole('row').filter({ hasText: 'dan-laptop' })
  await row.getByText('person').waitFor()
  await row.click()
  await page.getByRole('complementary', { name: 'Key' }).getByText('60 requests a minute').waitFor()
  await page.getByRole('complementary', { name: 'Key' }).getByRole('link', { name: 'Change' }).click()
  await page.getByRole('heading', { level: 1, name: 'dan-laptop' }).waitFor()
  await page.getByRole('tree', { name: 'Scopes' }).waitFor()
  t.deepEqual(faults, [])
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`a key says how it is used: its address, and a request for each client that a program can send, in ${colorScheme}`, async (t) => {
    const { path } = await makeKey(`use-${colorScheme}`)
    const { page, faults } = await bed.open(owner, { path: `${path}?tab=use`, colorScheme })
    const text = (await page.getByLabel('A request by curl').textContent()) ?? ''
    const [, base = ''] = /^curl (http\S+)\/v1\/chat\/completions /.exec(text) ?? []
    t.regex(text, /Bearer \$GATEHOUSE_KEY"/)
    await page.getByText(`${base}/v1`, { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'curl' }).focus()
    for (const [client, sign] of [
      ['OpenAI, Python', `base_url="${base}/v1"`],
      ['OpenAI, JavaScript', `baseURL: '${base}/v1'`],
      ['Anthropic, Python', `base_url="${base}"`],
      ['Anthropic, JavaScript', `baseURL: '${base}'`],
    ] as const) {
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Enter')
      t.true(((await page.getByLabel(`A request by ${client}`).textContent()) ?? '').includes(sign), client)
      await assertAccessible(t, page, client)
    }
    t.is(await page.getByText('This key may not call models').count(), 0)
    const { path: other } = await makeKey(`read-${colorScheme}`, { scopes: ['logs.list'] })
    await page.goto(`${bed.app.baseUrl}${other}?tab=use`)
    await page.getByText('This key may not call models: it lacks completions.write.').waitFor()
    t.deepEqual(faults, [])
  })
