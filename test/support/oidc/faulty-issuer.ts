import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { startIssuer, type Issuer } from '../issuer.ts'

type Claims = Readonly<Record<string, unknown>>

/** The fault of an issuer. */
export interface Fault {
  /** Claims of the ID token in place of the right ones; undefined takes one away. */
  readonly claims?: Claims
  /** The header of the ID token. */
  readonly header?: Claims
  /** The ID token is signed by another party, with a key of the same name. */
  readonly forged?: true
  /** Parameters of the answer at the redirect URI; undefined takes one away. */
  readonly answer?: Readonly<Record<string, string | undefined>>
  /** The answer of the token endpoint, whole. */
  readonly token?: { readonly status: number; readonly body: string }
  /** The token endpoint never answers. */
  readonly hangs?: true
  /** Fields of the discovery document. */
  readonly discovery?: Claims
  /** The answer in place of the discovery document, whole. */
  readonly description?: { readonly status: number; readonly body: string }
  /** Seconds by which its clock is late. */
  readonly late?: number
}

/** An OpenID provider that follows its script, also against the standard. Unlike a good one it takes each code as often as it comes. */
export interface FaultyIssuer {
  readonly issuer: string
  /** Host and port of its keys. */
  readonly keysHost: string
  /** The claims of the person who signs in. */
  person: Claims
  fault: Fault
  /** The requests that it got, such as `POST /token`. */
  readonly asked: readonly string[]
  /** How often it was asked for its keys. */
  readonly askedForKeys: number
  /** The PKCE verifiers that came to its token endpoint; each must fit the challenge of its code. */
  readonly verifiers: readonly string[]
  /** A token that is signed as its ID tokens are; `forged` by another party. */
  sign(claims: Claims, header?: Claims, forged?: boolean): string
  close(): void
}

/** Returns the header of a token with the address of its keys, or with the keys. */
export const keysOfItsOwn = ({ issuer }: Pick<FaultyIssuer, 'issuer'>) => ({
  jku: `${issuer}/keys`,
  x5u: `${issuer}/certificate`,
  jwk: { kty: 'oct', k: 'AAAA' },
  x5c: ['AAAA'],
})

interface Started {
  readonly challenge: string
  readonly nonce: string
  readonly clientId: string
}

const without = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

export async function startFaultyIssuer(): Promise<FaultyIssuer> {
  const [keys, stranger] = await Promise.all([startIssuer(), startIssuer()])
  const started = new Map<string, Started>()
  const asked: string[] = []
  const verifiers: string[] = []
  const server = createServer((req, res) => void answer(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const own: FaultyIssuer = {
    issuer,
    keysHost: new URL(keys.url).host,
    person: { sub: 'nobody' },
    fault: {},
    asked,
    verifiers,
    get askedForKeys() {
      return keys.asked
    },
    sign: (claims, header, forged = false) => (forged ? stranger : keys).sign(claims, header),
    close() {
      for (const one of [keys, stranger]) one.close()
      server.closeAllConnections()
      server.close()
    },
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', issuer)
    asked.push(`${req.method} ${url.pathname}`)
    if (own.fault.late !== undefined) res.setHeader('date', new Date(Date.now() - own.fault.late * 1000).toUTCString())
    if (url.pathname === '/.well-known/openid-configuration') return describe(res)
    if (url.pathname === '/authorize') return authorize(url.searchParams, res)
    if (url.pathname === '/token' && own.fault.hangs === true) return
    if (url.pathname === '/token') return token(new URLSearchParams(await text(req)), res)
    json(res, 404, {})
  }

  function describe(res: ServerResponse): void {
    const { description } = own.fault
    if (description === undefined) return json(res, 200, discovery())
    res.writeHead(description.status, { 'content-type': 'application/json' }).end(description.body)
  }

  const discovery = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: keys.url,
    end_session_endpoint: `${issuer}/end-session`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    authorization_response_iss_parameter_supported: true,
    ...own.fault.discovery,
  })

  function authorize(query: URLSearchParams, res: ServerResponse): void {
    const code = randomUUID()
    started.set(code, {
      challenge: query.get('code_challenge') ?? '',
      nonce: query.get('nonce') ?? '',
      clientId: query.get('client_id') ?? '',
    })
    const back = new URL(query.get('redirect_uri') ?? '')
    const said = without({ code, state: query.get('state') ?? '', iss: issuer, ...own.fault.answer })
    for (const [name, value] of Object.entries(said)) back.searchParams.set(name, String(value))
    res.writeHead(303, { location: back.href }).end()
  }

  function token(form: URLSearchParams, res: ServerResponse): void {
    if (own.fault.token !== undefined)
      return void res.writeHead(own.fault.token.status, { 'content-type': 'application/json' }).end(own.fault.token.body)
    const flow = started.get(form.get('code') ?? '')
    const verifier = form.get('code_verifier') ?? ''
    verifiers.push(verifier)
    if (flow === undefined || createHash('sha256').update(verifier).digest('base64url') !== flow.challenge)
      return json(res, 400, { error: 'invalid_grant' })
    const now = Math.floor(Date.now() / 1000)
    const claims = without({
      iss: issuer,
      aud: flow.clientId,
      nonce: flow.nonce,
      iat: now,
      exp: now + 300,
      ...own.person,
      ...own.fault.claims,
    })
    const signer: Issuer = own.fault.forged === true ? stranger : keys
    json(res, 200, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token: signer.sign(claims, own.fault.header) })
  }

  return own
}

const json = (res: ServerResponse, status: number, body: unknown): void =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
