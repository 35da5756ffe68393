// Limits and prices of calls of MCP tools: the ledger of calls of models counts them too, by server and tool.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from 'ava'
import { type ReferenceServer, startModernServer } from '../../support/mcp/modern-server.ts'
import { begin, post } from '../../support/mcp/raw-client.ts'
import { callTool, logsOf, type McpTenant, must, storeServer } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let tenant: Tenant
let rival: Tenant
let acme: McpTenant
let reference: ReferenceServer

test.before(async () => {
  ;[control, reference] = await Promise.all([startControl(), startModernServer()])
  tenant = await control.createTenant('acme')
  rival = await control.createTenant('rival')
  acme = { control, tenant }
  for (const slug of ['priced', 'limited', 'held-back', 'shared', 'spelled', 'unknown-tools']) await storeServer(acme, slug, reference.url)
  await control.refresh()
})
test.after.always(async () => {
  await control?.close()
  await reference?.stop()
})

const echo = { text: 'hello' }
const tool = (name: string, more: object = {}) => ({ capabilities: [{ name, type: 'tool', enabled: true, ...more }] })

/** Makes a key for calls, with limits of its own. */
async function makeKey(limits: object = {}): Promise<string> {
  const body = { name: 'caller', workspace_id: tenant.workspaceId, scopes: ['mcp.invoke'], ...limits }
  const made = await must(acme, 'POST', '/api-keys/workspace/service', body)
  await control.refresh()
  return String(made['key'])
}

test.serial('a call costs the price of its tool, or of its server, also in budgets, logs and metrics', async (t) => {
  await must(acme, 'PUT', '/mcp-servers/priced', { tool_price: 0.25 })
  await must(acme, 'PUT', '/mcp-servers/priced/capabilities', tool('echo', { price: 0.002 }))
  t.is((await must(acme, 'GET', '/mcp-servers/priced'))['tool_price'], 0.25)
  const [listed] = (await must(acme, 'GET', '/mcp-servers/priced/capabilities'))['data'] as Record<string, unknown>[]
  t.like(listed, { name: 'echo', price: 0.002 })
  const key = await makeKey({ usage_limits: { type: 'cost', credit_limit: 0.505 } })
  for (const [name, args] of [
    ['echo', echo],
    ['fail', {}],
    ['greet', {}],
    ['nobody', {}],
    ['echo', echo],
  ] as const)
    t.is((await callTool(control, 'priced', key, name, args)).status, 200)
  // 0.002 + 0.25 + 0.002: a refused call and a question cost nothing.
  t.is((await callTool(control, 'priced', key, 'fail')).status, 200)
  const refused = await callTool(control, 'priced', key, 'echo', echo)
  t.is(refused.status, 412, refused.text)
  t.like(refused.messages[0]?.error?.data?.['limits'], [{ type: 'cost', value: 0.505, used: 0.504 }])
  const logs = await logsOf(acme, 'priced', 7)
  t.deepEqual(
    logs.map((row) => [row['model'], row['cost_pico'] === null ? null : Number(row['cost_pico']), row['error_code']]),
    [
      ['echo', 2_000_000_000, null],
      ['fail', 250_000_000_000, 'tool_error'],
      ['greet', null, null],
      ['nobody', null, 'mcp_error'],
      ['echo', 2_000_000_000, null],
      ['fail', 250_000_000_000, 'tool_error'],
      ['echo', null, 'budget_exhausted'],
    ],
  )
  const shown = await must(acme, 'GET', `/logs/${String(logs[0]?.['id'])}`)
  t.true(JSON.stringify(shown).includes('tool_call'), JSON.stringify(shown))
  const metrics = await (await fetch(`${control.origin}/metrics`)).text()
  t.regex(metrics, /gateway_cost_usd_total\{provider="mcp"\} 0\.504/)
})

