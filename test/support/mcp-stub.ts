import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Item = Readonly<Record<string, unknown>>

/** The state of a server of MCP in these tests: what it offers, and what it was sent. */
export interface McpStub {
  /** `http://127.0.0.1:PORT/mcp` */
  readonly url: string
  tools: readonly Item[]
  prompts: readonly Item[]
  resources: readonly Item[]
  resourceTemplates: readonly Item[]
  serverInfo: Item
  /** The answer of every request, in place of the server's own. */
  fault: { readonly status: number; readonly body: string } | null
  /** The headers of each request. */
  readonly headers: Item[]
  stop(): Promise<void>
}

/** Starts a server that speaks one era, without sessions and without streams. */
export async function startStub(era: 'modern' | 'legacy'): Promise<McpStub> {
  const server = createServer((req, res) => {
    const parts: Buffer[] = []
    req.on('data', (part: Buffer) => parts.push(part))
    req.on('end', () => {
      stub.headers.push(req.headers)
      const body =
        parts.length === 0 ? null : (JSON.parse(Buffer.concat(parts).toString()) as { id?: unknown; method: string; params?: Item })
      const answer = (status: number, value: object) =>
        res
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: body?.id ?? null, ...value }))
      if (stub.fault !== null) return res.writeHead(stub.fault.status, { 'content-type': 'application/json' }).end(stub.fault.body)
      if (body === null) return res.writeHead(405).end()
      if (body.id === undefined) return res.writeHead(202).end()
      const result = body.method === 'tools/call' ? calledResult(era, body.params ?? {}) : resultOf(stub, era, body.method)
      return result === null
        ? answer(era === 'modern' ? 404 : 400, { error: { code: -32601, message: `no ${body.method}` } })
        : answer(200, { result })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stub: McpStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    tools: [],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    serverInfo: { name: 'stub', version: '1.2.3', title: 'A stub', description: 'For tests.', icons: [{ src: 'https://a.example/i.png' }] },
    fault: null,
    headers: [],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return stub
}

/** The result of any tool: its name and its arguments. */
const calledResult = (era: 'modern' | 'legacy', { name, arguments: given }: Item): object => ({
  ...(era === 'modern' && { resultType: 'complete' }),
  content: [{ type: 'text', text: `${String(name)} ${JSON.stringify(given)}` }],
})

function resultOf(stub: McpStub, era: 'modern' | 'legacy', method: string): object | null {
  const capabilities = { tools: { listChanged: true }, prompts: {}, resources: {} }
  const cached = era === 'modern' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {}
  if (method === 'initialize' && era === 'legacy') return { protocolVersion: '2025-11-25', capabilities, serverInfo: stub.serverInfo }
  if (method === 'server/discover' && era === 'modern')
    return {
      ...cached,
      supportedVersions: ['2026-07-28'],
      capabilities,
      serverInfo: stub.serverInfo,
      _meta: { 'io.modelcontextprotocol/serverInfo': stub.serverInfo },
    }
  const lists: Readonly<Record<string, object>> = {
    'tools/list': { tools: stub.tools },
    'prompts/list': { prompts: stub.prompts },
    'resources/list': { resources: stub.resources },
    'resources/templates/list': { resourceTemplates: stub.resourceTemplates },
  }
  const list = lists[method]
  return list === undefined ? null : { ...cached, ...list }
}
