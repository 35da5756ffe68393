// Saved views and exports of the list of logs in a real browser.
import { readFileSync } from 'node:fs'
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

for (const colorScheme of ['light', 'dark'] as const)
  test(`a view keeps the filter and the columns for the workspace, is replaced and deleted, by keys, in ${colorScheme}`, async (t) => {
    const name = `Models <b>${colorScheme}</b>`
    const { page, faults } = await bed.open(owner, { path: `${logsPath}?q=model:model-b&cols=model,status`, colorScheme })
    await page.getByText('2 rows', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Saved views' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Saved views' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
    await dialog.getByRole('combobox', { name: 'Seen by' }).selectOption({ label: 'The workspace' })
    await dialog.getByRole('button', { name: 'Save view' }).press('Enter')
    await dialog.getByRole('button', { name, exact: true }).waitFor()
    await assertAccessible(t, page, 'the views')
    const { page: other, faults: otherFaults } = await bed.open(owner, { path: `${logsPath}?t=1h`, colorScheme })
    await other.getByText('3 rows', { exact: true }).waitFor()
    await other.getByRole('button', { name: 'Saved views' }).press('Enter')
    await other.getByRole('button', { name, exact: true }).press('Enter')
    await other.getByText('2 rows', { exact: true }).waitFor()
    const { searchParams } = new URL(other.url())
    t.deepEqual(Object.fromEntries(searchParams), { t: '1h', q: 'model:model-b', cols: 'model,status' })
    await page.keyboard.press('Escape')
    await page.getByRole('textbox', { name: 'Filter' }).fill('model:model-a')
    await page.keyboard.press('Enter')
    await page.getByText('1 row', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Saved views' }).press('Enter')
    await dialog.getByRole('button', { name: `Replace ${name}` }).press('Enter')
    await dialog.getByText('It has what is seen now.').waitFor()
    await other.reload()
    await other.getByRole('button', { name: 'Saved views' }).press('Enter')
    await other.getByRole('button', { name, exact: true }).press('Enter')
    await other.getByText('1 row', { exact: true }).waitFor()
    await dialog.getByRole('button', { name: `Delete ${name}`, exact: true }).press('Enter')
    await dialog.getByRole('button', { name: `Delete ${name} for good` }).press('Enter')
    await dialog.getByRole('button', { name, exact: true }).waitFor({ state: 'detached' })
    t.deepEqual([...faults, ...otherFaults], [])
  })

test('a view of one person alone is not there for another', async (t) => {
  const { page } = await bed.open(owner, { path: logsPath })
  await page.getByRole('button', { name: 'Saved views' }).click()
  const dialog = page.getByRole('dialog', { name: 'Saved views' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Only mine')
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await dialog.getByText('Mine, seen by me alone').waitFor()
  const { page: other } = await bed.open(owner, { path: logsPath })
  await other.getByRole('button', { name: 'Saved views' }).click()
  await other.getByRole('form', { name: 'Save a view' }).waitFor()
  await other
    .getByText('No views yet.')
    .or(other.getByRole('list', { name: 'Saved views' }))
    .first()
    .waitFor()
  t.is(await other.getByRole('button', { name: 'Only mine', exact: true }).count(), 0)
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`an export has the rows of the filter, with a file from this origin, in ${colorScheme}`, async (t) => {
    const { page, faults } = await bed.open(owner, { path: `${logsPath}?q=model:model-b`, colorScheme })
    await page.getByText('2 rows', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Export' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Export' })
    await dialog.getByText('Rows').waitFor()
    await assertAccessible(t, page, 'the draft')
    await dialog.getByRole('button', { name: 'Start export' }).press('Enter')
    await dialog.getByText('The file is ready.').waitFor()
    await assertAccessible(t, page, 'the file')
    const coming = page.waitForEvent('download')
    await dialog.getByRole('link', { name: 'Download' }).press('Enter')
    const lines = readFileSync(await (await coming).path(), 'utf8')
      .trim()
      .split(/\r?\n/)
    t.is(lines.length, 3)
    t.true(lines.slice(1).every((line) => line.includes('model-b')))
    t.deepEqual(faults, [])
  })

test('an export that cannot be estimated says why, and that words in bodies do not apply to it', async (t) => {
  const { page, faults } = await bed.open(owner, { path: `${logsPath}?q="some words"` })
  await page.route('**/v1/logs/exports/estimate', (route) =>
    route.fulfill({ status: 500, contentType: 'application/json', body: '{"error":{"code":"AB99","message":"It <i>broke</i>."}}' }),
  )
  await page.getByRole('button', { name: 'Export' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export' })
  await dialog.getByText('It <i>broke</i>.').waitFor()
  await dialog.getByText('Words in bodies are no filter of exports').waitFor()
  t.true(await dialog.getByRole('button', { name: 'Start export' }).isDisabled())
  await page.unroute('**/v1/logs/exports/estimate')
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await dialog.getByText('Rows').waitFor()
  t.deepEqual(faults, [])
})
