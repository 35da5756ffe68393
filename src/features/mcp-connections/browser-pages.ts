import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import type { HtmlPage, MountedApp, MountedRequest } from '../../app/mounted-app.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { escapeHtml } from '../../lib/text/escape-html.ts'
import { comeBackPage, readForm } from '../mcp-sign-ins/index.ts'
import { connectPath } from '../mcp-tokens/index.ts'
import { demandNoForeignOrigin, isForeign, sessionAuthenticator } from '../sessions/index.ts'
import { clientDocument, paths } from './addresses.ts'
import { type BrowserPerson, finishSignIn } from './finish.ts'
import { findConnectable, prepareSignIn, storeRequest } from './start.ts'

/** The longest address. */
const longest = 8192

/** The pages on which people connect MCP servers, and the document that describes Gatehouse as their client. */
export const connectionPages: MountedApp = {
  paths: [connectPath, paths.callback, paths.client],
  handle(request) {
    const url = new URL(request.req.url ?? '/', 'http://own.invalid')
    return url.pathname === paths.client ? sendDocument(request) : showPage(request, url)
  },
}

async function showPage(request: MountedRequest, url: URL): Promise<'answered'> {
  const { method, headers } = request.req
  if (url.pathname.length + url.search.length > longest) throw new ApiError('AB01', `An address has at most ${longest} characters.`)
  const isPost = method === 'POST' && url.pathname === connectPath
  if (!isPost && method !== 'GET') throw new ApiError('method_not_allowed', 'This address takes GET.', { headers: ['allow', 'GET'] })
  // The cookie of a session comes along from our own pages alone.
  if (isForeign(headers))
    return isPost
      ? refuse(request, 'The form was sent by another site.', 403)
      : sendPage(request, comeBackPage(request, `./${url.pathname.split('/').at(-1)}${url.search}`))
  const person = await personOf(request)
  if (url.pathname !== connectPath) return person === null ? refuse(request, sessionIsOver, 401) : comeBack(request, url, person)
  return person === null ? sendToSignIn(request, url) : connect(request, { url, person, isPost })
}

interface Visitor extends BrowserPerson {
  readonly csrf: string
}

interface Visit {
  readonly url: URL
  readonly person: Visitor
  readonly isPost: boolean
}

async function connect(request: MountedRequest, { url, person, isPost }: Visit): Promise<'answered'> {
  const serverId = url.searchParams.get('server') ?? ''
  if (!isUuid(serverId)) return refuse(request, 'The address names no MCP server.')
  const { deps } = request
  const connecting = { ...person, serverId: serverId.toLowerCase() }
  try {
    const { server, integration } = await inTenant(deps.orm, person.organisationId, (em) => findConnectable(em, deps, connecting))
    if (!isPost)
      return sendPage(request, connectPage(request, { name: server.name, host: new URL(integration.url).host, csrf: person.csrf }))
    await demandOwnForm(request, person)
    const prepared = await prepareSignIn(deps, connecting)
    await inTenant(deps.orm, person.organisationId, (em) => storeRequest(em, deps, { connecting, prepared }))
    return sendPage(request, comeBackPage(request, prepared.asked.url))
  } catch (thrown) {
    return refuseWith(request, thrown)
  }
}

/** Refuses a form that another page has sent. */
async function demandOwnForm(request: MountedRequest, { csrf }: Visitor): Promise<void> {
  demandNoForeignOrigin(request.deps, request.req.headers)
  const shown = Buffer.from((await readForm(request)).get('csrf') ?? '')
  const own = Buffer.from(csrf)
  if (shown.length !== own.length || !timingSafeEqual(shown, own))
    throw new ApiError('AB03', 'The form is of another session. Open the page again.')
}

async function comeBack(request: MountedRequest, url: URL, person: Visitor): Promise<'answered'> {
  try {
    const name = await finishSignIn(request, person, url.searchParams)
    const main = `<h1>Connected</h1><p>You have signed in at ${escapeHtml(name)}. Go back to your program, and call again.</p>`
    return sendPage(request, request.page('Connected', main))
  } catch (thrown) {
    return refuseWith(request, thrown)
  }
}

function refuseWith(request: MountedRequest, thrown: unknown): 'answered' {
  if (!(thrown instanceof ApiError) || thrown.status === 500) throw thrown
  return refuse(request, thrown.message, thrown.status >= 500 ? 502 : thrown.status)
}

const refuse = (request: MountedRequest, message: string, status = 400): 'answered' =>
  sendPage(request, request.page('Not connected', `<h1>Not connected</h1><p role="alert">${escapeHtml(message)}</p>`), status)

interface ShownServer {
  readonly name: string
  readonly host: string
  readonly csrf: string
}

/** The page on which a person agrees to sign in: another site could send a browser here. */
function connectPage({ page }: MountedRequest, { name, host, csrf }: ShownServer): HtmlPage {
  const { html, headers } = page(
    'Connect a server',
    `<h1>Connect ${escapeHtml(name)}</h1>
      <p>You will sign in at the MCP server ${escapeHtml(host)}. Gatehouse then calls it as you, for your own programs alone.</p>
      <form method="post"><input type="hidden" name="csrf" value="${escapeHtml(csrf)}" /><button type="submit">Go on</button></form>`,
  )
  const policy = headers['content-security-policy'] ?? ''
  return {
    html,
    headers: {
      ...headers,
      'cache-control': 'no-store',
      'content-security-policy': policy.replace("form-action 'none'", "form-action 'self'"),
    },
  }
}

/** Stands for these requests where a session is read: they need no scope, but the second factor that the organisation asks for. */
const anyRequest = route({ method: 'GET', path: connectPath, summary: 'Connect an MCP server', permission: [], response: z.object({}) })(
  () => Promise.resolve({}),
)

/** Returns the person of the session in the browser; null: there is no session. */
async function personOf({ req, deps, clientAddress }: MountedRequest): Promise<Visitor | null> {
  const asking = { route: anyRequest, method: 'GET', headers: req.headers, ownHeader: () => undefined, clientAddress, looksOnly: true }
  try {
    const known = await sessionAuthenticator.authenticate(asking, deps)
    const { session, organisationId, id: userId, name = null } = known?.actor ?? {}
    if (session === undefined || organisationId === undefined || userId === undefined) return null
    return { organisationId, userId, sessionId: session.id, csrf: session.csrfToken, email: name }
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

const sessionIsOver = 'Your session at Gatehouse is over, or is in another browser. Sign in, and begin again.'

function sendToSignIn({ res, deps }: MountedRequest, url: URL): 'answered' {
  const location = `${ownOrigin(deps.config).replace(/\/$/, '')}/console/sign-in?return_to=${encodeURIComponent(url.pathname + url.search)}`
  res.writeHead(303, { location, 'content-length': '0' }).end()
  return 'answered'
}

function sendPage({ res }: MountedRequest, { html, headers }: HtmlPage, status = 200): 'answered' {
  res.writeHead(status, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(html)
  return 'answered'
}

async function sendDocument({ req, res, deps }: MountedRequest): Promise<'answered'> {
  if (req.method !== 'GET' && req.method !== 'HEAD')
    throw new ApiError('method_not_allowed', 'This address takes GET.', { headers: ['allow', 'GET, HEAD'] })
  const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }
  res.writeHead(200, headers).end(JSON.stringify(clientDocument(deps.config)))
  return 'answered'
}
