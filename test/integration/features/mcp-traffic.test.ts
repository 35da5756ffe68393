// Calls of stored MCP servers through whole processes: from the rows of the registry to the rows of the logs, and a session that goes from one process to another.
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type LegacyReference, startLegacyServer } from '../../support/mcp/legacy-server.ts'
import { ask, begin, post } from '../../support/mcp/raw-client.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant
let reference: LegacyReference

test.before(async () => {
  reference = await startLegacyServer()
  control = await startControl()
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
  const integration = {
    name: 'tracker',
    url: reference.url,
    auth_type: 'headers',
    transport: 'http',
    configurations: { custom_headers: { authorization: 'Bearer of-the-server' } },
  }
  for (const [path, body] of [
    ['/mcp-integrations', integration],
    ['/mcp-integrations/tracker/workspaces', null],
    ['/mcp-servers', { name: 'tracker', mcp_integration_id: 'tracker', default_access: 'allow', pinning: 'off' }],
  ] as const) {
    const answer =
      body === null
        ? await control.call(acme.adminKey, 'PUT', path, { workspaces: [], global_workspace_access: { enabled: true } })
        : await control.call(acme.adminKey, 'POST', path, body)
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  }
  await control.refresh()
})
test.after.always(async () => {
  await control?.close()
  await reference?.stop()
})

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const echo = { name: 'echo', arguments: { text: 'stored and called' } }

test.serial('a stored server is called by the key of its workspace alone, and the call is a row of the logs', async (t) => {
  const url = `${control.origin}/tracker/mcp`
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['mcp.invoke', 'logs.list', 'logs.view'] })
  const called = await ask(url, 'tools/call', echo, { headers: bearer(key) })
  t.is(called.messages[0]?.result?.['content'][0].text, 'stored and called', called.text)
  t.is(reference.heard.at(-1)?.authorization, 'Bearer of-the-server')
  const ofRival = await control.createKey(rival, { workspaceId: rival.workspaceId, scopes: ['mcp.invoke'] })
  const strange = await ask(url, 'tools/call', echo, { headers: bearer(ofRival) })
  t.is(strange.status, 404)
  t.deepEqual(strange.messages, (await ask(`${control.origin}/nowhere/mcp`, 'tools/call', echo, { headers: bearer(ofRival) })).messages)
  let rows: readonly Record<string, unknown>[] = []
  await eventually(
    async () => {
      const found = await control.sql.query<Record<string, unknown>>(
        "SELECT * FROM logs WHERE operation = 'mcp' AND organisation_id = $1",
        [acme.organisationId],
      )
      rows = found.rows
      return rows.length > 0
    },
    10_000,
    'the log of the call',
  )
  t.like(rows[0], { provider_slug: 'tracker', model: 'echo', status: 200, outcome: 'complete', span_name: 'tools/call echo' })
  t.like(rows[0]?.['metadata'], { mcp_method: 'tools/call', mcp_server_revision: '2025-11-25' })
})

test.serial('a session of a legacy client goes on in another process', async (t) => {
  const other = await control.openBeside()
  const key = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['mcp.invoke'] })
  const session = await begin(`${control.origin}/tracker/mcp`, bearer(key))
  for (const origin of [other, control.origin, other]) {
    const answer = await post(`${origin}/tracker/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: echo }, session)
    t.is(answer.messages[0]?.result?.['content'][0].text, 'stored and called', answer.text)
  }
})
