// Guardrails on calls of MCP servers: arguments and results go through the checks of requests to models.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import test from 'ava'
import { type LegacyReference, startLegacyServer } from '../../support/mcp/legacy-server.ts'
import { type ReferenceServer, startModernServer } from '../../support/mcp/modern-server.ts'
import { ask, begin, post } from '../../support/mcp/raw-client.ts'
import { callTool, logsOf, type McpTenant, must, storeServer } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let tenant: Tenant
let rival: Tenant
let acme: McpTenant
let modern: ReferenceServer
let legacy: LegacyReference
let key: string

const contains = (word: string) => [{ id: 'default.contains', parameters: { words: [word], operator: 'none' } }]

test.before(async () => {
  ;[control, modern, legacy] = await Promise.all([startControl(), startModernServer(), startLegacyServer()])
  tenant = await control.createTenant('acme')
  rival = await control.createTenant('rival')
  acme = { control, tenant }
  for (const [slug, checks, actions] of [
    ['no-bomb', contains('bomb'), { deny: true, message: 'Not with us.' }],
    ['no-ada', contains('Ada'), { deny: true }],
    ['notes-only', contains('noted'), { deny: false }],
    ['no-cards', [{ id: 'default.regexReplace', parameters: { rule: '\\d{4}', redactText: '****' } }], { deny: false }],
    ['some-models', [{ id: 'default.modelWhitelist', parameters: { models: ['gpt-4o'] } }], { deny: true }],
    ['no-echo', [{ id: 'default.regexReplace', parameters: { rule: 'echo|text', redactText: 'x' } }], { deny: false }],
  ] as const)
    await must(acme, 'POST', '/guardrails', { name: slug, slug, workspace_id: tenant.workspaceId, checks, actions })
  const guards = {
    input_guardrails: ['no-bomb', 'notes-only', 'no-cards', 'some-models', 'no-echo'],
    output_guardrails: ['no-ada', 'no-cards'],
  }
  await storeServer(acme, 'modern', modern.url, { ...guards, tool_price: 1 })
  await storeServer(acme, 'legacy', legacy.url, guards)
  await storeServer(acme, 'open', modern.url)
  await control.refresh()
  key = await control.createKey(tenant, { workspaceId: tenant.workspaceId, scopes: ['mcp.invoke'] })
})
test.after.always(async () => {
  await control?.close()
  await modern?.stop()
  await legacy?.stop()
})

const echo = (server: string, text: string) => callTool(control, server, key, 'echo', { text })

for (const server of ['modern', 'legacy'])
  test.serial(`a ${server} server: arguments are refused and changed, and results too`, async (t) => {
    const heard = () => (server === 'modern' ? modern : legacy).heard.length
    await echo(server, 'warm')
    const before = heard()
    const refused = await echo(server, 'how to build a bomb')
    t.is(refused.status, 200)
    t.like(refused.messages[0]?.result, { isError: true, content: [{ type: 'text', text: 'Not with us.' }] })
    t.like(refused.messages[0]?.result?.['_meta']['gatehouse/guardrail'], {
      code: 'hooks_failed',
      checks: ['default.contains'],
      phase: 'input',
    })
    t.is(heard(), before, 'the server was not asked')

    const changed = await echo(server, 'card 1234 echo')
    t.is(changed.messages[0]?.result?.['content'][0].text, 'card **** x', changed.text)
    t.is(changed.messages[0]?.result?.['content'][0].type, 'text', 'kinds of content are no words')
    const seen = await echo(server, 'noted')
    t.is(seen.messages[0]?.result?.['content'][0].text, 'noted', 'one that does not deny lets it pass')

    const held = await echo(server, 'I am Ada')
    t.like(held.messages[0]?.result, { isError: true })
    t.false(held.text.includes('I am'), 'the result is not shown')
    t.like(held.messages[0]?.result?.['_meta']['gatehouse/guardrail'], { phase: 'output' })
  })

test.serial('logs have the results of checks, and a refused call costs nothing', async (t) => {
  const logs = await logsOf(acme, 'modern', 5)
  t.deepEqual(
    logs.slice(1, 5).map((row) => [row['error_code'], row['outcome'], row['cost_pico'] === null]),
    [
      ['hooks_failed', 'error', true],
      [null, 'complete', false],
      [null, 'complete', false],
      ['hooks_failed', 'error', false],
    ],
  )
  const log = JSON.stringify(await must(acme, 'GET', `/logs/${String(logs[1]?.['id'])}`))
  t.true(log.includes('before_request_hooks') && log.includes('no-bomb'), log)
})

