import test from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { corpusResolver, ssrfCorpus } from '../../support/ssrf-corpus.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl({
    egress: createEgress({ trustedHosts: [], connectTimeoutMs: 500, dnsCacheMs: 0, resolve: corpusResolver() }),
  })
  acme = await control.createTenant('acme')
})
test.after.always(() => control.close())

const vertex = { vertex_auth_type: 'serviceAccount', vertex_region: 'global' }
const account = { client_email: 'a@b', private_key: 'pem' }

/** Every field of the control plane that takes a URL which the gateway will call. */
const fields: Readonly<Record<string, (url: string) => readonly [path: string, body: object]>> = {
  'custom_host of an integration': (url) => ['/integrations', { ai_provider_id: 'openai', configurations: { custom_host: url } }],
  'custom_host of a virtual key': (url) => ['/virtual-keys', { provider: 'openai', configurations: { custom_host: url } }],
  azure_foundry_url: (url) => [
    '/integrations',
    { ai_provider_id: 'azure-ai', configurations: { azure_auth_mode: 'default', azure_foundry_url: url } },
  ],
  huggingface_base_url: (url) => ['/integrations', { ai_provider_id: 'huggingface', configurations: { huggingface_base_url: url } }],
  'custom_host of a config': (url) => ['/configs', { config: { provider: 'openai', custom_host: url } }],
  'custom_host of a target': (url) => [
    '/configs',
    { config: { strategy: { mode: 'single' }, targets: [{ provider: 'openai', custom_host: url }] } },
  ],
  'webhookURL of a guardrail': (url) => [
    '/guardrails',
    { checks: [{ id: 'default.webhook', parameters: { webhookURL: url } }], actions: { onFail: 'block' } },
  ],
  'jwksUri of a guardrail': (url) => [
    '/guardrails',
    { checks: [{ id: 'default.jwt', parameters: { jwksUri: url } }], actions: { onFail: 'block' } },
  ],
  'webhookURL in a config': (url) => ['/configs', { config: { input_guardrails: [{ 'default.webhook': { webhookURL: url } }] } }],
  token_uri: (url) => [
    '/integrations',
    { ai_provider_id: 'vertex-ai', configurations: { ...vertex, vertex_service_account_json: { ...account, token_uri: url } } },
  ],
}

for (const [name, toBody] of Object.entries(fields)) {
  test(`${name} takes a public URL`, async (t) => {
    const [path, body] = toBody('https://public.ssrf.test/v1')
    const answer = await control.call(acme.adminKey, 'POST', path, { name: `good ${name}`, ...body })
    t.is(answer.status, 200, answer.text)
  })

  test.serial(`${name} takes none of the corpus`, async (t) => {
    for (const { url, why } of ssrfCorpus) {
      const [path, body] = toBody(url)
      const answer = await control.call(acme.adminKey, 'POST', path, { name: 'evil', ...body })
      t.is(answer.status, 400, `${url} (${why}): ${answer.text}`)
    }
    const { rows } = await control.sql.query(
      `SELECT 1 FROM integrations WHERE name = 'evil' UNION ALL SELECT 1 FROM configs WHERE name = 'evil' UNION ALL SELECT 1 FROM guardrails WHERE name = 'evil'`,
    )
    t.deepEqual(rows, [])
  })

  test.serial(`a change cannot bring a bad ${name} in either`, async (t) => {
    const [path, body] = toBody('https://public.ssrf.test/v1')
    const slug = `changing-${name.replaceAll(/\W/g, '-')}`
    await control.call(acme.adminKey, 'POST', path, { name: slug, ...(/configs|guardrails/.test(path) && { slug }), ...body })
    for (const { url, why } of ssrfCorpus.slice(0, 20)) {
      const [, changed] = toBody(url)
      const { configurations, config, checks } = changed as { configurations?: object; config?: object; checks?: object }
      const change = configurations === undefined ? { config, checks } : { key: 'k', configurations }
      const answer = await control.call(acme.adminKey, 'PUT', `${path}/${slug}`, change)
      t.is(answer.status, 400, `${url} (${why}): ${answer.text}`)
    }
  })
}
