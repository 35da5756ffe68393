import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyOf, type Listening, listen } from './http.ts'

/** A message that came to a server, with the path that it came to. */
export interface AskedMessage {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly path: string
}

/** Answers a message, or the stream of a session. Returns false to leave it to the server. */
export type Script = (asked: AskedMessage, res: ServerResponse, req: IncomingMessage) => boolean | void

export interface ScriptedServer extends Listening {
  /** The messages that came, but for those of the handshake. */
  readonly heard: readonly AskedMessage[]
}

export const capabilities = {
  tools: { listChanged: true },
  prompts: {},
  resources: { subscribe: true },
  completions: {},
}

/** Writes an answer as JSON. */
export function answerJson(res: ServerResponse, { id }: AskedMessage, answer: object, headers: Record<string, string> = {}): void {
  res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ jsonrpc: '2.0', id: id ?? null, ...answer }))
}

/** A server of the era that its path begins with: `/modern…` or `/legacy…`. It does all that it is asked for, but for what its script does. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const heard: AskedMessage[] = []
  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url ?? ''
    const text = req.method === 'POST' ? await bodyOf(req) : ''
    const asked = { ...(text === '' ? {} : (JSON.parse(text) as object)), path } as AskedMessage
    if (script(asked, res, req) !== false) return
    const info = { capabilities, serverInfo: { name: 'scripted', version: '1' } }
    const isModern = path.startsWith('/modern')
    if (req.method !== 'POST') res.writeHead(405).end()
    else if (asked.method === 'server/discover' && isModern)
      answerJson(res, asked, { result: { resultType: 'complete', supportedVersions: ['2026-07-28'], ...info } })
    else if (asked.method === 'server/discover') answerJson(res, asked, { error: { code: -32601, message: 'no' } })
    else if (asked.method === 'initialize') answerJson(res, asked, { result: { protocolVersion: '2025-11-25', ...info } })
    else if (asked.id === undefined || asked.method === undefined) res.writeHead(202).end()
    else {
      heard.push(asked)
      answerJson(res, asked, { result: { resultType: 'complete', content: [{ type: 'text', text: 'ran' }] } })
    }
  }
  return { ...(await listen((req, res) => void serve(req, res))), heard }
}
