// The hosts that an organisation allows itself (`settings.allowed_custom_hosts`) bind every connection to an address that its people configure.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { deliverAlerts } from '../../../src/features/alerts/deliveries.ts'
import { tellAlerts } from '../../../src/features/alerts/tell.jobs.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let server: Server
let origin: string
/** The paths that were asked for, of all tenants. */
let asked: string[] = []

test.before(async () => {
  server = createServer((request, response) => {
    asked.push(String(request.url))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  control = await startControl()
})
test.after.always(async () => {
  await control?.close()
  server?.closeAllConnections()
  server?.close()
})

interface Asking {
  readonly tenant: Tenant
  /** An address that is this tenant's alone. */
  readonly url: string
}

const admin = async ({ tenant }: Asking, method: string, path: string, body?: object) => control.call(tenant.adminKey, method, path, body)
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A chat that has to go through a check, or to a host. */
async function chat({ tenant }: Asking, headers: Readonly<Record<string, string>>, authorization = 'Bearer sk'): Promise<unknown> {
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] })
  const all = { 'x-service-api-key': tenant.workspaceKey, authorization, 'content-type': 'application/json', ...headers }
  return (await fetch(`${control.origin}/v1/chat/completions`, { method: 'POST', headers: all, body })).text()
}
const config = (value: object) => ({ 'x-service-config': JSON.stringify(value) })
const target = { provider: 'openai', api_key: 'sk' }
const guarded = (check: object) => config({ ...target, custom_host: 'https://llm.example.com/v1', input_guardrails: [check] })

async function webhook(asking: Asking): Promise<string> {
  const { body } = await admin(asking, 'POST', '/alert-webhooks', { name: 'hook', url: asking.url })
  return String(body['id'])
}

const provider = (asking: Asking) =>
  admin(asking, 'PUT', '/admin/organisation/sso', {
    type: 'oidc',
    name: 'issuer',
    issuer: asking.url,
    client_id: 'gatehouse',
    client_secret: 'secret',
    domains: [],
  })

const integration = (asking: Asking) => ({
  ai_provider_id: 'openai',
  key: 'sk',
  configurations: { custom_host: asking.url },
})

/** Every way in which people of an organisation make Gatehouse call an address of theirs. */
const ways: Readonly<Record<string, (asking: Asking) => Promise<unknown>>> = {
  'the host in a header': (asking) => chat(asking, { 'x-service-provider': 'openai', 'x-service-custom-host': asking.url }),
  'the target of a config': (asking) => chat(asking, config({ ...target, custom_host: asking.url })),
  'a target of several': (asking) =>
    chat(asking, config({ strategy: { mode: 'fallback' }, targets: [{ ...target, custom_host: asking.url }] })),
  'a webhook that checks': (asking) => chat(asking, guarded({ 'default.webhook': { webhookURL: asking.url }, deny: false })),
  'the keys of a check': (asking) =>
    chat(
      asking,
      guarded({ 'default.jwt': { jwksUri: asking.url }, deny: false }),
      `Bearer ${encoded({ alg: 'RS256', kid: 'k' })}.${encoded({})}.AA`,
    ),
  'the test of an integration': (asking) => admin(asking, 'POST', '/integrations/test', integration(asking)),
  'the test of a webhook': async (asking) => admin(asking, 'POST', `/alert-webhooks/${await webhook(asking)}/test`, {}),
  'an alert': async (asking) => {
    await webhook(asking)
    const { organisationId } = asking.tenant
    await control.sql.query(
      `INSERT INTO limit_alerts (id, organisation_id, kind, owner_kind, owner_id, value_key)
       SELECT gen_random_uuid(), $1, 'expired', 'api-key', id, '' FROM api_keys WHERE organisation_id = $1 AND workspace_id IS NOT NULL LIMIT 1`,
      [organisationId],
    )
    await tellAlerts.run(control.started.deps)
    await deliverAlerts(control.started.deps)
  },
  'the test of an identity provider': async (asking) => {
    await provider(asking)
    await admin(asking, 'POST', '/admin/organisation/sso/test', {})
  },
  'a sign-in': async (asking) => {
    await provider(asking)
    const { body } = await admin(asking, 'GET', '/admin/organisation')
    await fetch(`${control.origin}/auth/oidc/${String(body['slug'])}/login`, { redirect: 'manual' })
  },
  'the keys of an issuer of tokens': async (asking) => {
    const jwt = { jwks_url: asking.url, issuer: 'https://issuer.example', audience: 'gatehouse' }
    await admin(asking, 'PUT', '/admin/organisation', { settings: { jwt } })
    await control.refresh()
    const { organisationId: organisation_id, workspaceId: workspace } = asking.tenant
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: 'https://issuer.example', aud: 'gatehouse', sub: 's', organisation_id, workspace, iat: now, exp: now + 600 }
    const token = `${encoded({ alg: 'RS256', kid: 'k', typ: 'JWT' })}.${encoded(claims)}.${'A'.repeat(342)}`
    await fetch(`${control.origin}/v1/models`, { headers: { authorization: `Bearer ${token}` } })
  },
  'the test of a secret manager': (asking) =>
    admin(asking, 'POST', '/secret-references/test', {
      manager_type: 'hashicorp_vault',
      auth_config: { vault_auth_type: 'token', vault_addr: asking.url, vault_token: 'root' },
      secret_path: 'secret/data/llm',
    }),
}

for (const [name, go] of Object.entries(ways))
  test.serial(`${name} reaches an address only where the organisation allows its host`, async (t) => {
    for (const allowed of [true, false]) {
      const tenant = await control.createTenant(`org-${randomUUID()}`)
      const path = `/${tenant.organisationId}`
      const asking = { tenant, url: `${origin}${path}` }
      const hosts = allowed ? ['127.0.0.0/8'] : ['*.example.com']
      const set = await admin(asking, 'PUT', '/admin/organisation', { settings: { allowed_custom_hosts: hosts } })
      t.is(set.status, 200, set.text)
      await control.refresh()
      await go(asking)
      t.is(
        asked.some((one) => one.startsWith(path)),
        allowed,
        allowed ? 'the way leads there' : 'the host is not allowed',
      )
    }
  })
