// The table of logs in a real browser: its columns, their order and widths, and the menu of a cell.
import type { Page } from 'playwright-core'
import { assertAccessible, consoleTest as test, startConsole, type ConsoleBed } from '../../support/console.ts'
import { eventually } from '../../support/eventually.ts'
import { sendJson } from '../../support/http.ts'

let bed: ConsoleBed
const owner = { role: 'owner' } as const
const logsPath = '/console/w/default-workspace/logs'
const models = ['model-a', 'model-b', 'model-b'] as const

test.before(async () => {
  bed = await startConsole()
  const { app } = bed
  const headers = { 'x-service-api-key': app.workspaceKey }
  const logs = models.map((model) => ({
    request: { url: 'https://api.example/v1/x', provider: 'openai', body: { model } },
    response: { body: { id: 'x' } },
    metadata: { team: 'search <b>x</b>' },
  }))
  const stored = await sendJson(`${app.baseUrl}/v1/logs`, headers, logs)
  if (stored.status !== 200) throw new Error(stored.text)
  await eventually(
    async () => {
      const answer = await fetch(`${app.baseUrl}/v1/logs`, { headers })
      return ((await answer.json()) as { data: unknown[] }).data.length === models.length
    },
    20_000,
    'the logs',
  )
})
test.after.always(() => bed?.stop())

const heads = async (page: Page): Promise<readonly string[]> => page.getByRole('columnheader').allTextContents()
const untilHeads = (page: Page, ...words: readonly string[]) =>
  eventually(async () => (await heads(page)).join() === words.join(), 20_000, `the heads ${words.join()}`)
const rowsOf = (page: Page, count: number) => page.getByText(count === 1 ? '1 row' : `${count} rows`, { exact: true }).waitFor()
const fieldOf = (page: Page, name: string) => new URL(page.url()).searchParams.get(name)

for (const colorScheme of ['light', 'dark'] as const)
  test(`columns are chosen, moved and widened by keys, and stay in this browser and in the address, in ${colorScheme}`, async (t) => {
    const { page, context, faults } = await bed.open(owner, { path: `${logsPath}?cols=status,model,cost,unknown`, colorScheme })
    await untilHeads(page, 'Status', 'Model', 'Cost')
    await page.getByRole('button', { name: 'Columns' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Columns' })
    await dialog.getByRole('checkbox', { name: 'Cost' }).press('Space')
    await dialog.getByRole('checkbox', { name: 'Operation' }).press('Space')
    await dialog.getByRole('button', { name: 'Move Operation forward' }).press('Enter')
    await dialog.getByRole('textbox', { name: 'A key of metadata' }).fill('team')
    await page.keyboard.press('Enter')
    await dialog.getByRole('spinbutton', { name: 'Width of Model' }).fill('240')
    await assertAccessible(t, page, 'the choice of columns')
    await page.keyboard.press('Escape')
    await untilHeads(page, 'Status', 'Operation', 'Model', 'metadata.team')
    await page.getByRole('gridcell', { name: 'search <b>x</b>' }).first().waitFor()
    t.is(fieldOf(page, 'cols'), 'status,operation,model,metadata.team')
    t.is((await page.getByRole('columnheader', { name: 'Model' }).boundingBox())?.width, 240)
    const again = await context.newPage()
    await again.goto(bed.app.baseUrl + logsPath)
    await untilHeads(again, 'Status', 'Operation', 'Model', 'metadata.team')
    await again.waitForURL((url) => url.searchParams.get('cols') === 'status,operation,model,metadata.team')
    t.is((await again.getByRole('columnheader', { name: 'Model' }).boundingBox())?.width, 240)
    await again.getByRole('button', { name: 'Columns' }).click()
    await again.getByRole('button', { name: 'Usual columns' }).click()
    await again.getByRole('columnheader', { name: 'Time taken' }).waitFor()
    await again.waitForURL((url) => !url.searchParams.has('cols'))
    t.deepEqual(faults, [])
  })

test('the edge of a column follows the pointer', async (t) => {
  const { page, faults } = await bed.open(owner, { path: `${logsPath}?cols=status,model` })
  const head = page.getByRole('columnheader', { name: 'Status' })
  // What comes above and beside the table moves it.
  await page.getByRole('img', { name: 'Requests over time' }).waitFor()
  await page.getByRole('complementary', { name: 'Facets' }).getByRole('region', { name: 'Status' }).waitFor()
  await head.locator('.edge').hover()
  const [box, edge] = [await head.boundingBox(), await head.locator('.edge').boundingBox()]
  if (box === null || edge === null) throw new Error('the head has no place')
  const [x, y] = [edge.x + edge.width / 2, edge.y + edge.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 50, y, { steps: 3 })
  await page.mouse.up()
  await eventually(async () => (await head.boundingBox())?.width === box.width + 50, 20_000, 'a wider column')
  t.deepEqual(faults, [])
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the menu of a cell filters for its value, leaves it out and copies it, in ${colorScheme}`, async (t) => {
    const { page, context, faults } = await bed.open(owner, { path: `${logsPath}?cols=model,cost`, colorScheme })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('gridcell', { name: 'model-a' }).focus()
    await page.keyboard.press('Shift+F10')
    const menu = page.getByRole('menu')
    await menu.getByRole('menuitem', { name: 'Filter for this' }).waitFor()
    await assertAccessible(t, page, 'the menu')
    await menu.getByRole('menuitem', { name: 'Filter out' }).press('Enter')
    await rowsOf(page, 2)
    t.is(fieldOf(page, 'q'), '-model:model-a')
    await page.getByRole('gridcell', { name: 'model-b' }).first().click({ button: 'right' })
    await menu.getByRole('menuitem', { name: 'Copy' }).click()
    await eventually(async () => (await page.evaluate('navigator.clipboard.readText()')) === 'model-b', 20_000, 'a copied text')
    await page.getByRole('gridcell', { name: '–' }).first().click({ button: 'right' })
    await menu.getByRole('menuitem', { name: 'Filter for this', disabled: true }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    t.is(await page.evaluate('document.activeElement.getAttribute("role")'), 'gridcell')
    await page.goto(`${bed.app.baseUrl}${logsPath}?cols=model,cost`)
    await page.getByRole('gridcell', { name: 'model-a' }).focus()
    await page.keyboard.press('f')
    await rowsOf(page, 1)
    t.is(fieldOf(page, 'q'), 'model:model-a')
    t.deepEqual(faults, [])
  })
