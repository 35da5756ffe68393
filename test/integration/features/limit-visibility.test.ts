// The limits and counts of limits that each caller sees: those of keys that the caller can list, and those of groups whose logs the caller can see.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { type Callers, letters, people, startCallers, type Letter } from './callers.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

let control: Control
let acme: Tenant
let emulator: Emulator
let callers: Callers
const policies = { cost: '', rate: '' }
/** The ids of the keys that have limits, by their owners; `W` is the one of the workspace. */
const keyIds = new Map<Letter | 'W', string>()
const usage = { prompt_tokens: 0, completion_tokens: 10_000, total_tokens: 10_000 }
const answer = JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage })

async function made(path: string, body: Fields): Promise<Fields> {
  const response = await control.call(acme.adminKey, 'POST', path, body)
  if (response.status !== 200) throw new Error(`${path}: ${response.text}`)
  return response.body
}

const limits = { usage_limits: { credit_limit: 0.2, alert_threshold: 0.05 }, rate_limits: [{ type: 'requests', unit: 'rpd', value: 9 }] }

async function spendWith(letter: Letter | 'W', key: Fields): Promise<void> {
  keyIds.set(letter, String(key['id']))
  const headers = {
    'x-service-api-key': String(key['key']),
    'x-service-provider': '@main-p',
    'content-type': 'application/json',
    'x-service-metadata': JSON.stringify({ team: `team-${letter}` }),
  }
  const body = JSON.stringify({ model: 'gpt-4o', messages: [], max_tokens: 10_000 })
  const { status, text } = await send(`${control.origin}/v1/chat/completions`, { method: 'POST', headers, body })
  if (status !== 200) throw new Error(text)
}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({ behaviour: { body: answer } })
  callers = await startCallers(control, acme)
  const workspace_id = acme.workspaceId
  const account = { name: 'i', slug: 'main-i', ai_provider_id: 'openai', key: 'sk', configurations: { custom_host: emulator.url } }
  await control.call(acme.workspaceKey, 'POST', '/integrations', account)
  await control.call(acme.workspaceKey, 'POST', '/providers', { name: 'Main', slug: 'main-p', integration_id: 'main-i' })
  const conditions = [{ key: 'metadata.team', value: '*' }]
  const group_by = [{ key: 'api_key' }, { key: 'metadata.team' }]
  const cost = { workspace_id, conditions, group_by, type: 'cost', credit_limit: 1 }
  policies.cost = String((await made('/policies/usage-limits', cost))['id'])
  const rate = { workspace_id, conditions, group_by, type: 'requests', unit: 'rpd', value: 30 }
  policies.rate = String((await made('/policies/rate-limits', rate))['id'])
  const scopes = ['completions.write']
  for (const letter of letters) {
    const user_id = callers.persons.get(letter)?.id
    const body = { name: letter, user_id, workspace_id, scopes, ...limits }
    const { status, text } = await callers.ask('session of the owner', { method: 'POST', path: '/v1/api-keys/workspace/user', body })
    if (status !== 200) throw new Error(text)
    await spendWith(letter, JSON.parse(text) as Fields)
  }
  await spendWith('W', await made('/api-keys/workspace/service', { name: 'W', workspace_id, scopes, ...limits }))
  await eventually(
    async () => {
      const alerts = await control.call(acme.adminKey, 'GET', '/alerts')
      const groups = await control.call(acme.adminKey, 'GET', `/policies/usage-limits/${policies.cost}/entities`)
      return alerts.body['total'] === letters.length + 1 && groups.body['total'] === letters.length + 1
    },
    20_000,
    'an alert and a group of each key',
  )
})
test.after.always(() => Promise.all([control?.close(), emulator?.stop()]))

const dataOf = (body: Fields) => body['data'] as readonly Fields[]

/** The routes that show limits and counts, and the texts that name their keys. */
interface Shown {
  /** By what an entry is shown or hidden: the key that has the limit, or the group that was counted. */
  readonly kind: 'key' | 'group'
  readonly path: () => string
  readonly named: (body: Fields) => readonly unknown[]
}

