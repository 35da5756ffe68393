// Copies for mirrors cost money: budgets hold for them as for other requests.
import test, { type ExecutionContext } from 'ava'
import { organisationScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let cheap: Emulator
let paid: Emulator
let slug: string

/** gpt-4o: 25 + 100,000 micro-dollars. */
const usage = { prompt_tokens: 10, completion_tokens: 10_000, total_tokens: 10_010 }
const dollarsEach = 0.100025

const answering = (model: string, used: object) => ({
  behaviour: { body: JSON.stringify({ model, choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage: used }) },
})

test.before(async () => {
  ;[control, cheap, paid] = await Promise.all([startControl(), startEmulator(), startEmulator()])
  acme = await control.createTenant('acme')
  cheap.script(answering('gpt-4o-mini', { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }))
  paid.script(answering('gpt-4o', usage))
  slug = await provider('paid', {})
})
test.after.always(async () => {
  await control?.close()
  await Promise.all([cheap?.stop(), paid?.stop()])
})

const within = 20_000

async function made(key: string, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const { status, text, body: answered } = await control.call(key, 'POST', path, body)
  if (status !== 200) throw new Error(text)
  return answered
}

/** Stores a provider, and returns its slug. */
async function provider(name: string, more: object): Promise<string> {
  const { data } = await made(acme.workspaceKey, '/virtual-keys', {
    name,
    provider: 'openai',
    key: 'sk',
    configurations: { custom_host: paid.url },
    ...more,
  })
  return (data as { slug: string }).slug
}

const budgeted = async (): Promise<{ readonly id: string; readonly secret: string }> => {
  const { adminKey, workspaceId } = acme
  const body = { name: 'limited', workspace_id: workspaceId, scopes: ['completions.write'], usage_limits: { credit_limit: 1 } }
  const { id, key } = await made(adminKey, '/api-keys/workspace/service', body)
  return { id: String(id), secret: String(key) }
}

const mirrored = (named: string, more: object = {}) => ({
  provider: 'openai',
  custom_host: cheap.url,
  api_key: 'sk',
  mirror: { target: { provider: `@${named}`, override_params: { model: 'gpt-4o', max_tokens: 10_000 } }, ...more },
})

const ask = (secret: string, config: string) =>
  send(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': secret, 'content-type': 'application/json', 'x-service-config': config },
    body: JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 1, messages: [] }),
  })

interface CopyRow {
  readonly status: number
  readonly billed: boolean
}

/** Asks twelve times, and returns the copies when all are logged. */
async function copiesOf(t: ExecutionContext, secret: string, config: string): Promise<readonly CopyRow[]> {
  const ids: string[] = []
  for (let at = 0; at < 12; at += 1) {
    const { status, text, headers } = await ask(secret, config)
    t.is(status, 200, text)
    ids.push(String(headers['x-service-request-id']))
    await eventually(async () => (await rowsOf(ids)).length === ids.length, within)
  }
  return rowsOf(ids)
}

async function rowsOf(ids: readonly string[]): Promise<readonly CopyRow[]> {
  const { rows } = await control.sql.query<CopyRow>('SELECT status, billed FROM logs WHERE mirror_of::text = ANY($1)', [ids])
  return rows
}

const passed = (rows: readonly CopyRow[]): number => rows.filter(({ status }) => status === 200).length

for (const [name, more] of [
  ['that says no more', {}],
  ['that is billed by its own words', { billed: true }],
] as const)
  test.serial(`the copies of a mirror ${name} stop where the budget of their key ends, inline and stored`, async (t) => {
    const stored = await made(acme.workspaceKey, '/configs', { name: `stored ${name}`, config: mirrored(slug, more) })
    for (const config of [JSON.stringify(mirrored(slug, more)), String(stored['slug'])]) {
      const key = await budgeted()
      const before = paid.requests.length
      const rows = await copiesOf(t, key.secret, config)
      t.true(rows.every(({ billed }) => billed))
      t.is(passed(rows), 9)
      t.is(paid.requests.length - before, 9)
      await eventually(async () => {
        const { body } = await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)
        return Math.abs(Number((body['usage'] as { spent?: number }).spent) - 9 * dollarsEach) < 0.001
      }, within)
    }
  })

test.serial('copies that a stored config leaves out of budgets count for the budget of their provider', async (t) => {
  const bounded = await provider('bounded', { usage_limits: { credit_limit: 1 } })
  const stored = await made(acme.adminKey, '/configs', {
    name: 'free',
    workspace_id: acme.workspaceId,
    config: mirrored(bounded, { billed: false }),
  })
  const key = await budgeted()
  const rows = await copiesOf(t, key.secret, String(stored['slug']))
  t.true(rows.every(({ billed }) => !billed))
  t.is(passed(rows), 9)
})

const without = (scopes: readonly string[]) => scopes.filter((scope) => scope !== 'workspaces.update')

test.serial('only those who may change budgets store a config whose copies are left out of them', async (t) => {
  const config = mirrored(slug, { billed: false })
  const nested = { strategy: { mode: 'fallback' }, targets: [{ provider: `@${slug}` }, config] }
  const { workspaceId } = acme
  const member = await control.createUser(acme, { email: 'member@acme.example', workspaces: { [workspaceId]: 'member' } })
  const keys = {
    'a service key without the scope': await control.createKey(acme, { workspaceId, scopes: without(workspaceScopes) }),
    'a member, whose role has not the right': await control.createKey(acme, { workspaceId, userId: member, scopes: workspaceScopes }),
    'a key of the organisation without the scope': await control.createKey(acme, { scopes: without(organisationScopes) }),
  }
  const kept = await made(acme.workspaceKey, '/configs', { name: 'kept', config: { provider: `@${slug}` } })
  const path = `/configs/${String(kept['slug'])}`
  for (const [who, key] of Object.entries(keys))
    for (const [given, param] of [
      [config, 'config.mirror.billed'],
      [nested, 'config.targets[1].mirror.billed'],
    ] as const) {
      const refused = await control.call(key, 'POST', '/configs', { name: 'x', config: given })
      t.is(refused.status, 403, `${who}: ${refused.text}`)
      const changed = await control.call(key, 'PUT', path, { config: given })
      t.is(changed.status, 403, `${who}: ${changed.text}`)
      if (!who.startsWith('a member')) t.like(refused.body['error'], { code: 'AB03', param })
    }
  t.is((await control.call(acme.adminKey, 'PUT', path, { config: nested })).status, 200)
})
