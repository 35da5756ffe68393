// The first requests after a start have the same cost as all later ones, also where only a list of the operator's has their model.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator
const asked: string[] = []

/** A list in cents a token: a dollar for a thousand tokens. */
const list = JSON.stringify({
  default: {},
  'only-listed': { pricing_config: { pay_as_you_go: { request_token: { price: 0.1 }, response_token: { price: 0.1 } } } },
  'gpt-4o-mini': { pricing_config: { pay_as_you_go: { request_token: { price: 0.000_03 }, response_token: { price: 0.000_12 } } } },
})
const service = createServer((request, response) => {
  asked.push(String(request.url))
  // Later than a request that does not wait for it.
  setTimeout(() => response.writeHead(request.url === '/pricing/openai' ? 200 : 404).end(list), 100)
})

const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
test.before(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  emulator = await startEmulator()
  emulator.script({
    behaviour: { body: JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage }) },
  })
  const { port } = service.address() as AddressInfo
  const env = { MODEL_CONFIGS_PROXY_FETCH_ENABLED: 'ON', MODEL_CONFIGS_PROXY_URL: `http://127.0.0.1:${port}` }
  control = await startControl({}, env)
  acme = await control.createTenant('acme')
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
  service.closeAllConnections()
  service.close()
})

const ask = (secret: string, model: string, origin = control.origin) =>
  send(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': secret,
      'content-type': 'application/json',
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      authorization: 'Bearer sk',
    },
    body: JSON.stringify({ model, messages: [], max_tokens: 10 }),
  })

async function makeKey(): Promise<string> {
  const body = { name: 'limited', workspace_id: acme.workspaceId, scopes: ['completions.write'], usage_limits: { credit_limit: 5 } }
  const made = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', body)
  if (made.status !== 200) throw new Error(made.text)
  return String(made.body['key'])
}

test.serial('the first requests under a budget wait for the list that alone has their model', async (t) => {
  const secret = await makeKey()
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(secret, 'only-listed')))
  for (const { status, text } of answers) t.is(status, 200, text)
})

test.serial('the first requests of a process without a budget are priced by the list, and not by the catalogue below it', async (t) => {
  const origin = await control.openBeside()
  const answers = await Promise.all(Array.from({ length: 3 }, () => ask(acme.workspaceKey, 'gpt-4o-mini', origin)))
  const ids = answers.map(({ status, headers }) => (t.is(status, 200), String(headers['x-service-request-id'])))
  await eventually(async () => {
    const { rows } = await control.sql.query<{ cost: string }>(
      'SELECT cost_pico::text AS cost FROM logs WHERE id::text = ANY($1) AND cost_pico IS NOT NULL',
      [ids],
    )
    if (rows.length === 3) t.deepEqual([...new Set(rows.map(({ cost }) => cost))], [String(10 * 300_000 + 10 * 1_200_000)])
    return rows.length === 3
  }, 20_000)
})

test.serial('the lists of stored providers are read at the start, before any request', async (t) => {
  const fields = { name: 'g', provider: 'groq', key: 'sk' }
  t.is((await control.call(acme.workspaceKey, 'POST', '/virtual-keys', fields)).status, 200)
  asked.length = 0
  await control.openBeside()
  await eventually(() => asked.includes('/pricing/groq'), 20_000)
})