const routes: Readonly<Record<string, Shown>> = {
  'limits of keys': {
    kind: 'key',
    path: () => '/v1/limits?owner_kind=api-key&page_size=100',
    named: (body) => dataOf(body).map(({ owner_id: id }) => id),
  },
  'limits of policies': {
    kind: 'group',
    path: () => '/v1/limits?owner_kind=policy&page_size=100',
    named: (body) => dataOf(body).map(({ group }) => group),
  },
  alerts: {
    kind: 'key',
    path: () => '/v1/alerts?page_size=100',
    named: (body) => dataOf(body).map(({ owner_id: id }) => id),
  },
  'groups of a budget': {
    kind: 'group',
    path: () => `/v1/policies/usage-limits/${policies.cost}/entities?page_size=100`,
    named: (body) => dataOf(body).map(({ value_key: key }) => key),
  },
  'groups of a rate': {
    kind: 'group',
    path: () => `/v1/policies/rate-limits/${policies.rate}/entities?page_size=100`,
    named: (body) => dataOf(body).map(({ value_key: key }) => key),
  },
  'usage of a policy': {
    kind: 'group',
    path: () => `/v1/policies/usage-limits/${policies.cost}?include_usage=true`,
    named: (body) => Object.keys(body['value_key_usage_map'] as Fields),
  },
  'bounds of a provider': {
    kind: 'group',
    path: () => '/v1/providers/main-p',
    named: (body) => (body['bounded_by'] as readonly Fields[]).map(({ group }) => group),
  },
}

const everyKey = [...letters, 'W'].toSorted().join('')

/** Returns the keys that a route names to a caller, and whether it names the metadata of a request of another key. */
async function seenBy(caller: string, { path, named }: (typeof routes)[string]): Promise<string> {
  const { status, text } = await callers.ask(caller, { method: 'GET', path: path() })
  if (status !== 200) return `${status} ${text}`
  const names = named(JSON.parse(text) as Fields).join(' ')
  const seen = [...keyIds].filter(([, id]) => names.includes(id)).map(([letter]) => letter)
  const teams = [...keyIds.keys()].filter((letter) => names.includes(`team-${letter}`) && !seen.includes(letter))
  return seen.toSorted().join('') + teams.map((letter) => `, team of ${letter}`).join('')
}

/** The keys that people see: by their credentials' name before ` of the `, else all. User keys have no scope that lists keys. */
const byKeys: Seen = { key: { O: 'O', A: 'A', a: 'a', g: 'g', m: 'm' }, session: { m: 'm' }, token: { m: 'm' } }
type Seen = Readonly<Record<string, Partial<Record<Letter, string>>>>
const own = { g: 'g', m: 'm' }

/** The settings of an organisation, and the groups that people see then. */
const settings: readonly (readonly [settings: Readonly<Record<string, boolean>>, groups: Seen])[] = [
  [{}, {}],
  [
    { membersViewAllData: false, managersViewAllData: false },
    { key: own, session: own, token: own },
  ],
  [
    { membersViewLogs: false, managersViewLogs: false, membersViewAnalytics: false, managersViewAnalytics: false },
    { key: own, session: own, token: own },
  ],
]
const on = Object.fromEntries(settings.flatMap(([given]) => Object.keys(given)).map((name) => [name, true]))

async function set(given: Readonly<Record<string, boolean>>): Promise<void> {
  const { status, text } = await control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { ...on, ...given } })
  if (status !== 200) throw new Error(text)
  await control.refresh()
}

for (const [given, byGroups] of settings)
  test.serial(`limits and counts are shown as far as keys and logs are, with the settings ${JSON.stringify(given)}`, async (t) => {
    await set(given)
    for (const [name, route] of Object.entries(routes)) {
      t.is(await seenBy('admin key', route), everyKey, name)
      t.is(await seenBy('workspace key', route), everyKey, name)
      const expected = route.kind === 'key' ? byKeys : byGroups
      await inParallel(
        letters.flatMap((letter) => ['session', 'key', 'token'].map((kind) => [letter, kind] as const)),
        4,
        async ([letter, kind]) => {
          const caller = `${kind} of the ${people[letter]}`
          t.is(await seenBy(caller, route), expected[kind]?.[letter] ?? everyKey, `${name} to the ${caller}`)
        },
      )
    }
  })

const manager = 'session of the manager'
const draft = { conditions: [{ key: 'api_key', value: '*' }], group_by: [{ key: 'api_key' }], hours: 24 }
const drafts = {
  'usage-limits': { ...draft, type: 'cost', credit_limit: 1 },
  'rate-limits': { ...draft, type: 'requests', unit: 'rpd', value: 1 },
}

/** Settings that hide others from a manager. */
const hiding: readonly Readonly<Record<string, boolean>>[] = [
  { managersViewAllData: false },
  { managersViewLogs: false, managersViewAnalytics: false },
]

