// The list of logs and one log of the web console in a real browser: filters, live rows, and contents from outside that stay text.
import { assertAccessible, consoleTest as test, keptBy, startConsole, untilCount, type ConsoleBed } from '../../support/console.ts'
import { eventually } from '../../support/eventually.ts'
import { sendJson } from '../../support/http.ts'

let bed: ConsoleBed
const owner = { role: 'owner' } as const
const logsPath = '/console/w/default-workspace/logs'
const hostile =
  'say <img src=x onerror="window.stolen=1"><script>window.stolen=1</script> \u202Egnp.exe \u001B[31mred ![](https://evil.example/x.png)'
const credential = 'sk-canary-7f3a9c1e5b8d2046'

test.before(async () => {
  bed = await startConsole()
  const { app, emulator } = bed
  const stored = await sendJson(
    `${app.baseUrl}/v1/integrations`,
    { 'x-service-api-key': app.adminKey },
    {
      name: 'Scripted <b>provider</b>',
      slug: 'scripted',
      ai_provider_id: 'openai',
      key: credential,
      default_provider_slug: 'scripted',
      configurations: { custom_host: emulator.url },
    },
  )
  if (stored.status !== 200) throw new Error(stored.text)
  await ask('first words')
  await ask(hostile, { team: '<i>search</i>' })
  emulator.script({
    times: 1,
    behaviour: { status: 400, body: '{"error":{"message":"<b>no</b> such thing","type":"invalid_request_error"}}' },
  })
  await ask('refused words')
  await eventually(async () => (await logged()) === 3, 15_000, 'three logs')
})
test.after.always(() => bed?.stop())

async function ask(content: string, metadata: Readonly<Record<string, string>> = {}): Promise<void> {
  const { app } = bed
  const headers = { authorization: `Bearer ${app.workspaceKey}`, 'x-service-metadata': JSON.stringify(metadata) }
  await sendJson(`${app.baseUrl}/v1/chat/completions`, headers, { model: '@scripted/gpt-4o-mini', messages: [{ role: 'user', content }] })
}

async function logged(): Promise<number> {
  const answer = await fetch(`${bed.app.baseUrl}/v1/logs`, { headers: { 'x-service-api-key': bed.app.workspaceKey } })
  return ((await answer.json()) as { data: unknown[] }).data.length
}

test('a failed request is found by its filter, opened, and stays open after a reload; nothing leaves the list', async (t) => {
  const { page, faults } = await bed.open(owner, { path: logsPath })
  const grid = page.getByRole('grid', { name: 'Logs' })
  await grid.getByRole('row').nth(3).waitFor()
  t.is(await grid.getByRole('row').count(), 4)
  await page.getByRole('textbox', { name: 'Filter' }).fill('status:400')
  await page.keyboard.press('Enter')
  await untilCount(grid.getByRole('row'), 2)
  t.is(new URL(page.url()).searchParams.get('q'), 'status:400')
  await grid.getByText('400 Refused by the provider').click()
  const panel = page.getByRole('complementary', { name: 'Log' })
  await panel.getByRole('tab', { name: 'Attempts' }).click()
  await panel.getByRole('table', { name: 'Attempts' }).getByText('@scripted').waitFor()
  await page.reload()
  await panel.getByRole('table', { name: 'Attempts' }).getByText('@scripted').waitFor()
  await untilCount(grid.getByRole('row'), 2)
  await page.getByRole('textbox', { name: 'Filter' }).fill('colour:red status:400')
  await page.keyboard.press('Enter')
  await page.getByText('There is no field colour').waitFor()
  t.deepEqual(faults, [])
})

test('texts from outside stay texts, and no credential comes into the page, its storage or its address', async (t) => {
  const { page, faults } = await bed.open(owner, { path: logsPath })
  await page.getByRole('grid', { name: 'Logs' }).getByText('200 OK').first().click()
  const panel = page.getByRole('complementary', { name: 'Log' })
  for (const tab of ['Summary', 'Conversation', 'Request', 'Response', 'Attempts', 'Why', 'Cost', 'Guardrails', 'Trace']) {
    await panel.getByRole('tab', { name: tab }).click()
    await panel.getByRole('tabpanel').waitFor()
    if (tab === 'Conversation') await panel.getByText('\\u202egnp.exe').first().waitFor()
    if (tab === 'Request') await panel.getByText('<script>window.stolen=1</script>').waitFor()
    const kept = await keptBy(page)
    t.false(kept.includes(credential), tab)
    for (const sign of ['\u202E', '\u001B']) t.false(kept.includes(sign), tab)
  }
  t.is(await page.evaluate("'stolen' in window"), false)
  t.is(await page.locator('main img, main script, main iframe').count(), 0)
  t.deepEqual(faults, [])
})

test('new requests come by themselves, and wait behind a button while the list is read', async (t) => {
  const { page, faults } = await bed.open(owner, { path: `${logsPath}?live=1&q=status:200` })
  await page.getByText('Listening for requests…').waitFor()
  const grid = page.getByRole('grid', { name: 'Logs' })
  await grid.getByText('200 OK').first().waitFor()
  const before = await grid.getByRole('row').count()
  await ask('live words')
  await untilCount(grid.getByRole('row'), before + 1)
  await grid.getByText('200 OK').first().hover()
  await ask('more live words')
  const waiting = page.getByRole('button', { name: '1 new row' })
  await waiting.waitFor()
  t.is(await grid.getByRole('row').count(), before + 1)
  // The pointer stays in the list: the rows come by themselves when it leaves.
  await waiting.press('Enter')
  await untilCount(grid.getByRole('row'), before + 2)
  await page
    .getByRole('status')
    .getByText(/^\d new requests?$/)
    .waitFor({ state: 'attached' })
  t.deepEqual(faults, [])
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`logs and a log break no rule of accessibility in ${colorScheme}, and work by keyboard alone`, async (t) => {
    const { page, faults } = await bed.open(owner, { path: logsPath, colorScheme })
    await page.getByRole('grid', { name: 'Logs' }).getByText('200 OK').first().waitFor()
    await assertAccessible(t, page, 'the list')
    await page.getByRole('gridcell').first().focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'Log' })
    await panel.getByRole('tab', { name: 'Summary' }).waitFor()
    await assertAccessible(t, page, 'the summary')
    await panel.getByRole('tab', { name: 'Summary' }).focus()
    for (const tab of ['Conversation', 'Request', 'Response', 'Attempts', 'Why', 'Cost', 'Guardrails', 'Trace']) {
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Enter')
      await panel.getByRole('tabpanel', { name: tab }).waitFor()
      await assertAccessible(t, page, tab)
    }
    t.deepEqual(faults, [])
  })
