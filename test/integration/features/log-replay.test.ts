import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant
let rival: Tenant
const folder = join(tmpdir(), `gatehouse-replay-${process.pid}`)

test.before(async () => {
  emulator = await startEmulator()
  // With the role `jobs` bodies are moved, so that a replay reads them from the log store.
  control = await startControl({}, { LOG_STORE: 'local', LOG_STORE_LOCAL_PATH: folder, ROLES: 'gateway,control,jobs' })
  ;[acme, rival] = [await control.createTenant('acme'), await control.createTenant('rival')]
  const account = {
    name: 'p',
    slug: 'p',
    ai_provider_id: 'openai',
    key: 'sk-stored',
    configurations: { custom_host: emulator.url },
    default_provider_slug: 'p',
  }
  const { status, text } = await control.call(acme.adminKey, 'POST', '/integrations', account)
  if (status !== 200) throw new Error(text)
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
  await rm(folder, { recursive: true, force: true })
})

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}, key = acme.workspaceKey): Promise<RawAnswer> {
  return send(`${control.origin}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': key, ...headers },
    body: JSON.stringify(body),
  })
}

const replay = (id: string, body: unknown = {}, key = acme.workspaceKey): Promise<RawAnswer> => post(`/logs/${id}/replay`, body, {}, key)
const idOf = ({ headers }: RawAnswer): string => String(headers['x-service-request-id'])

interface Row {
  readonly api_key_id: string
  readonly trace_id: string
  readonly metadata: Readonly<Record<string, string>>
  readonly object_key: string | null
  readonly status: number
}

/** The row of a log whose body has gone to the log store. */
async function moved(id: string): Promise<Row> {
  const found: Row[] = []
  await eventually(async () => {
    const { rows } = await control.sql.query<Row>(
      'SELECT l.api_key_id, l.trace_id, l.metadata, l.status, b.object_key FROM logs l JOIN log_bodies b USING (id) WHERE l.id = $1',
      [id],
    )
    found.splice(0, 1, ...rows)
    return rows[0]?.object_key != null
  }, 15_000)
  const [row] = found
  if (row === undefined) throw new Error(id)
  return row
}

async function logged(body: unknown = chat, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await post('/chat/completions', body, { 'x-service-provider': '@p', ...headers })
  const id = idOf(answer)
  await moved(id)
  return id
}

test.serial(
  'a logged request goes again with its body from the log store, is logged as the caller’s, and says of which log it is',
  async (t) => {
    const headers = { 'x-service-trace-id': 'trace-1', 'x-service-metadata': '{"team":"blue"}', 'x-own': 'kept' }
    const id = await logged(chat, headers)
    const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['logs.view', 'completions.write'] })
    const arrived = emulator.next('/chat/completions')
    const answer = await replay(id, {}, key)
    t.is(answer.status, 200, answer.text)
    t.is((JSON.parse(answer.text) as Record<string, unknown>)['object'], 'chat.completion')
    const { body, headers: sent } = await arrived
    t.deepEqual(JSON.parse(body.toString()), chat)
    t.is(sent['authorization'], 'Bearer sk-stored')
    t.is(sent['x-own'], 'kept')
    const [first, second] = [await moved(id), await moved(idOf(answer))]
    t.deepEqual(second.metadata, { team: 'blue', _replay_of: id })
    t.not(second.api_key_id, first.api_key_id)
    t.not(second.trace_id, 'trace-1')
    t.not(idOf(answer), id)
  },
)

test.serial('fields and headers can be different; an answer streams as it comes', async (t) => {
  const id = await logged({ ...chat, seed: 1 })
  const arrived = emulator.next('/chat/completions')
  const answer = await replay(id, { body: { stream: true, seed: null, model: 'other' }, headers: { 'x-service-trace-id': 'mine' } })
  t.is(answer.headers['content-type']?.split(';')[0], 'text/event-stream')
  t.regex(answer.text, /data: \[DONE\]/)
  t.deepEqual(JSON.parse((await arrived).body.toString()), { ...chat, model: 'other', stream: true })
  t.is((await moved(idOf(answer))).trace_id, 'mine')
})

test.serial('a caller who leaves ends the call to the provider', async (t) => {
  const id = await logged()
  const remove = emulator.script({ path: '/chat/completions', behaviour: { delayMs: 60_000 } })
  const left = emulator.onClose('/chat/completions')
  const arrived = emulator.next('/chat/completions')
  const abort = new AbortController()
  const call = fetch(`${control.origin}/v1/logs/${id}/replay`, {
    method: 'POST',
    headers: { 'x-service-api-key': acme.workspaceKey, 'content-type': 'application/json' },
    body: '{}',
    signal: abort.signal,
  })
  await arrived
  abort.abort()
  await t.throwsAsync(call)
  await left
  remove()
  t.pass()
})

test.serial('the answer of a provider that fails is given as it is', async (t) => {
  const id = await logged()
  const remove = emulator.script({ path: '/chat/completions', behaviour: { status: 429 }, times: 1 })
  t.is((await replay(id)).status, 429)
  remove()
})

test.serial('refused: what one may not read, may not send, or cannot be sent', async (t) => {
  const id = await logged()
  const notKept = await logged(chat, { 'x-service-debug': 'false' })
  const reader = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['logs.view'] })
  const blind = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['completions.write'] })
  const before = emulator.requests.length
  const cases: readonly (readonly [answer: RawAnswer, status: number, words: RegExp])[] = [
    [await replay(id, {}, rival.workspaceKey), 404, /log/],
    [await replay(id, {}, acme.sideKey), 404, /log/],
    [await replay(crypto.randomUUID()), 404, /log/],
    [await replay('nonsense'), 404, /log/],
    [await replay(id, {}, blind), 403, /logs\.view/],
    [await replay(id, {}, reader), 403, /completions\.write/],
    [await replay(id, {}, acme.adminKey), 403, /completions\.write/],
    [await replay(notKept), 400, /not kept/],
    [await replay(id, { headers: { authorization: 'Bearer x' } }), 400, /credentials/],
    [await replay(id, { else: 1 }), 400, /else/],
    [await post(`/logs/${id}/replay`, {}, { 'idempotency-key': 'k' }), 400, /leave Idempotency-Key out/],
  ]
  for (const [{ status, text }, expected, words] of cases) {
    t.is(status, expected, text)
    t.regex(text, words)
  }
  t.is(emulator.requests.length, before)
})
