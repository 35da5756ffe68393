// Tools that clients find by search: two tools stand for all of a server, with the decisions, prices, guardrails and logs of the tools themselves.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from 'ava'
import { countTokens } from '../../../src/gateway/tokens/tokenizer.ts'
import { eventually } from '../../support/eventually.ts'
import { type McpStub, startStub } from '../../support/mcp-stub.ts'
import { ask, begin, post } from '../../support/mcp/raw-client.ts'
import { callTool, logsOf, type McpTenant, must, storeServer } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let tenant: Tenant
let acme: McpTenant
let stub: McpStub
let key: string

const verbs = ['create', 'read', 'update', 'delete', 'list']
const nouns = Array.from({ length: 100 }, (_, at) => `thing${at}`)
const toolOf = (name: string) => ({
  name,
  description: `It does ${name.replace('_', ' a ')}, and returns it with its author, its state and the time of its last change.`,
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string', description: 'The id.' }, note: { type: 'string' } },
    required: ['id'],
  },
})
const tools = nouns.flatMap((noun) => verbs.map((verb) => toolOf(`${verb}_${noun}`)))
/** Every seventh tool is switched off. */
const isOff = (at: number): boolean => at % 7 === 0

test.before(async () => {
  ;[control, stub] = await Promise.all([startControl(), startStub('modern')])
  tenant = await control.createTenant('acme')
  acme = { control, tenant }
  stub.tools = tools
  await storeServer(acme, 'many', stub.url, { discovery: 'search', tool_price: 0.5 })
  await storeServer(acme, 'all', stub.url)
  await must(acme, 'POST', '/mcp-integrations/many/sync', {})
  const off = tools.filter((_, at) => isOff(at)).map(({ name }) => ({ name, type: 'tool', enabled: false }))
  await must(acme, 'PUT', '/mcp-servers/many/capabilities', { capabilities: off })
  await control.refresh()
  key = await control.createKey(tenant, { workspaceId: tenant.workspaceId, scopes: ['mcp.invoke'] })
})
test.after.always(async () => {
  await control?.close()
  await stub?.stop()
})

const found = async (query: string, more: object = {}) =>
  (await callTool(control, 'many', key, 'gatehouse_find_tools', { query, ...more })).messages[0]?.result?.['structuredContent']
const bySearch = (name: string, args: object = { id: '1' }) =>
  callTool(control, 'many', key, 'gatehouse_call_tool', { name, arguments: args })

test.serial('500 tools cost the context of two, and the list says so', async (t) => {
  const client = new Client({ name: 'official', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${control.origin}/many/mcp`), { requestInit }))
  const listed = await client.listTools()
  t.deepEqual(
    listed.tools.map(({ name }) => name),
    ['gatehouse_find_tools', 'gatehouse_call_tool'],
  )
  const full = (await ask(`${control.origin}/all/mcp`, 'tools/list', {}, { headers: requestInit.headers })).messages[0]?.result?.['tools']
  t.is(full.length, 500)
  const tokens = { full: countTokens(JSON.stringify(full)), search: countTokens(JSON.stringify(listed.tools)) }
  t.log(tokens)
  t.true(tokens.search * 50 < tokens.full, JSON.stringify(tokens))
  const told = listed._meta?.['gatehouse/tokens'] as { full: number; listed: number }
  t.true(told.full > tokens.full * 0.7 && told.full < tokens.full * 1.1, JSON.stringify([told, tokens]))
  const called = await client.callTool({ name: 'gatehouse_call_tool', arguments: { name: 'read_thing5', arguments: { id: '7' } } })
  t.like(called, { content: [{ text: 'read_thing5 {"id":"7"}' }] })
  await client.close()
  const log = (await logsOf(acme, 'many', 3)).find((row) => row['span_name'] === 'tools/list')
  t.like(log?.['metadata'], { mcp_tokens_saved: String(told.full - told.listed) })
})

test.serial('a search finds tools by their words, and only those that the caller may use', async (t) => {
  const { tools: some, total } = await found('delete thing42')
  t.is(some[0].name, isOff(tools.findIndex(({ name }) => name === 'delete_thing42')) ? undefined : 'delete_thing42')
  t.deepEqual(some[0].inputSchema, toolOf('x').inputSchema)
  t.is(some.length, 10)
  t.is(total, tools.filter((_, at) => !isOff(at)).length)
  t.is((await found('', { limit: 50 })).tools.length, 50)
  t.deepEqual((await found('zebra')).tools, [])
  const offName = tools[7]?.name ?? ''
  t.false((await found(offName, { limit: 50 })).tools.some(({ name }: { name: string }) => name === offName))
})

test.serial('a search looks for whole words, for beginnings of four letters, and for the first 32 words', async (t) => {
  const fillers = Array.from({ length: 40 }, (_, at) => `w${at}`)
  const first = async (query: string) => (await found(query)).tools[0]?.name
  t.is(await first('thing43 delete'), 'delete_thing43')
  t.is(await first('dele thing43'), 'delete_thing43')
  t.is((await found('del')).tools.length, 0)
  t.is(await first([...fillers.slice(0, 30), 'delete', 'thing43'].join(' ')), 'delete_thing43')
  t.is(await first([...fillers.slice(0, 32), 'delete', 'thing43'].join(' ')), undefined)
})

test.serial('a call through the search is allowed exactly when the direct one is, in both eras', async (t) => {
  const session = await begin(`${control.origin}/many/mcp`, { authorization: `Bearer ${key}` })
  const kept = { ok: 0, no: 0 }
  for (let at = 0; at < tools.length; at += 11) {
    const name = tools[at]?.name ?? ''
    const direct = (await callTool(control, 'many', key, name, { id: '1' })).messages[0]
    const searched = (await bySearch(name)).messages[0]
    t.deepEqual(searched, direct, name)
    const params = { name: 'gatehouse_call_tool', arguments: { name, arguments: { id: '1' } } }
    const old = await post(`${control.origin}/many/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session)
    t.is(old.messages[0]?.error?.code, direct?.error?.code, name)
    t.is(direct?.error !== undefined, isOff(at), name)
    kept[isOff(at) ? 'no' : 'ok'] += 1
  }
  t.true(kept.ok > 10 && kept.no > 3)
})

