// One account at a provider as a page of the web console in a real browser: its credential, models, prices, workspaces, users, and its end.
import { assertAccessible, consoleTest as test, keptBy, startConsole, untilCount, type ConsoleBed } from '../../support/console.ts'
import { send, sendJson } from '../../support/http.ts'

let bed: ConsoleBed
test.before(async () => {
  bed = await startConsole()
})
test.after.always(() => bed?.stop())

const owner = { role: 'owner' } as const
const first = 'sk-canary-long-enough-a81f5509'
const second = 'sk-canary-long-enough-77c0de42'
const headers = () => ({ 'x-service-api-key': bed.app.adminKey })

/** Stores an account, and returns the address of its page. */
async function makeAccount(slug: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { app, emulator } = bed
  const { status, text } = await sendJson(`${app.baseUrl}/v1/integrations`, headers(), {
    name: `Account ${slug}`,
    slug,
    ai_provider_id: 'openai',
    key: first,
    configurations: { custom_host: emulator.url },
    ...fields,
  })
  if (status !== 200) throw new Error(text)
  return `/console/org/integrations/${slug}`
}

async function read(path: string): Promise<Record<string, unknown>> {
  return JSON.parse((await send(`${bed.app.baseUrl}/v1${path}`, { headers: headers() })).text) as Record<string, unknown>
}

test('a credential is replaced, tested before it is stored and after, and shown nowhere', async (t) => {
  const path = await makeAccount('rotated')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=credential` })
  await page.getByText(/API key: stored, ends in 5509/).waitFor()
  await page.getByRole('button', { name: 'Replace API key' }).click()
  await page.getByLabel('API key', { exact: true }).fill(second)
  await page.getByLabel('Description').fill('for the <i>web</i>')
  await page.getByRole('button', { name: 'Add to tags' }).click()
  await page.getByRole('textbox', { name: 'Name 1' }).fill('env')
  await page.getByRole('textbox', { name: 'Value 1' }).fill('prod')
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('It works.').waitFor()
  await assertAccessible(t, page, 'the form')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. Every process follows within a second.').waitFor()
  await page.getByText(/API key: stored, ends in de42/).waitFor()
  t.like(await read('/integrations/rotated'), {
    description: 'for the <i>web</i>',
    tags: { env: 'prod' },
    configurations: { custom_host: bed.emulator.url },
  })
  for (const secret of [first, second]) t.false((await keptBy(page)).includes(secret))
  await page.getByRole('tab', { name: 'Overview' }).click()
  await page.getByText('env=prod').waitFor()
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('It works.').waitFor()
  t.deepEqual(faults, [])
})

test('a change of another admin is not overwritten by one of the credential', async (t) => {
  const path = await makeAccount('shared')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=credential` })
  await page.getByLabel('Description').fill('mine')
  const body = JSON.stringify({ description: 'theirs', name: 'Renamed' })
  const request = { method: 'PUT', headers: { ...headers(), 'content-type': 'application/json' }, body }
  t.is((await send(`${bed.app.baseUrl}/v1/integrations/shared`, request)).status, 200)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const notice = page.getByRole('alert', { name: 'Changed by somebody else' })
  await notice.getByText('Now also changed here: Name.').waitFor()
  await notice.getByRole('button', { name: 'Keep mine: Description' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. Every process follows within a second.').waitFor()
  t.like(await read('/integrations/shared'), { description: 'mine', name: 'Renamed' })
  t.deepEqual(faults, [])
})

