// Kept responses: the id of a request does not lead to its response, and a response belongs to the caller that it answered.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { connect } from '../../../src/app/database/connect.ts'
import { openSidePool } from '../../../src/app/database/side-pool.ts'
import { openStoredResponses } from '../../../src/app/stored-responses/stored-responses.ts'
import { formerResponseId } from '../../../src/gateway/dialects/openai-responses/response-id.ts'
import { silent } from '../../support/database.ts'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let claude: Emulator
let acme: Tenant
const withinMs = 30_000

test.before(async () => {
  ;[control, claude] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  const account = { name: 'claude', slug: 'claude', ai_provider_id: 'anthropic', key: 'sk', configurations: { custom_host: claude.url } }
  await control.call(acme.adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'claude' })
  const access = { global_workspace_access: { enabled: true }, create_default_provider: true }
  const shared = await control.call(acme.adminKey, 'PUT', '/integrations/claude/workspaces', access)
  if (shared.status !== 200) throw new Error(shared.text)
  claude.script({
    behaviour: ({ url }) =>
      url.endsWith('/count_tokens')
        ? json({ input_tokens: 3 })
        : json({
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [{ type: 'text', text: 'answer' }],
            stop_reason: 'end_turn',
            stop_sequence: null,
            usage: { input_tokens: 10, output_tokens: 7 },
          }),
  })
})
test.after.always(async () => {
  await control?.close()
  await claude?.stop()
})

interface Made {
  readonly id: string
  readonly requestId: string
}

const ask = (key: string, method: string, path: string, body?: object) =>
  fetch(`${control.origin}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'x-service-provider': '@claude', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

async function respond(key: string): Promise<Made> {
  const answer = await ask(key, 'POST', '/responses', { model: 'm', input: 'the secret of a caller', max_output_tokens: 20 })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(text)
  return { id: (JSON.parse(text) as { id: string }).id, requestId: answer.headers.get('x-service-request-id') ?? '' }
}

/** Every way to a kept response; the last one takes it away. */
const ways: Readonly<Record<string, (key: string, id: string) => Promise<Response>>> = {
  read: (key, id) => ask(key, 'GET', `/responses/${id}`),
  'read its input': (key, id) => ask(key, 'GET', `/responses/${id}/input_items`),
  'go on': (key, id) => ask(key, 'POST', '/responses', { model: 'm', input: 'more', max_output_tokens: 20, previous_response_id: id }),
  count: (key, id) => ask(key, 'POST', '/responses/input_tokens', { model: 'm', input: 'more', previous_response_id: id }),
  delete: (key, id) => ask(key, 'DELETE', `/responses/${id}`),
}

const key = (more: readonly string[] = [], userId?: string) =>
  control.createKey(acme, {
    workspaceId: acme.workspaceId,
    scopes: ['completions.write', ...more],
    ...(userId !== undefined && { userId }),
  })

test.serial('a response is open to its owner, and to those that may view its log', async (t) => {
  const [ann, bob] = await Promise.all(
    ['ann', 'bob'].map((name) =>
      control.createUser(acme, { email: `${name}@acme.test`, workspaces: { [acme.workspaceId]: name === 'ann' ? 'member' : 'manager' } }),
    ),
  )
  const callers: Readonly<Record<string, { readonly maker: string; readonly other: string; readonly may: boolean }>> = {
    'the key itself': await key().then((own) => ({ maker: own, other: own, may: true })),
    'another key without logs': { maker: await key(), other: await key(), may: false },
    'another key with logs.view': { maker: await key(), other: await key(['logs.view']), may: true },
    'another key with a list of logs': { maker: await key(), other: await key(['logs.list']), may: false },
    'another key of the same person': { maker: await key([], ann), other: await key([], ann), may: true },
    'a key of another person': { maker: await key([], ann), other: await key([], bob), may: false },
    'a manager who views logs': { maker: await key([], ann), other: await key(['logs.view'], bob), may: true },
    'another workspace': { maker: await key(), other: acme.sideKey, may: false },
  }
  for (const [name, { maker, other, may }] of Object.entries(callers)) {
    const { id } = await respond(maker)
    for (const [way, go] of Object.entries(ways)) {
      const { status } = await go(other, id)
      t.is(status, may ? 200 : 404, `${name}: ${way}`)
    }
    if (!may) t.is((await ways['read']?.(maker, id))?.status, 200, `${name}: it is still there for its owner`)
  }
})

test.serial('a person who is limited to own data reads no response of others, whatever the scopes of the key', async (t) => {
  const person = await control.createUser(acme, { email: 'cat@acme.test', workspaces: { [acme.workspaceId]: 'manager' } })
  const set = (value: boolean) => control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { managersViewAllData: value } })
  t.is((await set(false)).status, 200)
  const limited = await key(['logs.view'], person)
  const { id } = await respond(await key())
  for (const [way, go] of Object.entries(ways)) t.is((await go(limited, id)).status, 404, way)
  const own = await respond(limited)
  for (const [way, go] of Object.entries(ways)) t.is((await go(limited, own.id)).status, 200, way)
  t.is((await set(true)).status, 200)
  await control.refresh()
  t.is((await ways['read']?.(limited, id))?.status, 200)
})

test.serial('the id of a request does not lead to its response', async (t) => {
  const own = await key()
  const [one, two] = [await respond(own), await respond(own)]
  t.not(one.id, two.id)
  for (const made of [one, two]) {
    t.not(made.id, formerResponseId(made.requestId))
    t.regex(made.id, /^resp_gw[0-9A-Za-z]{32}$/)
  }
})

test.serial('a response of an earlier release is open to the caller that it answered, and to no other', async (t) => {
  const [own, other] = [await key(), await key()]
  const { requestId } = await respond(own)
  const logged = async () =>
    (await control.sql.query<{ api_key_id: string }>('SELECT api_key_id FROM logs WHERE id = $1', [requestId])).rows[0]?.api_key_id
  await eventually(async () => (await logged()) !== undefined, withinMs, 'the log')
  const { deps } = control.started
  const { runtime } = await connect(deps.config.database, silent)
  const side = openSidePool(runtime, silent)
  const store = openStoredResponses({ side, seal: deps.vault.logs, log: silent, retentionDays: 1 })
  t.teardown(() => side.end())
  const { organisationId, workspaceId } = acme
  const owner = { organisationId, workspaceId, apiKeyId: randomUUID(), userId: null }
  for (const unknown of [false, true]) {
    const id = formerResponseId(unknown ? randomUUID() : requestId)
    const response = { id, object: 'response', output: [], status: 'completed' }
    await store.put(id, owner, { response, input: [{ type: 'message', role: 'user', content: 'hello' }] })
    await control.sql.query('UPDATE stored_responses SET api_key_id = NULL WHERE id = $1', [id])
    t.is((await ways['read']?.(other, id))?.status, unknown ? 200 : 404, 'without a log it belongs to the workspace')
    for (const [way, go] of Object.entries(ways)) t.is((await go(own, id)).status, 200, way)
  }
})