test.serial('the log and the price are those of the tool, and searching is free', async (t) => {
  await found('thing1')
  await bySearch('read_thing1')
  await callTool(control, 'many', key, 'gatehouse_find_tools', { query: 'last' })
  const known = (await logsOf(acme, 'many', 1)).length
  const logs = await logsOf(acme, 'many', known)
  const costOf = (name: string) => logs.filter((row) => row['model'] === name).map((row) => Number(row['cost_pico'] ?? 0))
  t.true(costOf('read_thing5').includes(500_000_000_000))
  t.true(costOf('gatehouse_find_tools').every((cost) => cost === 0))
  t.deepEqual(costOf('gatehouse_call_tool'), [])
})

test.serial('a search asks the server, and so counts as a request; a list that Gatehouse answers by itself does not', async (t) => {
  const limits = { rate_limits: [{ type: 'requests', unit: 'rph', value: 2 }] }
  const body = { name: 'searcher', workspace_id: tenant.workspaceId, scopes: ['mcp.invoke'], ...limits }
  const limited = String((await must(acme, 'POST', '/api-keys/workspace/service', body))['key'])
  await control.refresh()
  const statuses: number[] = []
  for (let at = 0; at < 2; at += 1)
    statuses.push((await ask(`${control.origin}/many/mcp`, 'tools/list', {}, { headers: { authorization: `Bearer ${limited}` } })).status)
  for (let at = 0; at < 4; at += 1)
    statuses.push((await callTool(control, 'many', limited, 'gatehouse_find_tools', { query: 'thing1' })).status)
  t.deepEqual(statuses, [200, 200, 200, 200, 429, 429])
  const rows = await logsOf(acme, 'many', 1)
  const searches = rows.filter((row) => row['model'] === 'gatehouse_find_tools' && row['error_code'] === null)
  t.true(searches.length > 0 && searches.every((row) => row['upstream_url'] !== null))
})

test.serial('facts of Gatehouse about a call are its own, whatever its caller says in its metadata', async (t) => {
  const names = ['mcp_method', 'mcp_server', 'mcp_name', 'mcp_client_revision', 'mcp_server_revision', 'mcp_tokens_saved']
  const forged = JSON.stringify(Object.fromEntries([...names, 'mine'].map((name) => [name, 'forged'])))
  await callTool(control, 'all', key, 'read_thing5', { id: '1' }, { 'x-service-metadata': forged })
  let metadata = {}
  await eventually(
    async () => {
      const row = (await logsOf(acme, 'all', 1)).find((one) => JSON.stringify(one['metadata']).includes('mine'))
      metadata = row?.['metadata'] ?? {}
      return row !== undefined
    },
    10_000,
    'the log of the call',
  )
  t.like(metadata, { mine: 'forged', mcp_name: 'read_thing5', mcp_tokens_saved: undefined })
  t.is(JSON.stringify(metadata).split('forged').length, 2, JSON.stringify(metadata))
})

test.serial('faults name their field, and none is a 5xx', async (t) => {
  for (const [name, args, param] of [
    ['gatehouse_find_tools', {}, 'params.arguments.query'],
    ['gatehouse_find_tools', { query: 7 }, 'params.arguments.query'],
    ['gatehouse_find_tools', { query: 'a', limit: 51 }, 'params.arguments.limit'],
    ['gatehouse_find_tools', { query: 'a', limit: '5' }, 'params.arguments.limit'],
    ['gatehouse_call_tool', {}, 'params.arguments.name'],
    ['gatehouse_call_tool', { name: 'read_thing1', arguments: [] }, 'params.arguments.arguments'],
    ['gatehouse_call_tool', { name: 'gatehouse_call_tool', arguments: { name: 'read_thing1' } }, 'params.arguments.arguments'],
  ] as const) {
    const answer = await callTool(control, 'many', key, name, args)
    t.is(answer.status, 200)
    t.like(answer.messages[0]?.error, { code: -32602, data: { param } }, `${name} ${JSON.stringify(args)}`)
  }
  const unknown = await callTool(control, 'all', key, 'gatehouse_find_tools', { query: 'a' })
  t.is(unknown.messages[0]?.result?.['structuredContent'], undefined, 'a server that lists all has no search')
  const wrong = await control.call(tenant.adminKey, 'PUT', '/mcp-servers/many', { discovery: 'some' })
  t.is(wrong.status, 400)
  t.true(wrong.text.includes('discovery'))
})
