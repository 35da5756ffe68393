import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type Listening, listen, serveWeb } from './http.ts'

export interface ReferenceServer extends Listening {
  readonly url: string
  /** Tells that the list of tools has changed. */
  changeTools(): void
  /** The headers of the requests so far. */
  readonly heard: readonly Readonly<Record<string, string | string[] | undefined>>[]
  /** The calls that were cancelled. */
  cancelled(): number
}

const name = z.object({ name: z.string() })

/** A server of the official package, 2.x. `legacy`: it serves clients of before too. */
export async function startModernServer({
  legacy = 'reject',
}: { readonly legacy?: 'reject' | 'stateless' } = {}): Promise<ReferenceServer> {
  const heard: Readonly<Record<string, string | string[] | undefined>>[] = []
  let cancelled = 0
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: 'modern-reference', version: '2.0.0' },
        {
          capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, logging: {} },
          instructions: 'Be kind.',
        },
      )
      server.registerTool('echo', { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) }, async ({ text }) => ({
        content: [{ type: 'text', text }],
      }))
      server.registerTool('fail', { description: 'Fails.' }, async () => ({ content: [{ type: 'text', text: 'no' }], isError: true }))
      server.registerTool('count', { description: 'Counts.', inputSchema: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
        const token = ctx.mcpReq._meta?.progressToken
        for (let at = 1; at <= (token === undefined ? 0 : to); at += 1)
          await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token ?? 0, progress: at, total: to } })
        return { content: [{ type: 'text', text: `counted to ${to}` }] }
      })
      server.registerTool('wait', { description: 'Never ends by itself.' }, async (ctx) => {
        await new Promise<void>((resolve) => ctx.mcpReq.signal.addEventListener('abort', () => resolve(), { once: true }))
        cancelled += 1
        return { content: [] }
      })
      server.registerTool('greet', { description: 'Asks for a name.' }, async (ctx) => {
        const answer = acceptedContent(ctx.mcpReq.inputResponses, 'who', name)
        if (answer === undefined)
          return inputRequired({
            inputRequests: { who: inputRequired.elicit({ message: 'Who are you?', requestedSchema: name }) },
            requestState: 'asked once',
          })
        return { content: [{ type: 'text', text: `Hello ${answer.name}` }] }
      })
      server.registerResource('readme', 'test://readme', { mimeType: 'text/plain' }, async (uri) => ({
        contents: [{ uri: uri.href, text: 'Read me.' }],
      }))
      server.registerPrompt('hello', { description: 'Greets.' }, async () => ({
        messages: [{ role: 'user', content: { type: 'text', text: 'Hello!' } }],
      }))
      return server
    },
    { legacy },
  )
  const listening = await listen((req, res) => {
    heard.push(req.headers)
    void serveWeb(req, res, (request) => handler.fetch(request))
  })
  return {
    ...listening,
    url: `${listening.origin}/mcp`,
    heard,
    changeTools: () => handler.notify.toolsChanged(),
    cancelled: () => cancelled,
    async stop() {
      await handler.close()
      await listening.stop()
    },
  }
}
