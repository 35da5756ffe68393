import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startStub, type McpStub } from '../mcp-stub.ts'
import { bodyOf, type Listening, listen } from './http.ts'

type Form = Readonly<Record<string, string>>
type Item = Readonly<Record<string, unknown>>

/** A request to the authorization server. */
export interface AskedToken {
  readonly form: Form
  readonly authorization: string | undefined
}

/** A scripted authorization server: it does as a real one, but for what a test makes it say. */
export interface ScriptedIssuer {
  readonly origin: string
  readonly issuer: string
  /** Fields of its metadata in place of its own. */
  metadata: Item
  /** The whole answers of paths, in place of its own. */
  readonly answers: Map<string, (req: IncomingMessage, res: ServerResponse) => void>
  /** Seconds; null: its tokens have no end. */
  life: number | null
  /** The paths that were asked for. */
  readonly paths: string[]
  readonly tokenRequests: AskedToken[]
  readonly registrations: Item[]
  /** The clients that it knows, with their secrets. */
  readonly clients: Map<string, string | null>
  /** The tokens that count. */
  readonly valid: Set<string>
  /** The refresh tokens that count. */
  readonly refreshing: Set<string>
  /** Resolves when a request for a token has come that waits for `go`. */
  hold: { readonly came: PromiseWithResolvers<void>; readonly go: PromiseWithResolvers<void> } | null
  /** Does as a person who agrees on its page; returns the address to which their browser is sent. */
  agree(address: string, more?: Readonly<Record<string, string | null>>): string
  stop(): Promise<void>
}

const random = () => randomBytes(24).toString('base64url')

const json = (res: ServerResponse, status: number, body: object) =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

export async function startIssuer(): Promise<ScriptedIssuer> {
  const codes = new Map<string, Readonly<Record<string, string>>>()
  const listening: Listening = await listen((req, res) => void serve(req, res))
  const { origin } = listening

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = new URL(req.url ?? '/', origin).pathname
    self.paths.push(path)
    const scripted = self.answers.get(path)
    if (scripted !== undefined) return scripted(req, res)
    if (path === '/.well-known/oauth-authorization-server') return json(res, 200, metadataOf())
    if (path === '/register' && req.method === 'POST') return register(res, JSON.parse(await bodyOf(req)))
    if (path === '/token' && req.method === 'POST')
      return token(res, Object.fromEntries(new URLSearchParams(await bodyOf(req))), req.headers.authorization)
    json(res, 404, {})
  }

  const metadataOf = (): object => ({
    issuer: self.issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
    ...self.metadata,
  })

  function register(res: ServerResponse, given: Item): void {
    self.registrations.push(given)
    const clientId = `client-${random()}`
    self.clients.set(clientId, null)
    json(res, 201, { ...given, client_id: clientId })
  }

  async function token(res: ServerResponse, form: Form, authorization: string | undefined): Promise<void> {
    self.tokenRequests.push({ form, authorization })
    if (self.hold !== null) {
      self.hold.came.resolve()
      await self.hold.go.promise
    }
    const [id = '', secret = null] =
      authorization === undefined
        ? [form['client_id'], form['client_secret'] ?? null]
        : Buffer.from(authorization.slice('Basic '.length), 'base64')
            .toString()
            .split(':')
            .map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
    if (!self.clients.has(id) || self.clients.get(id) !== secret) return json(res, 401, { error: 'invalid_client', secret })
    const { grant_type: type } = form
    if (type === 'client_credentials') return give(res, false)
    if (type === 'refresh_token')
      return self.refreshing.delete(form['refresh_token'] ?? '') ? give(res, true) : json(res, 400, { error: 'invalid_grant' })
    const code = codes.get(form['code'] ?? '')
    codes.delete(form['code'] ?? '')
    const challenge = createHash('sha256')
      .update(form['code_verifier'] ?? '')
      .digest('base64url')
    const isGood = code?.['code_challenge'] === challenge && code['redirect_uri'] === form['redirect_uri'] && code['client_id'] === id
    return isGood ? give(res, true) : json(res, 400, { error: 'invalid_grant' })
  }

  function give(res: ServerResponse, refreshes: boolean): void {
    const [access, refresh] = [`at-${random()}`, `rt-${random()}`]
    self.valid.add(access)
    if (refreshes) self.refreshing.add(refresh)
    json(res, 200, {
      access_token: access,
      token_type: 'Bearer',
      ...(self.life !== null && { expires_in: self.life }),
      ...(refreshes && { refresh_token: refresh }),
    })
  }

  const self: ScriptedIssuer = {
    origin,
    issuer: origin,
    metadata: {},
    answers: new Map(),
    life: 3600,
    paths: [],
    tokenRequests: [],
    registrations: [],
    clients: new Map(),
    valid: new Set(),
    refreshing: new Set(),
    hold: null,
    agree(address, more = {}) {
      const asked = new URL(address)
      const code = random()
      codes.set(code, Object.fromEntries(asked.searchParams))
      const answer = new URL(asked.searchParams.get('redirect_uri') ?? '')
      const fields = { code, state: asked.searchParams.get('state') ?? '', iss: self.issuer, ...more }
      for (const [name, value] of Object.entries(fields)) if (value !== null) answer.searchParams.set(name, value)
      return answer.href
    },
    stop: () => listening.stop(),
  }
  return self
}

/** A server of MCP that wants a token of an authorization server. */
export interface GuardedServer {
  /** `http://127.0.0.1:PORT/mcp` */
  readonly url: string
  readonly stub: McpStub
  /** The metadata in place of its own; null: it has none. */
  metadata: Item | null
  /** The header of its refusals. */
  challenge: string
  /** The tokens that it was shown, in order. */
  readonly shown: (string | undefined)[]
  stop(): Promise<void>
}

export async function startGuardedServer(issuer: ScriptedIssuer): Promise<GuardedServer> {
  const stub = await startStub('modern')
  stub.tools = [{ name: 'echo', inputSchema: { type: 'object' } }]
  const listening = await listen((req, res) => void serve(req, res))
  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = new URL(req.url ?? '/', listening.origin).pathname
    if (path.startsWith('/.well-known/oauth-protected-resource')) {
      const body = self.metadata
      return void res.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}))
    }
    const { authorization } = req.headers
    const token = authorization?.replace(/^Bearer /, '')
    if (token === undefined || !issuer.valid.has(token)) {
      if (token !== undefined) self.shown.push(token)
      return void res.writeHead(401, { 'www-authenticate': self.challenge, 'content-type': 'application/json' }).end('{}')
    }
    self.shown.push(token)
    const headers = Object.fromEntries(
      Object.entries(req.headers).flatMap(([name, value]) => (/^(?:mcp-|accept|content-type)/.test(name) ? [[name, String(value)]] : [])),
    )
    const answer = await fetch(stub.url, { method: 'POST', headers, body: await bodyOf(req) })
    res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' }).end(await answer.text())
  }
  const self: GuardedServer = {
    url: `${listening.origin}/mcp`,
    stub,
    metadata: { resource: `${listening.origin}/mcp`, authorization_servers: [issuer.issuer], scopes_supported: ['tickets.read'] },
    challenge: `Bearer resource_metadata="${listening.origin}/.well-known/oauth-protected-resource/mcp"`,
    shown: [],
    async stop() {
      await Promise.all([listening.stop(), stub.stop()])
    },
  }
  return self
}
