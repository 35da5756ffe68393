// API keys, providers and integrations of the web console in a real browser: making, testing, rotating and stopping them.
import { assertAccessible, consoleTest as test, keptBy, startConsole, untilCount, type ConsoleBed } from '../../support/console.ts'

let bed: ConsoleBed
test.before(async () => {
  bed = await startConsole()
})
test.after.always(() => bed?.stop())

const owner = { role: 'owner' } as const
const member = { role: 'member', places: { 'default-workspace': 'member' } } as const
const keysPath = '/console/w/default-workspace/keys'
const canary = 'sk-canary-51d0c8f2a9e7'

async function statusWith(key: string): Promise<number> {
  const answer = await fetch(`${bed.app.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  return answer.status
}

test('a key is made in at most 7 clicks, shown once, is in the list at once, is rotated and stopped', async (t) => {
  const { page, faults } = await bed.open(owner, { path: keysPath })
  let clicks = 0
  const press = async (name: string) => {
    clicks += 1
    await page.getByRole('button', { name, exact: true }).click()
  }
  await press('Create key')
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('web <b>prod</b>')
  await dialog.getByRole('textbox', { name: 'Limit' }).fill('12.5')
  await assertAccessible(t, page, 'the form')
  clicks += 1
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const shown = page.getByRole('dialog', { name: 'Your new key' })
  const secret = await shown.getByRole('textbox', { name: 'Your key' }).inputValue()
  t.regex(secret, /^gh-\w{40,}$/)
  t.is(await statusWith(secret), 200)
  await assertAccessible(t, page, 'the new key')
  await press('I have it')
  t.true(clicks <= 7)
  await shown.waitFor({ state: 'detached' })
  t.false((await keptBy(page)).includes(secret))
  const grid = page.getByRole('grid', { name: 'API keys' })
  await grid.getByText('web <b>prod</b>').click()
  await grid.getByText('$0.00 of $12.50').waitFor()
  await press('Rotate')
  const next = await page.getByRole('dialog', { name: 'Your new key' }).getByRole('textbox', { name: 'Your key' }).inputValue()
  t.not(next, secret)
  t.deepEqual([await statusWith(secret), await statusWith(next)], [200, 200])
  await press('I have it')
  const stop = page.getByRole('button', { name: 'Stop now' })
  t.true(await stop.isDisabled())
  await page.getByRole('textbox', { name: 'Type the name to confirm' }).fill('web <b>prod</b>')
  await assertAccessible(t, page, 'a key')
  await stop.click()
  await untilCount(grid.getByText('web <b>prod</b>'), 0)
  t.is(await statusWith(next), 401)
  t.deepEqual(faults, [])
})

test('the button to make a key is there for those who may see keys, and works for those who may make them', async (t) => {
  for (const [person, mayCreate] of [
    [owner, true],
    [{ role: 'member', places: { 'default-workspace': 'manager' } }, true],
  ] as const) {
    const { page } = await bed.open(person, { path: keysPath })
    t.is(await page.getByRole('button', { name: 'Create key' }).isEnabled(), mayCreate, person.role)
  }
  const { page, context } = await bed.open(member, { path: keysPath })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const me = (await (await context.request.get(`${bed.app.baseUrl}/auth/me`)).json()) as { workspaces: { scopes: string[] }[] }
  const scopes = me.workspaces[0]?.scopes ?? []
  const sees = scopes.some((scope) => /^workspace_(?:service|user)_api_keys\.list$/.test(scope))
  t.is(await page.getByRole('heading', { name: 'You cannot see this.' }).count(), sees ? 0 : 1)
  if (!sees) return
  const makes = scopes.some((scope) => /^workspace_(?:service|user)_api_keys\.create$/.test(scope))
  t.is(await page.getByRole('button', { name: 'Create key' }).isEnabled(), makes)
  t.is(await page.getByText('you need a right').count(), makes ? 0 : 1)
})

test('an account is tested before it is stored, each failed step says why, and its credential is nowhere afterwards', async (t) => {
  const { page, faults } = await bed.open(owner, { path: '/console/org/integrations' })
  await page.getByRole('heading', { name: 'No integrations yet.' }).waitFor()
  await page.getByRole('button', { name: 'Add integration' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add integration' })
  await dialog.getByLabel('Name (optional)').fill('Scripted')
  await dialog.getByLabel('API key', { exact: true }).fill(canary)
  await dialog.getByText('More fields').click()
  await dialog.getByLabel('Custom host').fill('http://127.0.0.1:1/v1')
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  await dialog.getByText('It does not work yet.').waitFor()
  await dialog.getByText(/must not use port 1/).waitFor()
  await assertAccessible(t, page, 'a failed test')
  await dialog.getByLabel('Custom host').fill(bed.emulator.url)
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  await dialog.getByText('It works.').waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  const grid = page.getByRole('grid', { name: 'Integrations' })
  await grid.getByText('Scripted').first().waitFor()
  await page.getByRole('complementary', { name: 'Integration' }).getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('It works.').waitFor()
  await assertAccessible(t, page, 'an integration')
  t.false((await keptBy(page)).includes(canary))
  t.deepEqual(faults, [])
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`keys, providers and integrations break no rule of accessibility in ${colorScheme}`, async (t) => {
    const { page, faults } = await bed.open(owner, { path: keysPath, colorScheme })
    await page.getByRole('grid', { name: 'API keys' }).getByText('First workspace key').waitFor()
    await assertAccessible(t, page, 'keys')
    for (const [path, heading] of [
      ['/console/w/default-workspace/providers', 'Providers'],
      ['/console/org/keys', 'Organisation keys'],
    ] as const) {
      await page.goto(bed.app.baseUrl + path)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await assertAccessible(t, page, heading)
    }
    t.deepEqual(faults, [])
  })
