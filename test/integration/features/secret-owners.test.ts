import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control?.close())

const reference = (more: object = {}) => ({
  name: 'Models',
  manager_type: 'hashicorp_vault',
  auth_config: { vault_auth_type: 'token', vault_addr: 'http://127.0.0.1:18200', vault_token: 'a-token' },
  secret_path: 'secret/data/models',
  ...more,
})

async function make(key: string, more: object = {}): Promise<string> {
  const { status, body, text } = await control.call(key, 'POST', '/secret-references', reference(more))
  if (status !== 200) throw new Error(text)
  return String(body['id'])
}

const share = async (id: string) => {
  const { status, text } = await control.call(acme.adminKey, 'PUT', `/secret-references/${id}`, { allowed_workspaces: ['side'] })
  if (status !== 200) throw new Error(text)
  return id
}

const ways: readonly (readonly [string, () => Promise<string>])[] = [
  ['made for one workspace', () => make(acme.adminKey, { allowed_workspaces: ['side'] })],
  ['narrowed to one workspace', async () => share(await make(acme.adminKey))],
  ['taken from the workspace that made it', async () => share(await make(acme.workspaceKey))],
]

for (const [title, made] of ways)
  test(`a reference that one workspace alone may use is not its own: ${title}`, async (t) => {
    const id = await made()
    const call = (method: string, path: string, body?: unknown) =>
      control.call(acme.sideKey, method, `/secret-references/${id}${path}`, body)
    t.is((await call('GET', '')).status, 200)
    for (const sent of [
      { secret_path: 'secret/data/payroll' },
      { secret_key: 'other' },
      { secret_version: '2' },
      { auth_config: reference().auth_config },
      { name: 'y' },
      { allowed_workspaces: ['side'] },
    ])
      t.is((await call('PUT', '', sent)).status, 403, JSON.stringify(sent))
    t.is((await call('POST', '/test', {})).status, 403)
    t.is((await call('DELETE', '')).status, 403)
  })

test('a workspace changes what its key made, while no other may use it', async (t) => {
  const id = await make(acme.sideKey)
  const put = () => control.call(acme.sideKey, 'PUT', `/secret-references/${id}`, { secret_path: 'secret/data/other' })
  t.is((await put()).status, 200)
  await control.call(acme.adminKey, 'PUT', `/secret-references/${id}`, { allowed_workspaces: ['side', 'main'] })
  t.is((await put()).status, 403)
})

const elsewhere = { models: [{ slug: 'm', enabled: true, is_custom: true, configurations: { custom_host: 'http://127.0.0.1:18201/v1' } }] }

test('a mapped secret goes to no other host than its integration’s, whichever was there first', async (t) => {
  const secret_mappings = [{ target_field: 'key', secret_reference_id: await make(acme.adminKey) }]
  const account = (slug: string) => ({
    name: slug,
    slug,
    workspace_id: acme.workspaceId,
    ai_provider_id: 'openai',
    configurations: { custom_host: 'http://127.0.0.1:18200/v1' },
  })
  const mapped = await control.call(acme.adminKey, 'POST', '/integrations', { ...account('mapped'), secret_mappings })
  t.is(mapped.status, 200, mapped.text)
  const moved = await control.call(acme.workspaceKey, 'PUT', '/integrations/mapped/models', elsewhere)
  t.is(moved.status, 400, moved.text)
  t.regex(moved.text, /models\[0\]\.configurations\.custom_host/)
  t.is((await control.call(acme.adminKey, 'POST', '/integrations', account('open'))).status, 200)
  t.is((await control.call(acme.workspaceKey, 'PUT', '/integrations/open/models', elsewhere)).status, 200)
  const later = await control.call(acme.adminKey, 'PUT', '/integrations/open', { secret_mappings })
  t.is(later.status, 409, later.text)
})
