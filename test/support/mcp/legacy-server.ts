import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'
import { bodyOf, listen } from './http.ts'
import type { ReferenceServer } from './modern-server.ts'

export interface LegacyReference extends ReferenceServer {
  /** The address of the transport of 2024-11-05. */
  readonly sseUrl: string
  sessions(): number
  /** Forgets all sessions, as a server does that starts anew. */
  forget(): void
  /** The sessions that were ended by their client. */
  deleted(): number
}

/** A server of the official package, 1.x, with sessions. */
export async function startLegacyServer(): Promise<LegacyReference> {
  const heard: Readonly<Record<string, string | string[] | undefined>>[] = []
  const servers = new Set<McpServer>()
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const streams = new Map<string, SSEServerTransport>()
  let [cancelled, deleted] = [0, 0]

  function make(): McpServer {
    const server = new McpServer(
      { name: 'legacy-reference', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} }, instructions: 'Be kind.' },
    )
    server.registerTool('echo', { description: 'Says it again.', inputSchema: { text: z.string() } }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
    server.registerTool('fail', { description: 'Fails.' }, async () => ({ content: [{ type: 'text', text: 'no' }], isError: true }))
    server.registerTool('count', { description: 'Counts.', inputSchema: { to: z.number() } }, async ({ to }, extra) => {
      const token = extra._meta?.progressToken
      for (let at = 1; at <= (token === undefined ? 0 : to); at += 1)
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken: token ?? 0, progress: at, total: to } })
      return { content: [{ type: 'text', text: `counted to ${to}` }] }
    })
    server.registerTool('wait', { description: 'Never ends by itself.' }, async (extra) => {
      await new Promise<void>((resolve) => extra.signal.addEventListener('abort', () => resolve(), { once: true }))
      cancelled += 1
      return { content: [] }
    })
    server.registerTool('greet', { description: 'Asks for a name.' }, async () => {
      const asked = await server.server.elicitInput({
        message: 'Who are you?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      })
      return { content: [{ type: 'text', text: asked.action === 'accept' ? `Hello ${String(asked.content?.['name'])}` : asked.action }] }
    })
    server.registerResource('readme', 'test://readme', { mimeType: 'text/plain' }, async (uri) => ({
      contents: [{ uri: uri.href, text: 'Read me.' }],
    }))
    server.registerPrompt('hello', { description: 'Greets.' }, async () => ({
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello!' } }],
    }))
    servers.add(server)
    return server
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    heard.push(req.headers)
    if (req.url?.startsWith('/sse') === true) {
      const transport = new SSEServerTransport('/messages', res)
      streams.set(transport.sessionId, transport)
      await make().connect(transport)
      return
    }
    if (req.url?.startsWith('/messages') === true) {
      const id = new URL(req.url, 'http://x').searchParams.get('sessionId') ?? ''
      await streams.get(id)?.handlePostMessage(req, res)
      return
    }
    const body: unknown = req.method === 'POST' ? JSON.parse(await bodyOf(req)) : undefined
    const id = req.headers['mcp-session-id']
    const known = typeof id === 'string' ? transports.get(id) : undefined
    if (known !== undefined) {
      if (req.method === 'DELETE') deleted += 1
      await known.handleRequest(req, res, body)
    } else if (id === undefined && (body as { method?: string } | undefined)?.method === 'initialize') {
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void transports.set(session, transport),
        onsessionclosed: (session) => void transports.delete(session),
      })
      await make().connect(transport)
      await transport.handleRequest(req, res, body)
    } else {
      res.writeHead(id === undefined ? 400 : 404, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request: no valid session' } }))
    }
  }

  const listening = await listen((req, res) => void serve(req, res))
  return {
    ...listening,
    url: `${listening.origin}/mcp`,
    sseUrl: `${listening.origin}/sse`,
    heard,
    changeTools: () => {
      for (const server of servers) server.sendToolListChanged()
    },
    cancelled: () => cancelled,
    sessions: () => transports.size,
    forget: () => transports.clear(),
    deleted: () => deleted,
  }
}
