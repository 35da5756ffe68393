// Limits and rights on WebSockets: real keys of a real control plane.
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type RealtimeEmulator, startRealtime, textUsage } from '../../support/sockets/realtime-emulator.ts'
import { type Headers, openClient, refused, type SocketEvent } from '../../support/sockets/socket-client.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant
let emulator: Emulator
let provider: RealtimeEmulator
test.before(async () => {
  ;[control, emulator, provider] = await Promise.all([startControl(), startEmulator(), startRealtime()])
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
  await provider?.stop()
})

async function makeKey(limits: object, { adminKey, workspaceId }: Tenant = acme): Promise<string> {
  const body = { name: 'limited', workspace_id: workspaceId, scopes: ['completions.write'], ...limits }
  const made = await control.call(adminKey, 'POST', '/api-keys/workspace/service', body)
  if (made.status !== 200) throw new Error(made.text)
  return String(made.body['key'])
}

/** The protocols: how a turn is asked for, and how it ends. */
const protocols = [
  {
    path: '/v1/responses',
    url: () => emulator.url,
    ask: { type: 'response.create', model: 'gpt-4o', input: 'hi' },
    ends: 'response.completed',
  },
  { path: '/v1/realtime?model=gpt-realtime', url: () => provider.url, ask: { type: 'response.create' }, ends: 'response.done' },
] as const

const headers = (key: string, url: string): Headers => ({
  'x-service-api-key': key,
  'x-service-provider': 'openai',
  'x-service-custom-host': url,
  authorization: 'Bearer sk',
})

for (const { path, url, ask, ends } of protocols) {
  const end = ({ type }: SocketEvent): boolean => type === ends || type === 'error'

  test.serial(`${path}: a rate limit refuses the next turn of an open connection`, async (t) => {
    const key = await makeKey({ rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }] })
    const client = await openClient(control.origin, path, headers(key, url()))
    let event: SocketEvent | null = null
    let turns = 0
    for (; turns < 10 && event?.type !== 'error'; turns += 1) {
      client.send(ask)
      event = await client.next(end)
    }
    t.true(turns > 1 && turns <= 5, `${turns} turns`)
    t.like(event, { error: { code: '05', type: 'rate_limit_error' } })
    client.socket.close()
  })

  test.serial(`${path}: a budget in money refuses the next turn once it is used up`, async (t) => {
    // A turn of a session reserves the longest answer of its model, which is of sound.
    const key = await makeKey({ usage_limits: { type: 'cost', credit_limit: path === '/v1/responses' ? 0.005 : 1 } })
    provider.usage = { ...textUsage, input_tokens: 50_030, total_tokens: 50_060, input_token_details: { text_tokens: 50_030 } }
    const client = await openClient(control.origin, path, headers(key, url()))
    let event: SocketEvent | null = null
    const before = provider.heard.length
    let turns = 0
    for (; turns < 100 && event?.type !== 'error'; turns += 1) {
      client.send({ ...ask, ...(path === '/v1/responses' ? { max_output_tokens: 16 } : { response: { max_output_tokens: 16 } }) })
      event = await client.next(end)
    }
    t.like(event, { type: 'error' })
    t.like(event, { error: { type: 'budget_error' } })
    t.true(turns > 1, `${turns} turns`)
    if (path !== '/v1/responses') t.is(provider.heard.length - before, turns - 1, 'a refused turn does not reach the provider')
    client.socket.close()
  })

  test.serial(`${path}: hosts that are not trusted are refused before anything leaves`, async (t) => {
    const key = await makeKey({})
    for (const host of ['http://169.254.169.254/v1', 'http://10.0.0.1/v1', 'http://[::ffff:10.0.0.1]/v1']) {
      const named = headers(key, host)
      if (path === '/v1/responses') {
        const client = await openClient(control.origin, path, named)
        client.send(ask)
        t.like(await client.next(end), { type: 'error', status: 400, error: { code: 'blocked_host' } })
        client.socket.close()
      } else t.like(await refused(control.origin, path, named), { status: 400, body: { error: { code: 'blocked_host' } } })
    }
  })

  test.serial(`${path}: a key that is deleted ends its connections`, async (t) => {
    const key = await makeKey({})
    const client = await openClient(control.origin, path, headers(key, url()))
    client.send(ask)
    t.is((await client.next(end)).type, ends)
    const { rows } = await control.sql.query<{ id: string }>('SELECT id FROM api_keys ORDER BY created_at DESC LIMIT 1')
    const deleted = await control.call(acme.adminKey, 'DELETE', `/api-keys/${rows[0]?.id}`)
    t.is(deleted.status, 200, deleted.text)
    let isClosed = false
    void client.closed.then(() => (isClosed = true))
    await eventually(() => {
      if (!isClosed) client.send(ask)
      return isClosed
    }, 5000)
    t.is((await client.closed).code, 1008)
  })

  test.serial(`${path}: a provider of another organisation is none`, async (t) => {
    const slug = `private-${ends.replace('.', '-')}`
    const integration = await control.call(other.adminKey, 'POST', '/integrations', {
      name: slug,
      slug,
      ai_provider_id: 'openai',
      key: 'sk-theirs-0123456789',
    })
    t.is(integration.status, 200, integration.text)
    const key = await makeKey({})
    const named = { 'x-service-api-key': key, 'x-service-provider': `@${slug}` }
    if (path === '/v1/responses') {
      const client = await openClient(control.origin, path, named)
      client.send(ask)
      t.like(await client.next(end), { type: 'error', status: 400, error: { code: 'unknown_provider' } })
      client.socket.close()
    } else t.like(await refused(control.origin, path, named), { status: 400, body: { error: { code: 'unknown_provider' } } })
  })
}

