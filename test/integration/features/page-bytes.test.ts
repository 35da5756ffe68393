// Rows may be large: a page of a list ends early where one answer would hold too much, and its cursor goes on behind it.
import test from 'ava'
import { verifyAudit } from '../../../src/app/audit/verify.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  const text = `repeat('x', 1900000)`
  const values = [acme.organisationId, acme.workspaceId]
  await control.sql.query(
    `INSERT INTO saved_filters (id, organisation_id, workspace_id, slug, name, type, filters, visibility, status)
     SELECT gen_random_uuid(), $1, $2, 'f' || n, 'f' || n, 'logs', jsonb_build_object('ai_model', ${text}), 'workspace', 'active' FROM generate_series(1, 12) n`,
    values,
  )
  await control.sql.query(
    `INSERT INTO audit_logs (id, organisation_id, workspace_id, at, actor_type, action, resource_type, method, uri, request_id, client_ip, response_status, before, after, request_body, seq)
     SELECT gen_random_uuid(), $1, $2, now(), 'system', 'update', 'saved-filter', 'PUT', '/', n::text, 'here', 200,
            jsonb_build_object('filters', ${text}), jsonb_build_object('filters', ${text}), jsonb_build_object('filters', ${text}), n FROM generate_series(1, 8) n`,
    values,
  )
})
test.after.always(() => control?.close())

const mostBytes = 9 * 1024 * 1024

const page = async (path: string) => {
  const { status, text, body } = await control.call(acme.adminKey, 'GET', path)
  const rows = (body['data'] ?? []) as readonly { readonly id: string }[]
  return { status, text, body, ids: rows.map(({ id }) => id) }
}

for (const { path, rows } of [
  { path: '/saved-filters?page_size=1000', rows: 12 },
  { path: '/audit-logs?page_size=50', rows: 8 },
])
  test(`all rows of ${path} are read by its cursors, and no page is too large`, async (t) => {
    const seen: string[] = []
    for (let after: string | null = ''; after !== null;) {
      const { status, text, body, ids } = await page(after === '' ? path : `${path}&after=${after}`)
      t.is(status, 200)
      t.true(text.length < mostBytes, String(text.length))
      t.true(ids.length > 0)
      if (after === '') t.is(body['total'], rows)
      t.is(body['has_more'], body['next_cursor'] !== null)
      seen.push(...ids)
      after = body['next_cursor'] as string | null
    }
    t.is(seen.length, rows)
    t.is(new Set(seen).size, rows)
  })

test('pages by number leave no row out: a page that is not whole, or follows such a one, is refused', async (t) => {
  const whole = await Promise.all([0, 1, 2].map((number) => page(`/saved-filters?page_size=4&current_page=${number}`)))
  t.deepEqual(
    whole.map(({ ids }) => ids.length),
    [4, 4, 4],
  )
  t.is(new Set(whole.flatMap(({ ids }) => ids)).size, 12)
  const first = await page('/saved-filters?page_size=10&current_page=0')
  t.true(first.ids.length < 10)
  t.true(first.body['has_more'])
  for (const path of ['/saved-filters?page_size=10&current_page=1', '/saved-filters?page_size=6&current_page=1']) {
    const { status, text } = await page(path)
    t.is(status, 400, path)
    t.true(text.includes('"param":"page_size"'), text)
  }
})

test('the chain is walked through large rows too', async (t) => {
  const [report] = await verifyAudit(control.started.deps, { organisation: acme.organisationId })
  t.is(report?.rows, 8)
})
