import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProjectPath } from '../../../src/app/database/project-path.ts'
import { startApp, type TestApp } from '../app.ts'
import { inDatabase } from '../database.ts'
import { startEmulator } from '../emulator/emulator.ts'
import { eventually } from '../eventually.ts'
import { startStub } from '../mcp-stub.ts'
import { startFakeVault } from '../secret-managers.ts'
import { type Example, mapTexts, type Names, neutral, providerUrl, replaced, vaultUrl } from './story.ts'

export const examplesPath = join(findProjectPath('assets/docs') ?? '', 'examples.json')

/** All examples of the description. */
export const readExamples = (): readonly Example[] => JSON.parse(readFileSync(examplesPath, 'utf8')) as readonly Example[]

/** The answer to an example in this run, without the values that no example shows. */
export interface Told {
  readonly status: number
  readonly type: string
  readonly answer: unknown
}

/** A product that runs examples. */
export interface Listener {
  readonly names: Names
  /** Sends the request of an example, to the product as it is after all examples before. */
  tell(example: Example): Promise<Told>
  /** Sends a request once, and takes its answer. */
  ask(example: Example): Promise<Told>
  readonly app: TestApp
  stop(): Promise<void>
}

/** A provider's answer of unknown shape to the gateway. */
const store = JSON.stringify({ id: 'vs_abc123', object: 'vector_store', name: 'Handbook' })

/** Waits for the gateway's writes after its answer. */
async function untilListed(tell: () => Promise<Told>): Promise<Told> {
  let told = await tell()
  await eventually(async () => JSON.stringify((told = await tell()).answer).includes('"total":1'), 15_000)
  return told
}

/** Waits until the database has every log: a draft is tried on those that are there. */
const untilShipped = (app: TestApp): Promise<number> => {
  const shipped = async () => /^gateway_log_spool_records(?:\{.*\})? 0$/m.test(await (await fetch(`${app.baseUrl}/metrics`)).text())
  return eventually(shipped, 15_000, 'the logs in the database')
}

/** Starts the export that was stopped before, and waits for its file. */
async function untilExported(example: Example, tell: (example: Example) => Promise<Told>): Promise<Told> {
  await tell({ ...example, operation: 'POST /logs/exports/{exportId}/start' })
  let told = await tell(example)
  await eventually(async () => (told = await tell(example)).status === 200, 15_000, 'the export')
  return told
}

/** Returns the headers by which the caller of an example is known. */
export type ShowCaller = (app: TestApp, example: Example) => Readonly<Record<string, string>>

/** Cohere's answer to a request for an order of documents. */
const ranking = {
  id: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f',
  results: [{ index: 0, relevance_score: 0.92 }],
  meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
}

const mcpUrl = 'https://mcp.example/mcp'

/** The only tool of the MCP server. */
const searchTool = {
  name: 'search_issues',
  description: 'Finds issues by their words.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  annotations: { readOnlyHint: true },
}

/** Starts a product with a provider. Callers show the keys of the first start, unless `show` names others. */
export async function startListener(show: ShowCaller = keyFor, env: Readonly<Record<string, string>> = {}): Promise<Listener> {
  const [emulator, vault, mcp] = await Promise.all([startEmulator(), startFakeVault(), startStub('modern')])
  mcp.tools = [searchTool]
  mcp.serverInfo = { name: 'tracker', version: '2.1.0', title: 'Issue tracker' }
  vault.put('secret/openai', { api_key: 'sk-your-openai-key' })
  emulator.script({ path: '/vector_stores', behaviour: { status: 200, headers: { 'content-type': 'application/json' }, body: store } })
  const json = { 'content-type': 'application/json' }
  emulator.script({ path: '/rerank', behaviour: { status: 200, headers: json, body: JSON.stringify(ranking) } })
  const discovery = {
    issuer: emulator.url,
    authorization_endpoint: `${emulator.url}/authorize`,
    token_endpoint: `${emulator.url}/token`,
    jwks_uri: `${emulator.url}/keys`,
  }
  emulator.script({ path: '/.well-known/openid-configuration', behaviour: { status: 200, headers: json, body: JSON.stringify(discovery) } })
  emulator.script({ path: '/keys', behaviour: { status: 200, headers: json, body: JSON.stringify({ keys: [{ kty: 'EC', use: 'sig' }] }) } })
  const app = await startApp({ env: { LOG_LEVEL: 'warn', PUBLIC_URL: 'https://gateway.example', ...env } })
  const names: Names = new Map([
    [providerUrl, emulator.url],
    [vaultUrl, vault.url],
    [mcpUrl, mcp.url],
    ['hvs.your-vault-token', vault.rootToken],
  ])
  const hosts = {
    [emulator.url]: providerUrl,
    [vault.url]: vaultUrl,
    [mcp.url]: mcpUrl,
    [emulator.origin]: new URL(providerUrl).origin,
    [app.baseUrl]: 'https://gateway.example',
    [new URL(app.baseUrl).host]: 'gateway.example',
  }
  const tell = async (example: Example): Promise<Told> => {
    const { answer, ...told } = await ask(app, { example, names, show })
    return { ...told, answer: mapTexts(answer, (text) => neutral(text, hosts)) }
  }
  return {
    names,
    app,
    ask: tell,
    async tell(example) {
      if (example.operation.endsWith('/{policyUsageLimitsId}/entities')) await countUsage(app)
      if (example.operation.endsWith('/preview')) await untilShipped(app)
      if (example.operation === 'GET /scim/groups') await addGroup(app)
      if (example.operation === 'GET /mcp-sign-ins') await addSignIn(app)
      if (example.operation === 'GET /breakers') return untilListed(() => tell(example))
      if (example.operation === 'GET /logs/exports/{exportId}/download') return untilExported(example, tell)
      if (!example.operation.startsWith('GET /logs')) return tell(example)
      let told: Told | null = null
      const found = async () => {
        told = await tell(example)
        return !JSON.stringify(told.answer).includes('"data":[]')
      }
      await eventually(found, 10_000, 'the log')
      return told ?? tell(example)
    },
    stop: () => end(app, [emulator, vault, mcp]),
  }
}

