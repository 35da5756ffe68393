import test from 'ava'
import { features } from '../../../src/features/index.ts'
import { callersOf, wholePath } from '../../../src/app/route.ts'
import { startEmulator, type Emulator } from '../../support/emulator/emulator.ts'
import { startIssuer, type Issuer } from '../../support/issuer.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { addPerson, browse, signIn, type Browser } from '../../support/people.ts'
import { startControl, type Control, type Tenant } from '../features/setup.ts'

let control: Control
let emulator: Emulator
let issuer: Issuer
let tenant: Tenant
let owner: Browser
let prompt: string

test.before(async () => {
  ;[control, emulator, issuer] = await Promise.all([startControl({}, { API_ACCESS_ENABLED: 'OFF' }), startEmulator(), startIssuer()])
  tenant = await control.createTenant('acme')
  const person = await addPerson({ deps: control.started.deps }, { organisationId: tenant.organisationId, role: 'owner' })
  owner = await signIn({ deps: control.started.deps }, person)
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  await manage('POST', '/v1/integrations', { ...account, default_provider_slug: 'p' })
  const { id } = JSON.parse((await manage('POST', '/v1/collections', { name: 'Folder' })).text) as { id: string }
  prompt = (JSON.parse((await manage('POST', '/v1/prompts', { ...greeting, collection_id: id })).text) as { slug: string }).slug
  await manage('PUT', '/v1/admin/organisation', {
    settings: { jwt: { jwks_url: issuer.url, issuer: 'https://issuer.example', audience: 'gatehouse' } },
  })
  await control.refresh()
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
  issuer?.close()
})

const greeting = {
  name: 'greet',
  string: JSON.stringify([{ role: 'user', content: 'Hello {{name}}' }]),
  parameters: {},
  virtual_key: 'p',
  model: 'm',
}

async function manage(method: string, path: string, body?: unknown): Promise<RawAnswer> {
  const answer = await browse({ baseUrl: control.origin }, owner, {
    method,
    path,
    headers: { 'x-service-workspace': 'main' },
    ...(body !== undefined && { body }),
  })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

const token = () =>
  issuer.sign({
    iss: 'https://issuer.example',
    aud: 'gatehouse',
    organisation_id: tenant.organisationId,
    workspace_slug: 'main',
    sub: 'robot-1',
    scope: 'completions.write prompts.render prompts.list',
    iat: Math.floor(Date.now() / 1000),
    exp: Math.floor(Date.now() / 1000) + 600,
  })

const callers = { 'admin key': () => tenant.adminKey, 'workspace key': () => tenant.workspaceKey, token } as const

const ask = (secret: string, method: string, path: string, body?: unknown): Promise<RawAnswer> =>
  send(`${control.origin}${path}`, {
    method,
    headers: {
      'x-service-api-key': secret,
      'x-service-provider': '@p',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const isOff = ({ status, text }: RawAnswer) =>
  status === 404 && text.includes('"feature_unavailable"') && text.includes('"flag":"API_ACCESS_ENABLED"')

const rendering = 'POST /v1/prompts/:promptId/render'
const routes = features
  .flatMap((feature) => feature.routes)
  .filter((route) => route.identify === undefined && callersOf(route).includes('key'))

for (const [name, secret] of Object.entries(callers))
  test(`${name}: every operation of the control plane is off but the rendering of prompts`, async (t) => {
    const open: string[] = []
    for (const route of routes) {
      const path = wholePath(route).replaceAll(/:\w+/g, 'x')
      if (!isOff(await ask(secret(), route.method, path, route.method === 'GET' ? undefined : {})))
        open.push(`${route.method} ${wholePath(route)}`)
    }
    t.deepEqual(open, [rendering])
    t.true(routes.length > 150, `${routes.length}`)
  })

interface Row {
  readonly who: keyof typeof callers
  /** `{prompt}` stands for the slug of the prompt. */
  readonly path: string
  readonly body?: unknown
  readonly status: number
}

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const render = { variables: { name: 'Ana' } }
const serves: readonly Row[] = [
  { who: 'workspace key', path: '/v1/chat/completions', body: chat, status: 200 },
  { who: 'token', path: '/v1/chat/completions', body: chat, status: 200 },
  { who: 'workspace key', path: '/v1/models', status: 200 },
  { who: 'workspace key', path: '/v1/prompts/{prompt}/render', body: render, status: 200 },
  { who: 'token', path: '/v1/prompts/{prompt}/render', body: render, status: 200 },
  { who: 'workspace key', path: '/v1/prompts/{prompt}/completions', body: render, status: 200 },
]

for (const { who, path, body, status } of serves)
  test(`${who}: ${path} serves`, async (t) => {
    const answer = await ask(callers[who](), body === undefined ? 'GET' : 'POST', path.replace('{prompt}', prompt), body)
    t.is(answer.status, status, answer.text)
  })

test('a key that nobody has is told nothing else', async (t) => {
  t.true(isOff(await ask('gh-nobody-has-this-key-0000000000000', 'GET', '/v1/configs')))
})

test('without a credential people are asked to sign in', async (t) => {
  const answer = await send(`${control.origin}/v1/configs`)
  t.is(answer.status, 401, answer.text)
  t.regex(answer.text, /Sign in first/)
})

for (const path of ['/v1/configs', '/v1/admin/organisation', '/v1/logs', '/auth/me', '/v1/audit-logs'])
  test(`session: ${path} serves`, async (t) => {
    const answer = await manage('GET', path)
    t.is(answer.status, 200)
  })

test('a provisioning client keeps its token', async (t) => {
  const made = JSON.parse((await manage('POST', '/v1/scim/tokens', { name: 'okta' })).text) as { token: string }
  const answer = await send(`${control.origin}/scim/v2/Users`, { headers: { authorization: `Bearer ${made.token}` } })
  t.is(answer.status, 200, answer.text)
})
