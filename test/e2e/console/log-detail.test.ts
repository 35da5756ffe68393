// One log in a real browser: why it went where it did, its guardrails and its trace, and the states in which a part cannot be shown.
import type { Page } from 'playwright-core'
import { assertAccessible, consoleTest as test, startConsole, untilCount, type ConsoleBed } from '../../support/console.ts'
import { eventually } from '../../support/eventually.ts'
import { sendJson } from '../../support/http.ts'

let bed: ConsoleBed
const owner = { role: 'owner' } as const
const logsPath = '/console/w/default-workspace/logs'
const trace = 'trace <b>one</b>'
/** The ids of the logs. */
const logs = { fallen: '', refused: '', warned: '', plan: '', step: '', bare: '' }

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
      key: 'sk-canary-log-detail',
      default_provider_slug: 'scripted',
      configurations: { custom_host: emulator.url },
    },
  )
  if (stored.status !== 200) throw new Error(stored.text)
  emulator.script({ times: 1, behaviour: { status: 500, body: '{"error":{"message":"<i>broken</i> for a while"}}' } })
  const target = { provider: '@scripted', override_params: { model: 'gpt-4o-mini' } }
  logs.fallen = await ask({ config: { strategy: { mode: 'fallback' }, targets: [target, target] } })
  const guardrail = (deny: boolean) => ({
    ...target,
    input_guardrails: [{ 'default.contains': { words: ['secret'], operator: 'none' }, deny }],
  })
  logs.refused = await ask({ config: guardrail(true), content: 'a secret' })
  logs.warned = await ask({ config: guardrail(false), content: 'a secret' })
  logs.plan = await ask({ config: target, headers: ofTrace('plan') })
  logs.step = await ask({ config: target, headers: ofTrace('step', 'plan') })
  logs.bare = await ask({ config: target, headers: { 'x-service-debug': 'false' } })
  await eventually(async () => (await logged()) === Object.keys(logs).length, 20_000, 'the logs')
})
test.after.always(() => bed?.stop())

/** The headers that give a request its place in the trace. */
const ofTrace = (span: string, parent?: string): Readonly<Record<string, string>> => ({
  'x-service-trace-id': trace,
  'x-service-span-id': span,
  'x-service-span-name': `span ${span}`,
  ...(parent !== undefined && { 'x-service-parent-span-id': parent }),
})