async function end(app: TestApp, others: readonly { stop(): Promise<void> }[]): Promise<void> {
  await app.stop()
  await Promise.all(others.map((other) => other.stop()))
}

interface Asking {
  readonly example: Example
  readonly names: Names
  readonly show: ShowCaller
}

async function ask(app: TestApp, { example, names, show }: Asking): Promise<Told> {
  const { operation, path = {}, query = {}, headers = {}, body, form } = example
  const [method = '', template = ''] = operation.split(' ')
  const place = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => names.get(path[name] ?? '') ?? path[name] ?? '')
  const url = new URL(`${app.baseUrl}/v1${place}`)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, `${replaced(value, names) as string | number | boolean}`)
  const response = await fetch(url, {
    method,
    headers: {
      ...show(app, example),
      ...(replaced(headers, names) as Record<string, string>),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(replaced(body, names)) }),
    ...(form !== undefined && { body: toForm(form) }),
  })
  return read(response)
}

export function keyFor({ adminKey, workspaceKey }: TestApp, { operation, as }: Example): Record<string, string> {
  if (as === 'nobody') return {}
  const managed = as === 'admin' || /^\w+ \/(?:admin|organisations)(?:\/|$)/.test(operation)
  return { 'x-service-api-key': managed ? adminKey : workspaceKey }
}

function toForm(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (value.startsWith('@')) form.set(name, new Blob(['{"custom_id":"1"}\n']), value.slice(1))
    else form.set(name, value)
  return form
}

async function read(response: Response): Promise<Told> {
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  const bytes = Buffer.from(await response.arrayBuffer())
  const { status } = response
  if (type === 'application/json' && bytes.length > 0) return { status, type, answer: JSON.parse(bytes.toString()) as unknown }
  return { status, type, answer: /^text|jsonl/.test(type) ? bytes.toString() : bytes.length === 0 ? null : '(bytes)' }
}

/** Usage is counted by traffic that meets a policy; here it is put beside the policy. */
const countUsage = (app: TestApp): Promise<void> =>
  inDatabase(app.database.superuser, async (client) => {
    await client.query(
      `INSERT INTO usage_limit_policy_entities (id, organisation_id, workspace_id, policy_id, value_key, current_usage_pico)
        SELECT gen_random_uuid(), organisation_id, workspace_id, id, 'metadata._user:ada', 12.5e12 FROM usage_limit_policies`,
    )
  })

/** People let programs in by a browser; here one is put beside them. */
const addSignIn = (app: TestApp): Promise<void> =>
  inDatabase(app.database.superuser, async (client) => {
    await client.query(
      `INSERT INTO mcp_sign_ins (id, organisation_id, workspace_id, user_id, server_id, client_id, client_name, redirect_uri, resource, expires_at)
        SELECT gen_random_uuid(), s.organisation_id, s.workspace_id, u.id, s.id, 'https://editor.example/mcp-client.json', 'Editor', 'http://127.0.0.1/callback',
               'https://gateway.example/issues/mcp', now() + interval '30 days'
          FROM mcp_servers s JOIN users u ON u.organisation_id = s.organisation_id ORDER BY u.created_at LIMIT 1`,
    )
  })

/** Groups come from an identity provider, by SCIM; here one is put beside them. */
const addGroup = (app: TestApp): Promise<void> =>
  inDatabase(app.database.superuser, async (client) => {
    await client.query(
      `INSERT INTO scim_groups (id, organisation_id, display_name, external_id)
        SELECT gen_random_uuid(), id, 'Engineers', '00g1emaKYZTWRYYRRTSK' FROM organisations ORDER BY created_at LIMIT 1`,
    )
  })
