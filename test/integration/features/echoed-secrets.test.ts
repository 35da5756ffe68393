import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

/** The parts of a request that a tenant's host repeats, at every door of the control plane through which its words come back. */
let control: Control
let acme: Tenant
let url: string
let status = 401
/** The repeated text in place of the request; empty: the request. */
let said = ''

/** Repeats the request in every field that is read: as it came, and in base64. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const sent = `${request.rawHeaders.join(' ')} ${request.url} ${await text(request)}`
  const basic = Buffer.from(String(request.headers.authorization).replace(/^Basic /, ''), 'base64').toString()
  const words = said || `${sent} ${basic} ${Buffer.from(sent).toString('base64')} ${encodeURIComponent(sent)}`
  // A machine-readable code, as issuers give it.
  const code = (said === '' ? /canary-code-\d+/.exec(`${sent} ${basic}`)?.[0] : undefined) ?? 'invalid'
  const body = {
    error: status === 400 ? code : { message: words, type: code, code },
    error_description: words,
    message: words,
    errors: [words],
    data: [{ id: words, object: 'model' }],
    verdict: false,
    object: 'list',
    violations_detected: true,
    deputies: { [words]: true },
  }
  response.writeHead(status, { 'content-type': 'application/json', 'www-authenticate': `Bearer error="${code}"`, 'x-request-id': code })
  response.end(JSON.stringify(status === 200 && request.url?.includes('hook') === true ? { ...body, data: words } : body))
}

const server = createServer((request, response) => void echo(request, response))

test.before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(async () => {
  await control?.close()
  server.closeAllConnections()
  server.close()
})

let planted = 0
const canary = (): string => `canary-code-${(planted += 1)}00000000`

interface Door {
  readonly method?: string
  readonly path: string | (() => Promise<string>)
  readonly body: unknown
}

const call = (method: string, path: string, body?: unknown) => control.call(acme.adminKey, method, path, body)

async function made(path: string, body: unknown, under: (id: string) => string): Promise<string> {
  const answer = await call('POST', path, body)
  if (answer.status !== 200) throw new Error(answer.text)
  return under(String(answer.body['id']))
}

const chat = 'a text to be judged'
/** The doors, each with secrets of its own. */
const doors: Readonly<Record<string, () => Door>> = {
  'an account of a provider': () => ({
    path: '/integrations/test',
    body: { ai_provider_id: 'openai', key: canary(), configurations: { custom_host: `${url}/v1`, custom_headers: { 'x-own': canary() } } },
  }),
  'an account whose key stands in a header of another name': () => ({
    path: '/integrations/test',
    body: { ai_provider_id: 'anthropic', key: canary(), configurations: { custom_host: `${url}/v1` } },
  }),
  'an account whose key stands in the query': () => ({
    path: '/integrations/test',
    body: { ai_provider_id: 'google', key: canary(), configurations: { custom_host: url } },
  }),
  'a stored account': () => ({
    path: () =>
      made(
        '/integrations',
        { name: 's', ai_provider_id: 'openai', key: canary(), configurations: { custom_host: `${url}/v1` } },
        (id) => `/integrations/${id}/test`,
      ),
    body: {},
  }),
  'Vault by a token': () => ({
    path: '/secret-references/test',
    body: {
      manager_type: 'hashicorp_vault',
      auth_config: { vault_auth_type: 'token', vault_addr: url, vault_token: canary() },
      secret_path: 'secret/a',
    },
  }),
  'Vault by AppRole': () => ({
    path: '/secret-references/test',
    body: {
      manager_type: 'hashicorp_vault',
      auth_config: { vault_auth_type: 'approle', vault_addr: url, vault_role_id: 'role', vault_secret_id: canary() },
      secret_path: 'secret/a',
    },
  }),
  'a webhook of alerts': () => ({
    path: () => made('/alert-webhooks', { name: 'w', url: `${url}/services/${canary()}` }, (id) => `/alert-webhooks/${id}/test`),
    body: {},
  }),
  'a webhook of a guardrail': () => ({
    path: '/guardrails/test',
    body: {
      text: chat,
      checks: [
        {
          id: 'default.webhook',
          parameters: { webhookURL: `${url}/hook`, headers: { authorization: `Bearer ${canary()}`, 'x-own': canary() } },
        },
      ],
      actions: { onFail: 'block' },
    },
  }),
  'a webhook of a guardrail whose URL is its credential': () => ({
    path: '/guardrails/test',
    body: {
      text: chat,
      checks: [{ id: 'default.webhook', parameters: { webhookURL: `${url}/hook/${canary()}?key=${canary()}` } }],
      actions: { onFail: 'block' },
    },
  }),
  'a partner of guardrails': () => ({
    path: '/guardrails/test',
    body: {
      text: chat,
      checks: [{ id: 'lasso.classify', parameters: { credentials: { apiKey: canary(), apiEndpoint: url } } }],
      actions: { onFail: 'block' },
    },
  }),
}

for (const [name, door] of Object.entries(doors))
  for (const answered of [401, 400, 403, 500, 200])
    test.serial(`${name} answers ${answered} and repeats what it was sent`, async (t) => {
      const first = planted
      const { method = 'POST', path, body } = door()
      const target = typeof path === 'string' ? path : await path()
      status = answered
      const answer = await call(method, target, body)
      t.is(answer.status, 200, answer.text)
      t.true(planted > first)
      for (let at = first + 1; at <= planted; at += 1) {
        const secret = `canary-code-${at}00000000`
        for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(` ${secret}`).toString('base64').slice(4, 20)])
          t.false(answer.text.includes(form), `${form}: ${answer.text.slice(0, 2000)}`)
      }
    })

/** The ways in which a provider may write a key that it refuses. */
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'for a URL': (secret) => encodeURIComponent(secret),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
}

for (const [how, spell] of Object.entries(spellings))
  test.serial(`the log of a request has no key that the provider repeats ${how}`, async (t) => {
    const [secret, header] = [`odd"key/${canary()}\\end`, `odd "header" ${canary()}`]
    const slug = `odd-${planted}`
    const configurations = { custom_host: `${url}/v1`, custom_headers: { 'x-own': header } }
    const body = { name: slug, slug, ai_provider_id: 'openai', key: secret, configurations, default_provider_slug: slug }
    t.is((await call('POST', '/integrations', body)).status, 200)
    await control.refresh()
    said = `${spell(secret)} ${spell(header)}`
    status = 401
    const response = await fetch(`${control.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-service-api-key': acme.workspaceKey, 'x-service-provider': `@${slug}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: slug }] }),
    })
    said = ''
    t.true((await response.text()).includes('canary-code'), 'the answer is given as it came')
    const id = response.headers.get('x-service-request-id') ?? ''
    await eventually(async () => (await control.call(acme.workspaceKey, 'GET', `/logs/${id}`)).status === 200, 15_000, 'the log')
    const { text: log } = await control.call(acme.workspaceKey, 'GET', `/logs/${id}`)
    t.true(log.includes('[removed]'), log)
    t.notRegex(log, /canary-code/)
  })

test.serial('nothing of it is stored where it can be read', async (t) => {
  const listed = await Promise.all(
    ['/audit-logs?page_size=100', '/alerts', '/alert-webhooks', '/secret-references', '/integrations'].map((path) => call('GET', path)),
  )
  const stored = await control.dump()
  for (const { text: shown } of listed) t.notRegex(shown, /canary-code-/)
  // The URL of a webhook is stored whole, since events are sent there.
  t.notRegex(stored.replaceAll(/\/services\/canary-code-\d+/g, ''), /canary-code-/)
})
