import { request as httpRequest } from 'node:http'
import { startGateway, workspaceKey } from '../gateway.ts'
import { type Listening, listen } from './http.ts'
import { mcpScopes, mcpServer } from './stored-server.ts'

/** A gateway in front of one server, behind a hop that adds the key: the suite sends none. */
export async function startConformanceBed(url: string): Promise<Listening> {
  const bed = await startGateway({ keys: { [workspaceKey]: mcpScopes }, mcpServers: { tested: mcpServer({ slug: 'tested', url }) } })
  const gateway = new URL(bed.origin)
  const hop = await listen((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${workspaceKey}` }
    const sent = httpRequest({ host: gateway.hostname, port: gateway.port, method: req.method, path: '/tested/mcp', headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers)
      res.flushHeaders()
      answer.pipe(res)
      answer.on('error', () => res.destroy())
    })
    sent.on('error', () => res.destroy())
    res.on('close', () => sent.destroy())
    req.pipe(sent)
  })
  return {
    origin: hop.origin,
    async stop() {
      await hop.stop()
      await bed.stop()
    },
  }
}
