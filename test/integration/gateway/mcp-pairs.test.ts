import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type LegacyReference, startLegacyServer } from '../../support/mcp/legacy-server.ts'
import { mcpServer, mcpScopes } from '../../support/mcp/stored-server.ts'
import { type ReferenceServer, startModernServer } from '../../support/mcp/modern-server.ts'

let modern: ReferenceServer
let legacy: LegacyReference
let bed: GatewayBed

test.before(async () => {
  modern = await startModernServer()
  legacy = await startLegacyServer()
  bed = await startGateway({
    keys: { [workspaceKey]: mcpScopes },
    mcpServers: {
      modern: mcpServer({ slug: 'modern', url: modern.url }),
      legacy: mcpServer({ slug: 'legacy', url: legacy.url }),
      events: mcpServer({ slug: 'events', url: legacy.sseUrl, transport: 'sse' }),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await modern?.stop()
  await legacy?.stop()
})

const requestInit = { headers: { authorization: `Bearer ${workspaceKey}` } }
const person = { action: 'accept' as const, content: { name: 'Ada' } }

/** A client of one major of the official package, by what all tests need of it. */
interface TestClient {
  tools(): Promise<readonly string[]>
  call(
    name: string,
    args?: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (progress: number) => void },
  ): Promise<unknown>
  /** Resolves at the next change of the list of tools. */
  changed(): Promise<void>
  close(): Promise<void>
}

async function legacyClient(server: string): Promise<TestClient> {
  const client = new LegacyClient({ name: 'legacy-client', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => person)
  const { promise, resolve } = Promise.withResolvers<void>()
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve())
  const transport =
    server === 'over-events'
      ? new SSEClientTransport(new URL(`${bed.origin}/legacy/sse`), { requestInit })
      : new StreamableHTTPClientTransport(new URL(`${bed.origin}/${server}/mcp`), { requestInit })
  await client.connect(transport)
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, { signal, onprogress } = {}) => {
      const options = {
        ...(signal && { signal }),
        ...(onprogress && { onprogress: ({ progress }: { progress: number }) => onprogress(progress) }),
      }
      return client.callTool({ name, arguments: args }, undefined, options)
    },
    changed: () => promise,
    close: () => client.close(),
  }
}

async function modernClient(server: string): Promise<TestClient> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const client = new ModernClient(
    { name: 'modern-client', version: '2' },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      listChanged: { tools: { onChanged: () => resolve() } },
    },
  )
  client.setRequestHandler('elicitation/create', async () => person)
  await client.connect(new ModernTransport(new URL(`${bed.origin}/${server}/mcp`), { requestInit }))
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, { signal, onprogress } = {}) => {
      const options = {
        ...(signal && { signal }),
        ...(onprogress && { onprogress: ({ progress }: { progress: number }) => onprogress(progress) }),
      }
      return client.callTool({ name, arguments: args }, options)
    },
    changed: () => promise,
    close: () => client.close(),
  }
}

const textOf = (result: unknown): unknown => (result as { content?: { text?: string }[] }).content?.[0]?.text
const clients = { '1.x': legacyClient, '2.x': modernClient }
const servers = {
  modern: { name: 'modern', reference: (): ReferenceServer => modern },
  legacy: { name: 'legacy', reference: (): ReferenceServer => legacy },
  events: { name: 'events', reference: (): ReferenceServer => legacy },
}

for (const [major, connect] of Object.entries(clients))
  for (const [kind, { reference }] of Object.entries(servers)) pair(`a client ${major} and a ${kind} server`, kind, connect, reference)
pair('a client 1.x by the transport of 2024-11-05 and a legacy server', 'over-events', legacyClient, () => legacy)

function pair(title: string, server: string, connect: (server: string) => Promise<TestClient>, reference: () => ReferenceServer): void {
  test.serial(`${title}: list, call, progress, question, cancel, changes`, async (t) => {
    const client = await connect(server)
    t.deepEqual(await client.tools(), ['echo', 'fail', 'count', 'wait', 'greet'])
    t.is(textOf(await client.call('echo', { text: 'ä' })), 'ä')
    t.like(await client.call('fail'), { isError: true })

    const steps: number[] = []
    t.is(textOf(await client.call('count', { to: 3 }, { onprogress: (progress) => void steps.push(progress) })), 'counted to 3')
    // The client of that transport forgets steps that come in one piece with the result.
    if (server !== 'over-events') t.deepEqual(steps, [1, 2, 3])

    t.is(textOf(await client.call('greet')), 'Hello Ada')

    const before = reference().cancelled()
    const leaving = new AbortController()
    const waiting = client.call('wait', {}, { signal: leaving.signal })
    setTimeout(() => leaving.abort(), 100)
    await t.throwsAsync(waiting)
    await eventually(() => reference().cancelled() > before, 5000, 'the call to be cancelled')

    reference().changeTools()
    await client.changed()
    await client.close()
    t.pass()
  })
}
