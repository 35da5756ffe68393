import type { IncomingMessage, ServerResponse } from 'node:http'

/** The result of the CORS step: `answers` has answered a browser's preflight, `passes` lets the request go on. */
export type PageAnswer = 'answers' | 'passes'

/** How long a browser may cache the answer, in seconds. */
const maxAge = '600'

/**
 * Lets pages of these origins call the data plane. A page sends its key itself, so that no credentials of the browser are let in; the preflight
 * request holds no key and needs none. Null when no page may call, which makes requests no slower.
 */
export function createCors(origins: readonly string[]): ((req: IncomingMessage, res: ServerResponse) => PageAnswer) | null {
  if (origins.length === 0) return null
  const allowed = new Set(origins)
  return (req, res) => {
    const { origin } = req.headers
    if (origin === undefined || !(allowed.has('*') || allowed.has(origin))) return 'passes'
    const asked = req.headers['access-control-request-method']
    res.setHeader('access-control-allow-origin', allowed.has('*') ? '*' : origin)
    res.setHeader('vary', 'origin')
    if (req.method !== 'OPTIONS' || asked === undefined) {
      res.setHeader('access-control-expose-headers', '*')
      return 'passes'
    }
    res.setHeader('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE')
    res.setHeader('access-control-allow-headers', req.headers['access-control-request-headers'] ?? '*')
    res.setHeader('access-control-max-age', maxAge)
    res.writeHead(204).end()
    return 'answers'
  }
}
