import test from 'ava'
import { addPerson, browse, signIn, type Browser, type TestPerson } from '../../support/people.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
const people = new Map<string, { readonly person: TestPerson; readonly browser: Browser }>()

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  for (const [name, options] of Object.entries({ ada: { main: 'member' }, bo: { main: 'manager' } } as const)) {
    const person = await addPerson(control.started, { organisationId: acme.organisationId, email: `${name}@acme.example`, places: options })
    people.set(name, { person, browser: await signIn(control.started, person) })
  }
})
test.after.always(() => control?.close())

async function by(name: string, method: string, path: string, body?: unknown) {
  const found = people.get(name)
  if (found === undefined) throw new Error(`nobody is called ${name}`)
  const { status, text } = await browse({ baseUrl: control.origin }, found.browser, { method, path: `/v1/saved-filters${path}`, body })
  return { status, text, body: JSON.parse(text) as Record<string, unknown> }
}

const namesOf = (answer: { readonly body: Record<string, unknown> }) =>
  (answer.body['data'] as readonly { name: string }[]).map(({ name }) => name).toSorted()

const table = { columns: ['created_at', 'ai_model', 'cost'], sort: '-cost' }

test.serial('a view has the columns and the order with which it was saved', async (t) => {
  const made = await by('ada', 'POST', '', { name: 'Costly', filters: { cost_min: 1 }, ...table })
  t.is(made.status, 200, made.text)
  const owner = { id: people.get('ada')?.person.id, email: 'ada@acme.example' }
  t.like((await by('bo', 'GET', '/costly')).body, { ...table, visibility: 'workspace', owner })
  t.is((await by('bo', 'PUT', '/costly', { sort: 'created_at', columns: null })).status, 200)
  t.like((await by('ada', 'GET', '/costly')).body, { columns: null, sort: 'created_at', filters: { cost_min: 1 } })
  await control.call(acme.workspaceKey, 'POST', '/saved-filters', { name: 'By key', filters: {} })
  t.like((await by('ada', 'GET', '/by-key')).body, { columns: null, sort: null, visibility: 'workspace', owner: null })
})

for (const [field, value] of [
  ['columns', ['']],
  ['columns', Array.from({ length: 101 }, () => 'cost')],
  ['sort', 'cost; drop'],
  ['sort', '--cost'],
  ['visibility', 'public'],
] as const)
  test.serial(`a view is refused with ${field} ${JSON.stringify(value).slice(0, 30)}`, async (t) => {
    const { status, text } = await by('ada', 'POST', '', { name: 'Wrong', filters: {}, [field]: value })
    t.is(status, 400)
    t.true(text.includes(`"param":"${field}`), text)
  })

test.serial('a private view is seen, changed and deleted by the person alone', async (t) => {
  t.is((await by('ada', 'POST', '', { name: 'Mine', filters: {}, visibility: 'private' })).status, 200)
  t.true(namesOf(await by('ada', 'GET', '')).includes('Mine'))
  t.deepEqual(namesOf(await by('ada', 'GET', '?visibility=private')), ['Mine'])
  t.false(namesOf(await by('bo', 'GET', '')).includes('Mine'))
  for (const method of ['GET', 'PUT', 'DELETE'])
    t.is((await by('bo', method, '/mine', method === 'PUT' ? { name: 'Stolen' } : undefined)).status, 404, method)
  for (const key of [acme.adminKey, acme.workspaceKey]) {
    t.is((await control.call(key, 'GET', '/saved-filters/mine')).status, 404)
    t.false((await control.call(key, 'GET', '/saved-filters')).text.includes('"Mine"'))
  }
  const { key } = await userKey('ada')
  t.is((await control.call(key, 'GET', '/saved-filters/mine')).status, 200, 'by a key of the same person')
})

async function userKey(name: string): Promise<{ key: string }> {
  const body = { name: 'k', scopes: ['logs.list'], workspace_id: 'main', user_id: people.get(name)?.person.id }
  const made = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/user', body)
  return { key: String(made.body['key']) }
}

test.serial('only the person who made a view hides or shows it', async (t) => {
  await by('ada', 'POST', '', { name: 'Shared', filters: {} })
  t.is((await by('bo', 'PUT', '/shared', { visibility: 'private' })).status, 403)
  t.is((await by('bo', 'PUT', '/shared', { visibility: 'workspace' })).status, 200, 'it is so already')
  t.is((await by('ada', 'PUT', '/shared', { visibility: 'private' })).status, 200)
  t.is((await by('bo', 'GET', '/shared')).status, 404)
  t.is((await by('ada', 'PUT', '/shared', { visibility: 'workspace' })).status, 200)
  t.is((await by('bo', 'GET', '/shared')).status, 200)
  const byKey = await control.call(acme.workspaceKey, 'POST', '/saved-filters', { name: 'Hidden', filters: {}, visibility: 'private' })
  t.is(byKey.status, 400, byKey.text)
})

test.serial('a shared view is changed by its maker, and by callers that rank no lower', async (t) => {
  const { status } = await by('bo', 'POST', '', { name: 'Of a manager', filters: {} })
  t.is(status, 200)
  t.is((await by('ada', 'GET', '/of-a-manager')).status, 200)
  for (const [method, body] of [
    ['PUT', { filters: { ai_model: 'other' } }],
    ['DELETE', undefined],
  ] as const) {
    const refused = await by('ada', method, '/of-a-manager', body)
    t.is(refused.status, 403, refused.text)
    t.like(refused.body['error'], { code: 'AB03', param: 'filterId' })
  }
  const made = await control.call(acme.workspaceKey, 'POST', '/saved-filters', { name: 'Of a program', filters: {} })
  t.is(made.status, 200)
  t.is((await by('ada', 'DELETE', '/of-a-program')).status, 403, 'a service key ranks as an admin')
  t.is((await control.call(acme.workspaceKey, 'DELETE', '/saved-filters/of-a-program')).status, 200)
  t.is((await control.call(acme.workspaceKey, 'PUT', '/saved-filters/of-a-manager', { name: 'By an admin' })).status, 200)
  t.is((await by('bo', 'DELETE', '/of-a-manager')).status, 200)
})