const spellings = ['ECHO', ' echo', 'echo\u200b', 'ｅｃｈｏ', `${' '.repeat(300)}echo`]
const spelledHeader = (name: string) => ({ 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` })

test.serial('a tool has one price in all spellings', async (t) => {
  await must(acme, 'PUT', '/mcp-servers/spelled/capabilities', tool('echo', { price: 1 }))
  const key = await makeKey({ usage_limits: { type: 'cost', credit_limit: 0.5 } })
  for (const name of spellings) {
    const answer = await callTool(control, 'spelled', key, name, echo, spelledHeader(name))
    t.is(answer.status, 412, `${JSON.stringify(name)}: ${answer.text}`)
  }
})

test.serial('a policy on a tool counts its calls in all spellings, also where no sync has found it', async (t) => {
  for (const [server, value] of [
    ['spelled', 'echo'],
    ['unknown-tools', 'Echo'],
  ] as const) {
    for (const more of [[], [{ key: 'metadata.mcp_name', value }]])
      await must(acme, 'POST', '/policies/rate-limits', {
        workspace_id: tenant.workspaceId,
        conditions: [{ key: 'metadata.mcp_server', value: server }, ...more],
        group_by: [{ key: 'metadata.mcp_name' }],
        type: 'requests',
        unit: 'rph',
        value: 1,
      })
    const key = await makeKey()
    t.is((await callTool(control, server, key, 'echo', echo)).status, 200)
    for (const name of spellings) {
      const answer = await callTool(control, server, key, name, echo, spelledHeader(name))
      t.is(answer.status, 429, `${JSON.stringify(name)}: ${answer.text}`)
    }
  }
})

test.serial('a policy counts by server and tool, whatever the caller says in its metadata', async (t) => {
  await must(acme, 'POST', '/policies/rate-limits', {
    workspace_id: tenant.workspaceId,
    conditions: [{ key: 'metadata.mcp_server', value: 'limited' }],
    group_by: [{ key: 'metadata.mcp_name' }],
    type: 'requests',
    unit: 'rph',
    value: 2,
  })
  const key = await makeKey()
  const forged = { 'x-service-metadata': JSON.stringify({ mcp_server: 'other', mcp_name: 'another' }) }
  const statuses: number[] = []
  for (const headers of [{}, forged, forged]) statuses.push((await callTool(control, 'limited', key, 'echo', echo, headers)).status)
  t.deepEqual(statuses, [200, 200, 429])
  t.is((await callTool(control, 'limited', key, 'fail')).status, 200, 'another tool has a count of its own')
  t.is((await callTool(control, 'shared', key, 'echo', echo)).status, 200, 'another server has none')
})

test.serial('a budget in money of a server ends its calls for all keys, in both eras, and names itself', async (t) => {
  await must(acme, 'PUT', '/mcp-servers/held-back', { tool_price: 1 })
  const policy = await must(acme, 'POST', '/policies/usage-limits', {
    workspace_id: tenant.workspaceId,
    conditions: [{ key: 'metadata.mcp_server', value: 'held-back' }],
    group_by: [{ key: 'metadata.mcp_server' }],
    type: 'cost',
    credit_limit: 2,
  })
  const key = await makeKey()
  const client = new Client({ name: 'official', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${control.origin}/held-back/mcp`), { requestInit }))
  t.like(await client.callTool({ name: 'echo', arguments: echo }), { content: [{ text: 'hello' }] })
  await client.callTool({ name: 'echo', arguments: echo })
  await t.throwsAsync(client.callTool({ name: 'echo', arguments: echo }))
  const session = await begin(`${control.origin}/held-back/mcp`, requestInit.headers)
  const call = { jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'echo', arguments: echo } }
  const refused = await post(`${control.origin}/held-back/mcp`, call, session)
  t.like(refused.messages[0]?.error?.data?.['limits'], [{ type: 'cost', value: 2, used: 2 }], refused.text)
  t.true(JSON.stringify(refused.messages[0]?.error?.data).includes(String(policy['id'])))
  t.true((await client.listTools()).tools.length > 0, 'lists are free')
  await client.close()
})

test.serial('a price that is none names its field, and a server of others is not there', async (t) => {
  for (const [method, path, body, field] of [
    ['PUT', '/mcp-servers/priced', { tool_price: -1 }, 'tool_price'],
    ['PUT', '/mcp-servers/priced', { tool_price: 0.000_000_000_1 }, 'tool_price'],
    ['PUT', '/mcp-servers/priced', { tool_price: '1' }, 'tool_price'],
    ['POST', '/mcp-servers', { name: 'dear', mcp_integration_id: 'priced', tool_price: 1e9 }, 'tool_price'],
    ['PUT', '/mcp-servers/priced/capabilities', tool('echo', { price: 1e300 }), 'capabilities[0].price'],
    [
      'PUT',
      '/mcp-servers/priced/capabilities',
      { capabilities: [{ name: 'p', type: 'prompt', enabled: true, price: 1 }] },
      'capabilities[0].price',
    ],
  ] as const) {
    const answer = await control.call(tenant.adminKey, method, path, body)
    t.is(answer.status, 400, answer.text)
    t.true(answer.text.includes(field), answer.text)
  }
  t.is((await control.call(rival.adminKey, 'PUT', '/mcp-servers/priced', { tool_price: 0 })).status, 404)
  t.is((await must(acme, 'GET', '/mcp-servers/priced'))['tool_price'], 0.25)
  const { rows } = await control.sql.query("SELECT 1 FROM audit_logs a WHERE a.organisation_id = $1 AND a::text LIKE '%tool_price%'", [
    tenant.organisationId,
  ])
  t.true(rows.length >= 2, 'each change is in the trail')
})
