import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A scripted answer of a service. */
export interface Script {
  readonly status?: number
  readonly body?: unknown
  /** It never answers. */
  readonly hangs?: boolean
}

export interface PartnerCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

/** A service of partners' checks: `/<who>/<path>` is answered by the script of `who`, or by the texts in the call. */
export interface PartnerServer {
  readonly url: (who: string) => string
  readonly calls: (who: string) => readonly PartnerCall[]
  readonly answer: (who: string, script: Script | ((call: PartnerCall) => unknown)) => void
  close(): void
}

/** Starts it on a free port. */
export async function startPartnerServer(): Promise<PartnerServer> {
  const scripts = new Map<string, Script | ((call: PartnerCall) => unknown)>()
  const calls = new Map<string, PartnerCall[]>()
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const [, who = '', ...rest] = (req.url ?? '').split('/')
      const call = {
        path: `/${rest.join('/')}`,
        headers: req.headers,
        body: JSON.parse(Buffer.concat(chunks).toString()) as PartnerCall['body'],
      }
      calls.set(who, [...(calls.get(who) ?? []), call])
      const script = scripts.get(who) ?? {}
      const { status = 200, body, hangs = false } = typeof script === 'function' ? { body: script(call) } : script
      if (!hangs) res.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: (who) => `${origin}/${who}`,
    calls: (who) => calls.get(who) ?? [],
    answer(who, script) {
      scripts.set(who, script)
      calls.delete(who)
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
