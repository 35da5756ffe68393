import { createHash, randomBytes } from 'node:crypto'
import { send, type RawAnswer } from '../http.ts'
import type { Browser } from '../people.ts'
import { redirectUri } from './program-host.ts'

/** The address by which people reach the installation of these tests. */
export const issuer = 'https://gate.example'

/** A browser at an installation that listens on `origin` and calls itself `issuer`. It keeps the cookies that it is given. */
export interface TestBrowser {
  readonly cookies: Map<string, string>
  get(location: string, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>
  /** `text`: a body as it is, in place of JSON. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>, text?: string): Promise<RawAnswer>
}

export function openBrowser(origin: string, signedIn: Pick<Browser, 'cookie' | 'csrf'> | null): TestBrowser {
  const cookies = new Map<string, string>()
  if (signedIn !== null) keepCookie(cookies, signedIn.cookie)
  const ask = async (address: string, request: Parameters<typeof send>[1]) => {
    const url = new URL(address, issuer)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await send(origin + url.pathname + url.search, {
      ...request,
      headers: { cookie, accept: 'text/html', ...request?.headers },
    })
    for (const one of answer.headers['set-cookie'] ?? []) keepCookie(cookies, one)
    return answer
  }
  return {
    cookies,
    get: (location, headers = {}) => ask(location, { headers }),
    post: (path, body, headers = {}, text) =>
      ask(path, {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          origin: issuer,
          'sec-fetch-site': 'same-origin',
          'x-csrf-token': signedIn?.csrf ?? '',
          ...headers,
        },
        body: text ?? JSON.stringify(body ?? {}),
      }),
  }
}

function keepCookie(cookies: Map<string, string>, text: string): void {
  const [pair = ''] = text.split(';', 1)
  const at = pair.indexOf('=')
  cookies.set(pair.slice(0, at), pair.slice(at + 1))
}

export const newVerifier = () => randomBytes(32).toString('base64url')
export const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** Returns the address to which a program sends the browser; null takes a parameter away. */
export function askingAddress(clientId: string, params: Readonly<Record<string, string | null>> = {}): string {
  const all = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: challengeOf('a'.repeat(43)),
    code_challenge_method: 'S256',
    scope: 'mcp.invoke',
    state: 'state of the program',
    resource: `${issuer}/tickets/mcp`,
    ...params,
  }
  const kept = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value] as [string, string]]))
  return `/oauth/authorize?${new URLSearchParams(kept).toString()}`
}

/** Returns the id of the request in the address of the page to which the browser was sent. */
export function requestIn(answer: RawAnswer): string {
  const { location = '' } = answer.headers
  const id = /^https:\/\/gate\.example\/console\/let-in#request=([\w-]+)$/.exec(location)?.[1]
  if (id === undefined) throw new Error(`not sent to the page: ${answer.status} ${location} ${answer.text}`)
  return id
}

interface Letting {
  readonly browser: TestBrowser
  readonly clientId: string
  readonly serverId: string
  readonly params?: Readonly<Record<string, string>>
}

/** Lets a program in as the person in a browser; returns the address at which it gets its answer. */
export async function letIn({ browser, clientId, serverId, params = {} }: Letting): Promise<URL> {
  const id = requestIn(await browser.get(askingAddress(clientId, params)))
  const decided = await browser.post(`/oauth/requests/${id}`, { decision: 'allow', mcp_server_id: serverId })
  if (decided.status !== 200) throw new Error(`not let in: ${decided.text}`)
  const sent = await browser.get((JSON.parse(decided.text) as { redirect_to: string }).redirect_to)
  if (sent.status !== 303) throw new Error(`no answer to the program: ${sent.status} ${sent.text}`)
  return new URL(sent.headers.location ?? '')
}

export interface TokenAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, string>>
  readonly headers: RawAnswer['headers']
}

/** Sends a form to an address of the authorization server. */
export async function sendForm(origin: string, path: string, fields: Readonly<Record<string, string>>): Promise<TokenAnswer> {
  const answer = await send(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })
  const body = (answer.text === '' ? {} : JSON.parse(answer.text)) as Readonly<Record<string, string>>
  return { status: answer.status, body, headers: answer.headers }
}

/** Redeems the code in the answer to a program. */
export const redeem = (origin: string, clientId: string, code: string, more: Readonly<Record<string, string>> = {}) =>
  sendForm(origin, '/oauth/token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: redirectUri,
    code_verifier: 'a'.repeat(43),
    resource: `${issuer}/tickets/mcp`,
    ...more,
  })

/** Asks for new tokens. */
export const refresh = (origin: string, clientId: string, token: string, more: Readonly<Record<string, string>> = {}) =>
  sendForm(origin, '/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more })
