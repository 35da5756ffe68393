// The streams of MCP that stay open, and the lists of servers: decisions on many long addresses leave the event loop to others.
import test from 'ava'
import { createStanding, type StandingStream } from '../../../../src/gateway/mcp/client/standing.ts'
import { allowedItems } from '../../../../src/gateway/mcp/client/rights.ts'
import { toMcpServer, type CapabilityRule, type McpServer } from '../../../../src/gateway/mcp/registry.ts'
import type { PipelineDeps } from '../../../../src/gateway/pipeline.ts'
import { eventually } from '../../../support/eventually.ts'

const key = {
  id: 'k',
  organisationId: 'o',
  workspaceId: 'w',
  userId: null,
  status: 'active',
  expiresAt: null,
  scopes: new Set(['mcp.invoke']),
}

const withdrawn = (kind: CapabilityRule['kind'], name: string): CapabilityRule => ({
  kind,
  name,
  integrationEnabled: true,
  enabled: false,
  seen: null,
  pinned: null,
  rejectedHash: null,
  approved: null,
  price: null,
  tokens: 0,
})

function serverWith(capabilities: readonly CapabilityRule[]): McpServer {
  const own = { id: 's', organisationId: 'o', workspaceId: 'w' } as unknown as McpServer
  return toMcpServer(own, {
    defaultAccess: 'allow',
    defaultUserAccess: 'allow',
    pinning: 'off',
    toolPrice: null,
    capabilities,
    users: new Map(),
  })
}

/** A server that notes the names on which it decides. */
function noting(server: McpServer) {
  const names: string[] = []
  return {
    names,
    server: { ...server, decide: (...asked: Parameters<McpServer['decide']>) => (names.push(asked[1]), server.decide(...asked)) },
  }
}

/** The views of a process, which a test replaces as a change of rows does. */
function openStreams() {
  const views = { key: { ...key }, server: serverWith([]), looks: 0 }
  const deps = {
    settings: { mcpSubscriptions: 10, chosenKeys: new Set() },
    snapshot: { key: () => views.key, mcpServer: () => ((views.looks += 1), views.server) },
    failures: { failed: () => null },
    metrics: { authFailure() {} },
  } as unknown as PipelineDeps
  const looked = async (times: number) => {
    const from = views.looks
    await eventually(() => views.looks >= from + times, 15_000, `${times} looks at the rights`)
  }
  const head = {
    principal: 'p',
    exchange: { clientAddress: '192.0.2.1' },
    headers: { service: new Map([['api-key', 'gh-x']]), keys: {}, forward: [] },
    path: { server: 's', workspace: 'w' },
  } as unknown as StandingStream['head']
  return { views, looked, head, standing: createStanding(deps) }
}

test('a stream that stays open is decided on when the server or the key is another one, or an address is new, and not before', async (t) => {
  const { views, looked, head, standing } = openStreams()
  const first = noting(serverWith([]))
  views.server = first.server
  const watched = ['a://1', 'a://2']
  const gone: string[] = []
  const remove = standing.add({
    head,
    watched: () => watched.filter((uri) => !gone.includes(uri)),
    withdraw: (uris) => void gone.push(...uris),
    end: () => t.fail('it may go on'),
  })
  await looked(2)
  t.deepEqual(first.names, ['a://1', 'a://2'])
  watched.push('a://3')
  await looked(2)
  t.deepEqual(first.names, ['a://1', 'a://2', 'a://3'])
  views.key = { ...key }
  await looked(2)
  t.is(first.names.length, 6)
  const second = noting(serverWith([withdrawn('resource', 'a://2')]))
  views.server = second.server
  await eventually(() => gone.length > 0, 15_000, 'an address to be withdrawn')
  t.deepEqual(gone, ['a://2'])
  await looked(2)
  t.deepEqual(second.names, ['a://1', 'a://2', 'a://3'])
  remove()
})

test('a long list of addresses is decided on in steps, and others have the event loop between them', async (t) => {
  const templates = Array.from({ length: 50 }, (_, at) => withdrawn('resource_template', `http://h/{a}/x${at}/{b}`))
  const resources = Array.from({ length: 400 }, (_, at) => ({ uri: `http://h/${'b/'.repeat(3000)}${at}`, name: 'x' }))
  const head = { server: serverWith(templates), caller: { key }, exchange: { closed: false } } as unknown as Parameters<
    typeof allowedItems
  >[0]
  let others = 0
  const other = setInterval(() => (others += 1), 1)
  const { resources: shown } = await allowedItems(head, 'resources/list', { resources })
  clearInterval(other)
  t.is((shown as readonly unknown[]).length, 400)
  t.true(others >= 5, `${others}`)
})