for (const given of hiding)
  test.serial(`a trial of a policy, and a receiver of alerts, show no more than lists do, with ${JSON.stringify(given)}`, async (t) => {
    const tried = async (caller: string) => {
      const answers = await Promise.all(
        Object.entries(drafts).map(([kind, body]) =>
          callers.ask(caller, { method: 'POST', path: `/v1/policies/${kind}/preview`, body: { ...body, workspace_id: acme.workspaceId } }),
        ),
      )
      return answers.map(({ status, text }) => {
        const seen = [...keyIds].filter(([, id]) => text.includes(id)).map(([letter]) => letter)
        return status === 200 ? seen.toSorted().join('') : text
      })
    }
    const receive = () =>
      callers.ask(manager, { method: 'POST', path: '/v1/alert-webhooks', body: { name: 'Mine', url: 'http://127.0.0.1:18202/x' } })
    await set({})
    t.deepEqual(await tried(manager), [everyKey, everyKey])
    const added = await receive()
    t.is(added.status, 200, added.text)
    const { id } = JSON.parse(added.text) as { id: string }
    await set(given)
    t.deepEqual(await tried(manager), ['g', 'g'])
    t.deepEqual(await tried('session of the admin'), [everyKey, everyKey])
    t.is((await receive()).status, 403)
    const path = `/v1/alert-webhooks/${id}`
    t.is((await callers.ask(manager, { method: 'PUT', path, body: { url: 'http://127.0.0.1:18203/x' } })).status, 403)
    t.is((await callers.ask(manager, { method: 'DELETE', path })).status, 200)
  })

const logsOf = async (secret: string) => {
  const { body } = await control.call(secret, 'GET', `/logs?api_key_ids=${keyIds.get('m')}`)
  return dataOf(body).length
}

test.serial('a manager that sees no data of others gives no key of another scopes or a config, which would show it', async (t) => {
  const config = { name: 'Spy', config: { retry: { attempts: 1 } }, workspace_id: acme.workspaceId }
  const { body: spy } = await control.call(acme.adminKey, 'POST', '/configs', config)
  const { body: key } = await control.call(acme.adminKey, 'GET', `/api-keys/${keyIds.get('W')}`)
  const more = [...new Set([...(key['scopes'] as string[]), 'logs.list', 'logs.view', 'feedback.create'])]
  const change = (letter: Letter | 'W', body: object) =>
    callers.ask(manager, { method: 'PUT', path: `/v1/api-keys/${keyIds.get(letter)}`, body })
  await set({ managersViewAllData: false })
  t.is((await change('W', { scopes: more })).status, 403)
  for (const letter of ['m', 'W'] as const) {
    const moved = await change(letter, { defaults: { config_id: spy['slug'] } })
    t.is(moved.status, 403, letter)
    t.true(moved.text.includes('data you do not see'), moved.text)
    t.is((await change(letter, { description: 'as it was' })).status, 200, letter)
  }
  t.is((await change('g', { defaults: { config_id: spy['slug'] } })).status, 200)
  t.is((await change('g', { defaults: { config_id: null } })).status, 200)
  await set({})
  t.is((await change('m', { defaults: { config_id: spy['slug'] } })).status, 200)
  t.is((await change('m', { defaults: { config_id: null } })).status, 200)
})

test.serial('a manager that sees no data of others gets the secret of no key that shows it', async (t) => {
  const rotate = (letter: Letter | 'W') =>
    callers.ask(manager, { method: 'POST', path: `/v1/api-keys/${keyIds.get(letter)}/rotate`, body: {} })
  await set({ managersViewAllData: false })
  for (const letter of ['m', 'W'] as const) t.is((await rotate(letter)).status, 403, letter)
  t.is((await rotate('g')).status, 200)
  const body = {
    name: 'For the member',
    user_id: callers.persons.get('m')?.id,
    workspace_id: acme.workspaceId,
    scopes: ['logs.list', 'completions.write'],
  }
  const forAnother = await callers.ask(manager, { method: 'POST', path: '/v1/api-keys/workspace/user', body })
  t.is(forAnother.status, 200, forAnother.text)
  const key = JSON.parse(forAnother.text) as Fields
  await spendWith('m', key)
  await eventually(async () => (await logsOf(acme.adminKey)) === 1, 20_000, 'the log of the member')
  t.is(await logsOf(String(key['key'])), 0, 'a key for another shows the logs of neither')
  await control.sql.query(`UPDATE logs SET api_key_id = '00000000-0000-0000-0000-000000000000', user_id = NULL WHERE api_key_id = $1`, [
    keyIds.get('g'),
  ])
  const { body: all } = await control.call(String(key['key']), 'GET', '/logs')
  t.deepEqual(dataOf(all), [], 'nor erased logs')
  await set({})
  t.is((await rotate('m')).status, 200)
})