const tell = (event: object): void => {
  for (const session of provider.open) session.send(JSON.stringify(event))
}
const transcript = {
  type: 'conversation.item.input_audio_transcription.completed',
  item_id: 'i',
  transcript: 'Hi.',
  usage: {
    type: 'tokens',
    total_tokens: 100_100,
    input_tokens: 100_000,
    input_token_details: { audio_tokens: 100_000 },
    output_tokens: 100,
  },
}
const cancelled = {
  id: 'resp_v',
  status: 'cancelled',
  usage: { total_tokens: 32_000, input_tokens: 32_000, output_tokens: 0, input_token_details: { text_tokens: 0, audio_tokens: 32_000 } },
}

/** Work that a provider does unasked, with its cost in dollars. */
const unasked: readonly (readonly [name: string, does: () => Promise<unknown>, cost: number])[] = [
  ['a transcript', async () => tell(transcript), 0.601],
  [
    'a response',
    async () => {
      tell({ type: 'response.created', response: { id: 'resp_v' } })
      await eventually(() => provider.heard.at(-1)?.type === 'response.cancel', 5000, 'the response to be cancelled')
      tell({ type: 'response.done', response: cancelled })
    },
    1.024,
  ],
]

/** Limits that refuse it: a handshake is a request. */
const refusing: readonly (readonly [name: string, limits: object, type: string])[] = [
  ['a budget in money', { usage_limits: { type: 'cost', credit_limit: 0.01 } }, 'budget_error'],
  [
    'a rate limit',
    { rate_limits: [{ type: 'requests', unit: 'rpm', value: 1 }], usage_limits: { type: 'cost', credit_limit: 1000 } },
    'rate_limit_error',
  ],
]

async function lastKey(): Promise<string> {
  const { rows } = await control.sql.query<{ id: string }>('SELECT id FROM api_keys ORDER BY created_at DESC LIMIT 1')
  return String(rows[0]?.id)
}

async function spentByLast(): Promise<number> {
  const { body } = await control.call(acme.adminKey, 'GET', `/api-keys/${await lastKey()}`)
  return (body['usage'] as { readonly spent: number }).spent
}

for (const [name, does, cost] of unasked)
  for (const [limit, limits, type] of refusing)
    test.serial(`${name} that ${limit} refuses when it is done is charged, and the session ends`, async (t) => {
      await eventually(() => provider.open.size === 0, 5000, 'the session before to end')
      provider.heard.length = 0
      const key = await makeKey(limits)
      const client = await openClient(control.origin, '/v1/realtime?model=gpt-realtime', headers(key, provider.url))
      await client.next(({ type: told }) => told === 'session.created')
      tell({ type: 'session.updated', session: { audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } } })
      await client.next(({ type: told }) => told === 'session.updated')
      await does()
      t.like(await client.next(({ type: told }) => told === 'error'), { error: { type } })
      t.is((await client.closed).code, 1008)
      await eventually(async () => Math.abs((await spentByLast()) - cost) < 1e-9, 8000, `${cost} dollars`)
      const pico = String(BigInt(Math.round(cost * 1000)) * 1_000_000_000n)
      const isLogged = async () => {
        const { rows } = await control.sql.query('SELECT FROM logs WHERE status = 200 AND cost_pico = $1 AND api_key_id = $2', [
          pico,
          await lastKey(),
        ])
        return rows.length === 1
      }
      await eventually(isLogged, 8000, 'its row with the cost')
    })

const heard = { ...textUsage, input_tokens: 32_000, output_tokens: 16, total_tokens: 32_016, input_token_details: { audio_tokens: 32_000 } }

/** Turns under a typical budget, of which each reads 32,000 tokens of sound for a dollar. */
const conversations: readonly (readonly [name: string, credit: number, atOnce: number, done: number])[] = [
  ['one after the other', 3, 1, 2],
  ['at once, before anything is known of the conversation', 1, 8, 1],
]

const endsTurn = ({ type }: SocketEvent): boolean => type === 'response.done' || type === 'error'

for (const [name, credit, atOnce, most] of conversations)
  test.serial(`a budget reserves for the conversation of a session: turns ${name}`, async (t) => {
    const key = await makeKey({ usage_limits: { type: 'cost', credit_limit: credit } })
    provider.usage = heard
    const client = await openClient(control.origin, '/v1/realtime?model=gpt-realtime', headers(key, provider.url))
    let [done, refusals] = [0, 0]
    while (refusals === 0) {
      for (let turn = 0; turn < atOnce; turn += 1) client.send({ type: 'response.create', response: { max_output_tokens: 16 } })
      for (let turn = 0; turn < atOnce; turn += 1) {
        const { type } = await client.next(endsTurn)
        if (type === 'error') refusals += 1
        else done += 1
      }
    }
    t.is(done, most)
    client.socket.close()
  })
