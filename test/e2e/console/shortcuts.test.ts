// Single keys of the web console in a real browser: where they lead, where they do nothing, how they are switched off; and the density of tables.
import { assertAccessible, consoleTest as test, startConsole, type ConsoleBed } from '../../support/console.ts'

let bed: ConsoleBed
test.before(async () => {
  bed = await startConsole()
})
test.after.always(() => bed?.stop())

const owner = { role: 'owner' } as const
const keysPath = '/console/w/default-workspace/keys'

test('keys lead to pages, the filter and tabs, do nothing in fields or with Ctrl, and are switched off and on', async (t) => {
  const { page, faults } = await bed.open(owner, { path: keysPath })
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await page.getByRole('grid', { name: 'API keys' }).waitFor()
  await page.keyboard.press('?')
  await list.getByRole('row', { name: /g l Logs/ }).waitFor()
  await assertAccessible(t, page, 'the list of shortcuts')
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.keyboard.type('?gl')
  t.is(await page.getByRole('textbox', { name: 'Filter' }).inputValue(), '?gl')
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('g')
  await page.keyboard.press('l')
  await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor()
  await page.keyboard.press('t')
  t.is(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Time range')
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('Control+g')
  await page.keyboard.press('k')
  t.regex(page.url(), /\/logs/)
  await page.keyboard.press('g')
  await page.keyboard.press('k')
  await page.getByRole('grid', { name: 'API keys' }).getByText('First workspace key').click()
  await page.getByRole('complementary', { name: 'Key' }).waitFor()
  await page.keyboard.press('e')
  await page.getByRole('tab', { name: 'Change', selected: true }).waitFor()
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press(']')
  await page.getByRole('tab', { name: 'Rotate or stop', selected: true }).waitFor()
  await page.keyboard.press('?')
  await list.getByRole('button', { name: 'Switch shortcuts off' }).click()
  await list.waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('l')
  await page.keyboard.press('?')
  t.is(await list.count(), 0)
  t.regex(page.url(), /\/keys\//)
  await page.goto(`${bed.app.baseUrl}/console/me`)
  const onOff = page.getByRole('switch', { name: 'Keyboard shortcuts' })
  t.false(await onOff.isChecked())
  await onOff.check()
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('?')
  await list.waitFor()
  t.deepEqual(faults, [])
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`rows are as high as a person chooses, also after a reload, in ${colorScheme}`, async (t) => {
    const { page, faults } = await bed.open(owner, { path: '/console/me', colorScheme })
    await page.getByRole('table', { name: 'Sessions' }).getByText('now, here').waitFor()
    await assertAccessible(t, page, 'me')
    const heights: number[] = []
    for (const density of ['Compact', 'Comfortable']) {
      await page.goto(`${bed.app.baseUrl}/console/me`)
      await page.getByRole('combobox', { name: 'Rows of tables' }).selectOption({ label: density })
      await page.goto(bed.app.baseUrl + keysPath)
      const row = page.getByRole('row').filter({ hasText: 'First workspace key' })
      heights.push((await row.boundingBox())?.height ?? 0)
    }
    t.deepEqual(heights, [32, 40])
    t.deepEqual(faults, [])
  })