interface Asked {
  readonly config: Readonly<Record<string, unknown>>
  readonly content?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request, and returns the id of its log. */
async function ask({ config, content = 'hi', headers = {} }: Asked): Promise<string> {
  const { app } = bed
  const { headers: answered } = await sendJson(
    `${app.baseUrl}/v1/chat/completions`,
    { authorization: `Bearer ${app.workspaceKey}`, 'x-service-config': JSON.stringify(config), ...headers },
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
  )
  return String(answered['x-service-request-id'])
}

async function logged(): Promise<number> {
  const answer = await fetch(`${bed.app.baseUrl}/v1/logs`, { headers: { 'x-service-api-key': bed.app.workspaceKey } })
  return ((await answer.json()) as { data: unknown[] }).data.length
}

const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Log' })

for (const colorScheme of ['light', 'dark'] as const)
  test(`a log says why in sentences: attempts that failed, and guardrails that refused, in ${colorScheme}`, async (t) => {
    const { page, faults } = await bed.open(owner, { path: `${logsPath}?log=${logs.fallen}&tab=why`, colorScheme })
    const why = panelOf(page).getByRole('list', { name: 'Why' })
    await why.getByText(/^Attempt 1 at @scripted.* ended with 500 after .*broken.*The next attempt followed\.$/).waitFor()
    await why.getByText(/^Attempt 2 at @scripted.* ended with 200/).waitFor()
    await why.getByText('The answer went out with 200.').waitFor()
    await why.getByText('The key "First workspace key" asked for chatComplete of gpt-4o-mini.').waitFor()
    await assertAccessible(t, page, 'why')
    await page.goto(`${bed.app.baseUrl}${logsPath}?log=${logs.refused}&tab=why`)
    await why.getByText(/^The guardrail ".*" failed before the call, and refused it\.$/).waitFor()
    await why.getByText('No provider was reached.').waitFor()
    await panelOf(page).getByRole('tab', { name: 'Why' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    const before = panelOf(page).getByRole('region', { name: 'Before the call' })
    await before.getByText('Blocked').waitFor()
    await before
      .getByRole('table')
      .getByRole('row', { name: /default\.contains Failed/ })
      .waitFor()
    await assertAccessible(t, page, 'guardrails')
    await page.goto(`${bed.app.baseUrl}${logsPath}?log=${logs.warned}&tab=guardrails`)
    await before.getByText('Warned').waitFor()
    await page.goto(`${bed.app.baseUrl}${logsPath}?log=${logs.plan}&tab=guardrails`)
    await panelOf(page).getByText('No guardrail ran.').waitFor()
    t.deepEqual(faults, [])
  })

for (const colorScheme of ['light', 'dark'] as const)
  test(`a trace is a tree whose parts open their logs by keys, in ${colorScheme}`, async (t) => {
    const { page, faults } = await bed.open(owner, { path: `${logsPath}?log=${logs.plan}&tab=trace`, colorScheme })
    const tree = panelOf(page).getByRole('tree', { name: 'Trace' })
    await tree.getByRole('treeitem', { name: /span plan/ }).waitFor()
    await untilCount(tree.getByRole('treeitem'), 2)
    await panelOf(page).getByText('2 parts of the trace trace <b>one</b>').waitFor()
    t.is(await tree.getByRole('treeitem', { name: /span step/ }).getAttribute('aria-level'), '2')
    await assertAccessible(t, page, 'the trace')
    await tree.locator('[tabindex="0"]').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.searchParams.get('log') === logs.step && url.searchParams.get('tab') === 'trace')
    await tree.locator('[aria-current="true"]').getByText('span step').waitFor()
    await page.reload()
    await tree.locator('[aria-current="true"]').getByText('span step').waitFor()
    t.deepEqual(faults, [])
  })

test('what cannot be shown of a log has its reason, and what is known stands', async (t) => {
  const { page, faults } = await bed.open(owner, { path: `${logsPath}?log=${logs.bare}&tab=request` })
  const panel = panelOf(page)
  await panel.getByText('No body is stored: the request asked for none, or bodies of this age are deleted.').waitFor()
  await page.goto(`${bed.app.baseUrl}${logsPath}?log=00000000-0000-4000-8000-000000000000`)
  await panel.getByText('There is no log here.').waitFor()
  await assertAccessible(t, page, 'an unknown log')
  const fail = (status: number, error: Readonly<Record<string, string>>, place: string) =>
    page.route(place, (route) => route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ error }) }))
  const place = `**/v1/logs/${logs.plan}`
  const sentence = 'The bodies and headers of this log are in the log store, which cannot be read: <b>gone</b>.'
  for (const [status, error, words] of [
    [503, { code: 'dependency_unavailable', message: sentence }, [sentence, 'The bodies cannot be read.']],
    [403, { code: 'AB03', message: 'It needs logs.view.' }, ['You cannot see this.', 'It needs logs.view.']],
    [500, { code: 'AB99', message: 'It <i>broke</i>.' }, ['This log did not load.', 'It <i>broke</i>.']],
  ] as const) {
    await fail(status, error, place)
    await page.goto(`${bed.app.baseUrl}${logsPath}?log=${logs.plan}`)
    for (const text of words) await panel.getByText(text, { exact: true }).waitFor()
    await panel.getByText('First workspace key').waitFor()
    await assertAccessible(t, page, `a log with ${status}`)
    await page.unroute(place)
  }
  await panel.getByRole('button', { name: 'Try again' }).press('Enter')
  await panel.getByRole('tab', { name: 'Summary' }).waitFor()
  await fail(500, { code: 'AB99', message: 'No <i>trace</i>.' }, '**/v1/traces/*')
  await panel.getByRole('tab', { name: 'Trace' }).click()
  await panel.getByText('No <i>trace</i>.').waitFor()
  await page.unroute('**/v1/traces/*')
  await panel.getByRole('button', { name: 'Try again' }).click()
  await panel.getByRole('tree', { name: 'Trace' }).waitFor()
  t.deepEqual(faults, [])
})

test('a log as a page of its own has the same tabs, and a part of its trace is another page', async (t) => {
  const { page, faults } = await bed.open(owner, { path: `${logsPath}/${logs.step}?tab=trace` })
  await page.getByRole('treeitem', { name: /span plan/ }).click()
  await page.waitForURL((url) => url.pathname.endsWith(logs.plan) && url.searchParams.get('tab') === 'trace')
  await page.getByRole('tab', { name: 'Why' }).click()
  await page.getByRole('list', { name: 'Why' }).waitFor()
  t.deepEqual(faults, [])
})
