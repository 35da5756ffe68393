// The documents that people store have bounds, each kind its own; larger ones of earlier versions stay readable, and are deleted like others.
import test from 'ava'
import { verifyAudit } from '../../../src/app/audit/verify.ts'
import { mostColumnBytes } from '../../../src/app/audit/summary.ts'
import { documentBytes, otherDocuments } from '../../../src/lib/document-bounds.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

let control: Control
let acme: Tenant
let collection = ''
test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  collection = String((await call('POST', '/collections', { name: 'c' })).body['id'])
  await call('POST', '/virtual-keys', { name: 'v', provider: 'openai', key: 'sk-0123456789' })
})
test.after.always(() => control?.close())

const call = (method: string, path: string, body?: unknown) => control.call(acme.workspaceKey, method, path, body)

const prompt = (name: string, fields: Fields): Fields => ({
  name,
  collection_id: collection,
  string: 'x',
  virtual_key: 'v',
  parameters: {},
  ...fields,
})
const policy = { type: 'requests', unit: 'rpm', value: 1, group_by: [{ key: 'api_key' }] }

/** Lists of at most so many texts, so that each stays within the bounds of its own. */
const texts = (bytes: number, most: number): string[] =>
  Array.from({ length: Math.ceil(bytes / (most + 3)) }, (_, at) => String(at).padEnd(most, 'x'))
const lists = (bytes: number): Fields =>
  Object.fromEntries(Array.from({ length: Math.ceil(bytes / 90_000) }, (_, at) => [`k${at}`, texts(Math.min(bytes, 90_000) - 100, 1900)]))
const conditions = (bytes: number) => Array.from({ length: 4 }, (_, at) => ({ key: `metadata.k${at}`, value: texts(bytes / 4 - 300, 220) }))

interface Kind {
  readonly column: string
  readonly path: string
  readonly make: (name: string, bytes: number) => Fields
}

const kinds: readonly Kind[] = [
  { column: 'saved_filters.filters', path: '/saved-filters', make: (name, bytes) => ({ name, filters: { metadata: lists(bytes) } }) },
  {
    column: 'prompt_versions.parameters',
    path: '/prompts',
    make: (name, bytes) => prompt(name, { parameters: { own: 'x'.repeat(bytes - 20) } }),
  },
  {
    column: 'prompt_versions.functions',
    path: '/prompts',
    make: (name, bytes) => prompt(name, { functions: [{ a: 'x'.repeat(bytes - 20) }] }),
  },
  { column: 'prompt_versions.tools', path: '/prompts', make: (name, bytes) => prompt(name, { tools: [{ a: 'x'.repeat(bytes - 20) }] }) },
  {
    column: 'prompt_versions.tool_choice',
    path: '/prompts',
    make: (name, bytes) => prompt(name, { tool_choice: { a: 'x'.repeat(bytes - 20) } }),
  },
  {
    column: 'prompt_versions.template_metadata',
    path: '/prompts',
    make: (name, bytes) => prompt(name, { template_metadata: { a: 'x'.repeat(bytes - 20) } }),
  },
  {
    column: 'rate_limit_policies.conditions',
    path: '/policies/rate-limits',
    make: (name, bytes) => ({ ...policy, name, conditions: conditions(bytes) }),
  },
  {
    column: 'usage_limit_policies.conditions',
    path: '/policies/usage-limits',
    make: (name, bytes) => ({ name, type: 'cost', credit_limit: 1, group_by: policy.group_by, conditions: conditions(bytes) }),
  },
]

for (const { column, path, make } of kinds)
  test.serial(`${column} is stored up to its bound, and refused beyond it by its name`, async (t) => {
    const [table = '', name = ''] = column.split('.')
    const most = documentBytes(table, name) ?? 0
    const kept = await call('POST', path, make(`${name}-small`, most - 2000))
    t.is(kept.status, 200, kept.text.slice(0, 300))
    const refused = await call('POST', path, make(`${name}-large`, most + 6000))
    t.is(refused.status, 400, refused.text.slice(0, 300))
    t.like(refused.body['error'], { code: 'AB01', param: name })
  })

test.serial('a larger document of an earlier version is read, changed elsewhere and deleted', async (t) => {
  const { id } = (await call('POST', '/saved-filters', { name: 'old', filters: {} })).body as { id: string }
  await control.sql.query(`UPDATE saved_filters SET filters = jsonb_build_object('ai_model', repeat('x', 1900000)) WHERE id = $1`, [id])
  t.is((await call('GET', `/saved-filters/${id}`)).status, 200)
  t.is((await call('PUT', `/saved-filters/${id}`, { name: 'older' })).status, 200)
  t.is((await call('DELETE', `/saved-filters/${id}`)).status, 200)
})

test.serial(
  'a row of the trail keeps of a large write its names, its small parts, its size and its hash, and the chain holds',
  async (t) => {
    const { id } = (await call('POST', '/saved-filters', { name: 'audited', filters: { metadata: lists(60_000) } })).body as { id: string }
    t.is((await call('PUT', `/saved-filters/${id}`, { name: 'renamed', filters: { metadata: lists(61_000) } })).status, 200)
    const { rows } = await control.sql.query<{ most: number }>(
      `SELECT max(greatest(octet_length(before::text), octet_length(after::text), octet_length(request_body::text), octet_length(related::text))) AS most FROM audit_logs`,
    )
    t.true((rows[0]?.most ?? 0) <= mostColumnBytes)
    const { body } = await control.call(acme.adminKey, 'GET', `/audit-logs?resource_id=${id}&action=update`)
    const [row] = body['data'] as readonly { readonly before: Fields; readonly after: Fields; readonly request_body: string }[]
    t.like(row?.before, { name: 'audited' })
    t.like(row?.after, { name: 'renamed' })
    const summarised = row?.after['summarised'] as Fields
    t.deepEqual(summarised['fields'], ['name', 'filters'])
    t.true(Number(summarised['bytes']) > 60_000)
    t.regex(String(summarised['sha256']), /^[0-9a-f]{64}$/)
    t.like(JSON.parse(row?.request_body ?? ''), { name: 'renamed' })
    const [report] = await verifyAudit(control.started.deps, { organisation: acme.organisationId })
    t.deepEqual(report?.faults, [])
  },
)

test.serial('the policies of a workspace have a bound together', async (t) => {
  const one = { ...policy, conditions: conditions(60_000) }
  const { id } = (await call('POST', '/policies/rate-limits', one)).body
  await control.sql.query(
    `INSERT INTO rate_limit_policies SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).*
       FROM rate_limit_policies p, generate_series(1, 75) WHERE p.id = $1`,
    [id],
  )
  for (const [path, body] of [
    ['/policies/rate-limits', one],
    ['/policies/usage-limits', { type: 'cost', credit_limit: 1, group_by: one.group_by, conditions: one.conditions }],
  ] as const) {
    const refused = await call('POST', path, body)
    t.is(refused.status, 409, refused.text.slice(0, 300))
    t.like(refused.body['error'], { code: 'AB07', param: 'conditions' })
  }
  t.is((await control.call(acme.sideKey, 'POST', '/policies/rate-limits', one)).status, 200, 'another workspace has room')
})

test('each column with a bound of its own is there, and is JSON', async (t) => {
  const { rows } = await control.sql.query<{ name: string }>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND data_type IN ('json', 'jsonb')`,
  )
  const there = new Set(rows.map(({ name }) => name))
  t.deepEqual(
    otherDocuments.filter((name) => !there.has(name)),
    [],
  )
})