test.serial('the clients of both eras see a refusal as a tool that has failed', async (t) => {
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  const client = new Client({ name: 'official', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${control.origin}/modern/mcp`), { requestInit }))
  t.like(await client.callTool({ name: 'echo', arguments: { text: 'bomb' } }), { isError: true, content: [{ text: 'Not with us.' }] })
  await client.close()
  const session = await begin(`${control.origin}/legacy/mcp`, requestInit.headers)
  const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'echo', arguments: { text: 'bomb' } } }
  t.like((await post(`${control.origin}/legacy/mcp`, call, session)).messages[0]?.result, { isError: true })
})

test.serial('prompts and resources are refused with an error, and answers to questions are looked at', async (t) => {
  const headers = { authorization: `Bearer ${key}` }
  await must(acme, 'POST', '/guardrails', {
    name: 'no-reading',
    slug: 'no-reading',
    workspace_id: tenant.workspaceId,
    checks: contains('Read me'),
    actions: { deny: true },
  })
  await must(acme, 'PUT', '/mcp-servers/modern', { output_guardrails: ['no-ada', 'no-reading'] })
  await control.refresh()
  const read = await ask(`${control.origin}/modern/mcp`, 'resources/read', { uri: 'test://readme' }, { headers })
  t.like(read.messages[0]?.error, { code: -32000, data: { code: 'hooks_failed', method: 'resources/read' } })
  for (const server of ['modern', 'legacy']) {
    const url = `${control.origin}/${server}/mcp`
    const capabilities = { elicitation: {} }
    const asked = await ask(url, 'tools/call', { name: 'greet', arguments: {} }, { headers, capabilities })
    const { inputRequests, requestState } = asked.messages[0]?.result ?? {}
    const [name = ''] = Object.keys(inputRequests)
    const inputResponses = { [name]: { action: 'accept', content: { name: 'bomb' } } }
    const answered = await ask(url, 'tools/call', { name: 'greet', arguments: {}, requestState, inputResponses }, { headers, capabilities })
    t.like(answered.messages[0]?.result, { isError: true }, answered.text)
    t.false(answered.text.includes('Hello'), answered.text)
  }
})

test.serial('the guardrails of the workspace hold for all its servers, but for those about models', async (t) => {
  const { workspaceId } = tenant
  t.is((await echo('open', 'a bomb')).messages[0]?.result?.['isError'], undefined)
  await must(acme, 'PUT', `/admin/workspaces/${workspaceId}`, { defaults: { input_guardrails: ['no-bomb', 'some-models'] } })
  await control.refresh()
  t.is((await echo('open', 'a bomb')).messages[0]?.result?.['isError'], true)
  t.is((await echo('open', 'a bond')).messages[0]?.result?.['content'][0].text, 'a bond')
  await must(acme, 'PUT', `/admin/workspaces/${workspaceId}`, { defaults: { input_guardrails: null } })
})

test.serial('a guardrail that is none here names its field, and one that is in use is kept', async (t) => {
  await control.call(rival.adminKey, 'POST', '/guardrails', {
    name: 'theirs',
    slug: 'theirs',
    workspace_id: rival.workspaceId,
    checks: contains('x'),
    actions: { deny: false },
  })
  for (const [method, path, body, field] of [
    ['PUT', '/mcp-servers/modern', { input_guardrails: ['no-bomb', 'theirs'] }, 'input_guardrails[1]'],
    ['PUT', '/mcp-servers/modern', { output_guardrails: 'no-bomb' }, 'output_guardrails'],
    ['PUT', '/mcp-servers/modern', { output_guardrails: ['some-models'] }, 'output_guardrails[0]'],
    ['POST', '/mcp-servers', { name: 'more', mcp_integration_id: 'modern', input_guardrails: ['nowhere'] }, 'input_guardrails[0]'],
  ] as const) {
    const answer = await control.call(tenant.adminKey, method, path, body)
    t.is(answer.status, 400, answer.text)
    t.true(answer.text.includes(field), answer.text)
  }
  const deleted = await control.call(tenant.adminKey, 'DELETE', '/guardrails/no-ada')
  t.is(deleted.status, 409, deleted.text)
  t.true(deleted.text.includes('MCP server'), deleted.text)
  t.is((await control.call(rival.adminKey, 'PUT', '/mcp-servers/modern', { input_guardrails: [] })).status, 404)
})
