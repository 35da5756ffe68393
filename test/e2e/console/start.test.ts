// The first run: from the link of the owner to the first logged request, without a document, in at most 12 clicks.
import { inTenant } from '../../../src/app/database/orm.ts'
import { makeLink } from '../../../src/features/sessions/index.ts'
import { assertAccessible, consoleTest as test, keptBy, startConsole, type ConsoleBed } from '../../support/console.ts'
import { sendJson } from '../../support/http.ts'
import { addPerson } from '../../support/people.ts'

let bed: ConsoleBed
test.before(async () => {
  bed = await startConsole()
})
test.after.always(() => bed?.stop())

const canary = 'sk-canary-0d4b7e91'

test('the link of the owner leads to the first logged request, and says when it was answered', async (t) => {
  const { app, emulator } = bed
  const owner = await addPerson(app, { role: 'owner', email: 'ada@example.com' })
  const { organisationId, id: userId } = owner
  const { url } = await inTenant(app.deps.orm, organisationId, (em) => makeLink(em, app.deps, { organisationId, userId, purpose: 'setup' }))
  const { pathname, hash } = new URL(url)
  const { page, faults } = await bed.open(null, { path: pathname + hash })
  let clicks = 0
  const press = async (name: string) => {
    clicks += 1
    await page.getByRole('button', { name, exact: true }).click()
  }
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByLabel(/New password/).fill('a long enough sentence')
  await press('Set the password')
  await page.getByRole('heading', { level: 1, name: 'Set up Gatehouse' }).waitFor()
  t.is(new URL(page.url()).pathname, '/console/start')
  await page.getByLabel('API key', { exact: true }).fill(canary)
  clicks += 1
  await page.getByText('More fields').click()
  await page.getByLabel('Custom host').fill(emulator.url)
  await press('Test connection')
  await page.getByText('It works.').waitFor()
  await assertAccessible(t, page, 'provider')
  await press('Save and continue')
  await press('Create key')
  const key = await page.getByRole('textbox', { name: 'Your key' }).inputValue()
  await assertAccessible(t, page, 'key')
  await press('Continue')
  await page.getByText('Listening for your first request…').waitFor()
  const model = await page.getByRole('textbox', { name: 'Model' }).inputValue()
  t.regex(model, /^@[\w-]+\/gpt-4o-mini$/)
  t.true(((await page.getByLabel(/^A request to/).textContent()) ?? '').includes(key))
  await assertAccessible(t, page, 'request')
  await sendJson(
    `${app.baseUrl}/v1/chat/completions`,
    { authorization: `Bearer ${key}` },
    { model, messages: [{ role: 'user', content: 'hi' }] },
  )
  await page
    .getByRole('status', { name: 'First request' })
    .getByText(/Answered: gpt-4o-mini/)
    .waitFor()
  clicks += 1
  await page.getByRole('link', { name: 'Open the log' }).click()
  await page.getByRole('heading', { level: 1, name: 'Log' }).waitFor()
  await page.getByRole('tab', { name: 'Summary' }).waitFor()
  t.true(clicks <= 12, `${clicks} clicks`)
  t.log(`${clicks} clicks`)
  const kept = await keptBy(page)
  for (const secret of [canary, key]) t.false(kept.includes(secret))
  t.deepEqual(faults, [])
})
