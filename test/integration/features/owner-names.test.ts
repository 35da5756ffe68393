// The owners of keys and providers: the person of a key, otherwise its maker, signed in or by a key of theirs.
import test from 'ava'
import { addPerson, browse, type Browser, signIn } from '../../support/people.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

let control: Control
let acme: Tenant
let other: Tenant
let ada: { readonly id: string; readonly browser: Browser }
let ben: { readonly id: string; readonly browser: Browser }

async function person(email: string, [first, last]: readonly [string | null, string | null]) {
  const { deps } = control.started
  const made = await addPerson({ deps }, { organisationId: acme.organisationId, email, role: 'admin', places: { main: 'admin' } })
  await control.sql.query('UPDATE users SET first_name = $2, last_name = $3 WHERE id = $1', [made.id, first, last])
  return { id: made.id, browser: await signIn({ deps }, made) }
}

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  ada = await person('ada@example.com', ['Ada', 'Lovelace'])
  ben = await person('ben@example.com', [null, null])
  other = await control.createTenant('other')
})
test.after.always(() => control?.close())

const service = '/api-keys/workspace/service'
const newKey = (fields: Fields = {}) => ({ name: 'k', workspace_id: acme.workspaceId, scopes: ['completions.write'], ...fields })

async function byKey(key: string, path: string, body: object): Promise<Fields> {
  const made = await control.call(key, 'POST', path, body)
  if (made.status !== 200) throw new Error(made.text)
  return made.body
}

async function signedIn({ browser }: typeof ada, path: string, body: object): Promise<Fields> {
  const { status, text } = await browse({ baseUrl: control.origin }, browser, { method: 'POST', path: `/v1${path}`, body })
  if (status !== 200) throw new Error(text)
  return JSON.parse(text) as Fields
}

/** The owner of a thing, read by itself and in its list. */
async function ownersOf(list: string, { id, slug = id }: Fields): Promise<readonly unknown[]> {
  const at = `workspace_id=${acme.workspaceId}`
  const { body: one } = await control.call(acme.adminKey, 'GET', `${list}/${String(slug)}?${at}`)
  const { body: all } = await control.call(acme.adminKey, 'GET', `${list}?page_size=100&${at}`)
  const listed = (all['data'] as Fields[]).find((row) => row['id'] === id || row['slug'] === slug)
  return [one['owner_name'], listed?.['owner_name']]
}

test('a key tells its person, otherwise who made it: a service key of a service key is nobody’s', async (t) => {
  const adas = await byKey(acme.adminKey, '/api-keys/workspace/user', newKey({ user_id: ada.id }))
  t.deepEqual(await ownersOf('/api-keys', adas), ['Ada Lovelace', 'Ada Lovelace'])
  const signed = await signedIn(ada, service, newKey())
  t.deepEqual(await ownersOf('/api-keys', signed), ['Ada Lovelace', 'Ada Lovelace'])
  const own = await control.createKey(acme, {
    workspaceId: acme.workspaceId,
    userId: ada.id,
    scopes: ['workspace_service_api_keys.create', 'completions.write'],
  })
  t.deepEqual(await ownersOf('/api-keys', await byKey(own, service, newKey())), ['Ada Lovelace', 'Ada Lovelace'])
  const bens = await byKey(acme.adminKey, '/api-keys/workspace/user', newKey({ user_id: ben.id }))
  t.deepEqual(await ownersOf('/api-keys', bens), ['ben@example.com', 'ben@example.com'])
  t.deepEqual(await ownersOf('/api-keys', await byKey(acme.adminKey, service, newKey())), [null, null])
})

test('a provider and a virtual key tell who made them, by the name that the person has now', async (t) => {
  await byKey(acme.workspaceKey, '/integrations', { name: 'i', slug: 'own-i', ai_provider_id: 'openai', key: 'sk', configurations: {} })
  const fields = (slug: string) => ({ name: slug, slug, integration_id: 'own-i', workspace_id: acme.workspaceId })
  const cleo = await person('cleo@example.com', [null, null])
  const made = await signedIn(cleo, '/providers', fields('of-cleo'))
  t.deepEqual(await ownersOf('/providers', made), ['cleo@example.com', 'cleo@example.com'])
  await control.sql.query(`UPDATE users SET first_name = 'Cleo' WHERE id = $1`, [cleo.id])
  t.deepEqual(await ownersOf('/providers', made), ['Cleo', 'Cleo'])
  t.deepEqual(await ownersOf('/providers', await byKey(acme.workspaceKey, '/providers', fields('of-nobody'))), [null, null])
  const virtual = { name: 'of-ada', provider: 'openai', key: 'sk', workspace_id: acme.workspaceId }
  const { data } = await signedIn(ada, '/virtual-keys', virtual)
  t.deepEqual(await ownersOf('/virtual-keys', data as Fields), ['Ada Lovelace', 'Ada Lovelace'])
})

test('other organisations see no names', async (t) => {
  for (const list of ['/api-keys', '/providers', '/virtual-keys']) {
    const { text } = await control.call(other.adminKey, 'GET', `${list}?page_size=100&workspace_id=${other.workspaceId}`)
    t.notRegex(text, /Ada|Cleo|ben@/)
  }
})
