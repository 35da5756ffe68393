import test from 'ava'
import { dataOf } from './answers.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'

let exporting: Exporting
test.before(async () => void (exporting = await startExporting()))
test.after.always(() => exporting.close())

const call: Exporting['control']['call'] = (...given) => exporting.control.call(...given)

/** Texts that mean something else in one of the ways by which they may reach the database. */
const texts = [
  'tab\there',
  'line\nbreak',
  'return\rhere',
  'back\\slash\\',
  'form\ffeed\bback',
  '"quoted"',
  "it's",
  'NULL',
  'null',
  '{a,b}',
  'a,b',
  ' blank ends ',
  '?',
  '$1',
  '\\t',
  '\\u0009',
  'größe ☀ 𝕏',
] as const

test.serial('logs are shown with the name of their provider, whatever its slug has', async (t) => {
  const { acme, control } = exporting
  await exporting.ship(texts.map((text, at) => recordOf(acme, at + 1, { providerSlug: text, model: `model ${at}` })))
  const made = await call(acme.adminKey, 'POST', '/integrations', {
    name: 'Acct',
    ai_provider_id: 'openai',
    key: 'sk-odd-0123456789abcdef',
  })
  t.is(made.status, 200, made.text)
  for (const [at, text] of texts.entries())
    await control.sql.query(
      `INSERT INTO providers (id, organisation_id, workspace_id, slug, name, kind, integration_id, status)
       SELECT gen_random_uuid(), $1, $2, $3, $4, 'provider', i.id, 'active' FROM integrations i WHERE i.organisation_id = $1 LIMIT 1`,
      [acme.organisationId, acme.workspaceId, text, `Name ${at}`],
    )
  const rows = dataOf(await call(acme.workspaceKey, 'GET', '/logs?page_size=50'))
  t.is(rows.length, texts.length)
  for (const [at, text] of texts.entries()) {
    const row = rows.find(({ ai_model: model }) => model === `model ${at}`)
    t.like(row, { virtual_key: text, provider_name: `Name ${at}` }, JSON.stringify(text))
  }
})

test.serial('feedback and spans are erased with the logs of their trace, whatever its id has, and no others', async (t) => {
  const { acme, control } = exporting
  await exporting.ship(texts.map((text, at) => recordOf(acme, at + 1, { traceId: text, metadata: { _user: `user ${at % 2}` } })))
  for (const text of texts)
    t.is((await call(acme.workspaceKey, 'POST', '/feedback', { trace_id: text, value: 5 })).status, 200, JSON.stringify(text))
  const { status, text } = await call(acme.adminKey, 'POST', '/logs/erasures', { metadata: { _user: 'user 0' } })
  t.is(status, 200, text)
  const { rows } = await control.sql.query<{ trace_id: string }>('SELECT trace_id FROM feedbacks')
  t.deepEqual(new Set(rows.map(({ trace_id: id }) => id)), new Set(texts.filter((_, at) => at % 2 === 1)))
})
