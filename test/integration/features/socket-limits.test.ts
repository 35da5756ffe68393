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
