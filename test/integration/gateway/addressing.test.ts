import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  bed = await startGateway({
    providers: { mine: { customHost: emulator.url }, claude: { provider: 'anthropic', customHost: emulator.url } },
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

const keyOnly = { 'x-service-api-key': workspaceKey }
const mine = { ...keyOnly, 'x-service-provider': '@mine' }

const found = test.macro<[Readonly<Record<string, string>>, string | undefined]>({
  async exec(t, headers, authorization) {
    const answer = await send(`${bed.origin}/v1/models`, { headers })
    t.is(answer.status, 200, answer.text)
    const last = emulator.requests.findLast((request) => request.url === '/v1/models')
    t.is(last?.headers.authorization ?? last?.headers['x-api-key']?.toString(), authorization)
    t.false(JSON.stringify(last?.rawHeaders).includes(workspaceKey))
  },
  title: (name = '') => `found: ${name}`,
})

test.serial('key in its header, provider by slug', found, mine, 'Bearer sk-stored-mine')
test.serial('key as bearer', found, { authorization: `Bearer ${workspaceKey}`, 'x-service-provider': '@mine' }, 'Bearer sk-stored-mine')
test.serial('key in x-api-key', found, { 'x-api-key': workspaceKey, 'x-service-provider': '@mine' }, 'Bearer sk-stored-mine')
test.serial('key in api-key', found, { 'api-key': workspaceKey, 'x-service-provider': '@mine' }, 'Bearer sk-stored-mine')
test.serial(
  'a dummy bearer, then x-api-key',
  found,
  { authorization: 'Bearer DUMMY-KEY', 'x-api-key': workspaceKey, 'x-service-provider': '@mine' },
  'Bearer sk-stored-mine',
)
test.serial('a virtual key', found, { ...keyOnly, 'x-service-virtual-key': 'mine' }, 'Bearer sk-stored-mine')
test.serial('an empty provider, and one in the model', async (t) => {
  const body = JSON.stringify({ model: '@mine/m', messages: [{ role: 'user', content: 'hi' }] })
  const headers = { ...keyOnly, 'x-service-provider': '', 'content-type': 'application/json' }
  const answer = await send(`${bed.origin}/v1/chat/completions`, { method: 'POST', headers, body })
  t.is(answer.status, 200, answer.text)
})
test.serial('an alias', found, { 'x-portkey-api-key': workspaceKey, 'x-portkey-virtual-key': 'mine' }, 'Bearer sk-stored-mine')
test.serial('another kind of credential', found, { ...keyOnly, 'x-service-provider': '@claude' }, 'sk-stored-claude')

test.serial("a custom host with the caller's own credential", async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, {
    headers: { ...keyOnly, 'x-service-provider': 'openai', authorization: 'Bearer sk-own', 'x-service-custom-host': emulator.url },
  })
  t.is(answer.status, 200)
  t.is(emulator.requests.at(-1)?.headers.authorization, 'Bearer sk-own')
})

test.serial('a custom host that needs no credential', async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, {
    headers: { ...keyOnly, 'x-service-provider': 'ollama', 'x-service-custom-host': emulator.url },
  })
  t.is(answer.status, 200)
  t.is(emulator.requests.at(-1)?.headers.authorization, undefined)
})

test.serial('the same host as the stored one may be named', async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, { headers: { ...mine, 'x-service-custom-host': emulator.url } })
  t.is(answer.status, 200)
})