test('models are added, priced, switched by a pattern and forgotten, and a price is explained', async (t) => {
  const path = await makeAccount('modelled')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=models` })
  await page.getByRole('heading', { name: 'No model has settings here.' }).waitFor()
  for (const slug of ['gpt-4o', 'gpt-4o-mini', 'o3']) {
    await page.getByRole('textbox', { name: 'Model or pattern' }).fill(slug)
    await page.keyboard.press('Enter')
  }
  await page.getByRole('textbox', { name: 'Input price of o3' }).fill('2.5')
  await page.getByRole('textbox', { name: 'Model or pattern' }).fill('gpt-4*')
  await page.getByRole('button', { name: 'Disable matching' }).click()
  t.false(await page.getByRole('checkbox', { name: 'Enable gpt-4o-mini' }).isChecked())
  await page.getByRole('switch', { name: /models that are not listed here/ }).uncheck()
  await page.getByText('4 changes').waitFor()
  await assertAccessible(t, page, 'models')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. Every process follows within a second.').waitFor()
  const stored = (await read('/integrations/modelled/models')) as {
    models: { slug: string; enabled: boolean }[]
    allow_all_models: boolean
  }
  t.false(stored.allow_all_models)
  t.deepEqual(
    stored.models.map(({ slug, enabled }) => [slug, enabled]),
    [
      ['gpt-4o', false],
      ['gpt-4o-mini', false],
      ['o3', true],
    ],
  )
  t.like(stored.models[2], { pricing_config: { pay_as_you_go: { request_token: { price: 2.5 } } } })
  await page.getByRole('button', { name: 'Explain price of gpt-4o', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Price of gpt-4o' })
  await dialog.getByRole('row', { name: /request token \$2\.50 a million/ }).waitFor()
  await dialog.getByText('the catalogue of this release').waitFor()
  await assertAccessible(t, page, 'a price')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Forget gpt-4o-mini' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await untilCount(page.getByRole('grid', { name: 'Models' }).getByRole('row'), 3)
  await page.getByText('Saved. Every process follows within a second.').waitFor()
  t.is(((await read('/integrations/modelled/models'))['models'] as unknown[]).length, 2)
  t.deepEqual(faults, [])
})

test('workspaces get access with limits, and those that would lose it are named before', async (t) => {
  const path = await makeAccount('shared-out')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=workspaces` })
  const access = page.getByRole('checkbox', { name: 'Access of default-workspace' })
  t.true(await access.isChecked())
  await page.getByRole('button', { name: 'Limits of default-workspace' }).click()
  const dialog = page.getByRole('dialog', { name: /^Limits of / })
  await dialog.getByRole('textbox', { name: 'Limit', exact: true }).fill('40')
  await dialog.getByRole('button', { name: 'Add rate' }).click()
  await dialog.getByRole('textbox', { name: 'Rate 1' }).fill('30')
  t.true(await dialog.getByRole('button', { name: 'Add rate' }).isDisabled())
  await assertAccessible(t, page, 'limits')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('grid', { name: 'Workspaces' }).getByText('40 US dollars, 30 requests a minute').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. Every process follows within a second.').waitFor()
  const grants = (await read('/integrations/shared-out/workspaces')) as { workspaces: Record<string, unknown>[] }
  t.like(grants.workspaces[0], { usage_limits: [{ credit_limit: 40 }], rate_limits: [{ type: 'requests', unit: 'rpm', value: 30 }] })
  await access.uncheck()
  await page.getByText(/Lose access within a second: /).waitFor()
  await assertAccessible(t, page, 'workspaces')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. Every process follows within a second.').waitFor()
  t.is(((await read('/integrations/shared-out/workspaces'))['workspaces'] as { enabled: boolean }[])[0]?.enabled, false)
  t.deepEqual(faults, [])
})

test('an account names its users, is deleted by its name, and is then not there', async (t) => {
  const path = await makeAccount('ended')
  const { page, faults } = await bed.open(owner, { path: `${path}?tab=users` })
  await page.getByRole('table', { name: 'Used by' }).getByText('provider', { exact: true }).waitFor()
  await assertAccessible(t, page, 'users')
  t.true(await page.getByRole('button', { name: 'Delete' }).isDisabled())
  await page.getByRole('textbox', { name: 'Type the name to confirm' }).fill('Account ended')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor()
  await untilCount(page.getByText('Account ended'), 0)
  await page.goto(bed.app.baseUrl + path)
  await page.getByRole('heading', { name: 'There is no integration here.' }).waitFor()
  t.deepEqual(faults, [])
})

test('who may only read sees the same without its buttons, and a failed tab says why', async (t) => {
  const path = await makeAccount('watched')
  const { page, faults } = await bed.open(owner, { path: '/console/me' })
  await page.route('**/auth/me', async (route) => {
    const answer = await route.fetch()
    const text = (await answer.text()).replaceAll(/"(?:organisation|workspace)_integrations\.(?:update|delete)",?/g, '')
    await route.fulfill({ response: answer, body: text.replaceAll(',]', ']') })
  })
  for (const [tab, right] of [
    ['overview', 'update'],
    ['credential', 'update'],
    ['models', 'update'],
    ['workspaces', 'update'],
    ['users', 'delete'],
  ] as const) {
    await page.goto(`${bed.app.baseUrl}${path}?tab=${tab}`)
    await page.getByText(new RegExp(`Needs organisation_integrations\\.${right}\\.`)).waitFor()
    t.is(await page.getByRole('button', { name: 'Save', exact: true }).count(), 0, tab)
    await assertAccessible(t, page, tab)
  }
  await page.route('**/v1/integrations/watched/models*', (route) =>
    route.fulfill({ status: 403, contentType: 'application/json', body: '{"error":{"code":"AB03","message":"Not <b>you</b>."}}' }),
  )
  await page.goto(`${bed.app.baseUrl}${path}?tab=models`)
  await page.getByText('Not <b>you</b>.').waitFor()
  t.deepEqual(faults, [])
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`each tab of an account breaks no rule of accessibility in ${colorScheme}`, async (t) => {
    const path = await makeAccount(`looks-${colorScheme}`)
    const { page, faults } = await bed.open(owner, { path, colorScheme })
    for (const tab of ['Overview', 'Credential', 'Models', 'Workspaces', 'Used by']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('tabpanel').getByRole('button').first().waitFor()
      await assertAccessible(t, page, tab)
    }
    t.deepEqual(faults, [])
  })
