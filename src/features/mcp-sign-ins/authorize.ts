import { route } from '../../app/route.ts'
import type { MountedRequest } from '../../app/mounted-app.ts'
import { invokeScope } from '../../gateway/ports/mcp.ts'
import { ApiError } from '../../lib/errors.ts'
import { z } from 'zod'
import { isForeign, sessionAuthenticator } from '../sessions/index.ts'
import { inTenant } from '../../app/database/orm.ts'
import { letsNoneIn } from './offered-servers.ts'
import { issuerOf } from './metadata.ts'
import { comeBackPage, refusalPage, type RenderedFault } from './pages.ts'
import { providerOf } from './provider.ts'
import { replayed } from './replayed.ts'
import { during } from './visit.ts'

/** The longest request: a browser that signs in first carries it along. */
const longest = 4096

/** The address of a new request, and that of one that goes on: another could lead away from here. */
const requestAddress = /^\/oauth\/authorize(?:\/[\w-]{1,64})?$/

/**
 * Answers a program that asks for a person's leave, by the browser of the person (RFC 6749, section 4.1). No row is written, and no document fetched,
 * before the person is known: strangers fill no table.
 */
export async function authorize(request: MountedRequest, url: URL): Promise<'answered'> {
  const { req, res, deps } = request
  if (req.method !== 'GET') throw new ApiError('method_not_allowed', 'This address takes GET.', { headers: ['allow', 'GET'] })
  if (!requestAddress.test(url.pathname)) throw new ApiError('not_found', 'There is nothing at this address.')
  const address = url.pathname + url.search
  if (address.length > longest) throw new ApiError('AB01', `A request is of at most ${longest} characters.`)
  // The cookie of a session comes along from our own pages alone.
  if (isForeign(req.headers)) return sendPage(request, comeBackPage(request, `./${url.pathname.split('/').at(-1)}${url.search}`))
  const userAndHome = await personOf(request)
  if (userAndHome === null) return sendTo(request, `${issuerOf(deps.config)}/console/sign-in?return_to=${encodeURIComponent(address)}`)
  const fault = faultOf(url)
  if (fault !== null) return sendPage(request, refusalPage(request, fault), 400)
  const wanted = { ...userAndHome, resource: url.searchParams.get('resource') ?? '' }
  if (await inTenant(deps.orm, wanted.organisationId, (em) => letsNoneIn(em, deps, wanted)))
    return sendPage(request, refusalPage(request, keyless), 403)
  const visit = { ...request, ...userAndHome }
  await during(visit, () => providerOf(deps)(replayed(req, { config: deps.config, url: asked(url), body: null }), res))
  return 'answered'
}

const keyless: RenderedFault = {
  error: 'access_denied',
  error_description:
    'You may make no API keys for yourself where this server is, and so let no programs in either. A manager there can tell you more.',
}

/** Returns the fault of a request that the library would accept; null: it has none. */
function faultOf({ searchParams }: URL): RenderedFault | null {
  if (searchParams.getAll('resource').length > 1)
    return { error: 'invalid_target', error_description: 'resource must name one MCP server.' }
  // Other ways to the program are pages that send forms.
  const mode = searchParams.get('response_mode')
  return mode === null || mode === 'query' ? null : { error: 'invalid_request', error_description: 'response_mode must be query.' }
}

/** There is one scope. A program that asks for none, or for others, finds it in the answer. */
function asked(url: URL): string {
  if (!url.searchParams.has('client_id')) return url.pathname + url.search
  const params = new URLSearchParams(url.searchParams)
  params.set('scope', invokeScope)
  return `${url.pathname}?${params.toString()}`
}

/** Stands for these requests where a session is read: they need no scope, but the second factor that the organisation asks for. */
const anyRequest = route({ method: 'GET', path: '/oauth/authorize', summary: 'Let a program in', permission: [], response: z.object({}) })(
  () => Promise.resolve({}),
)

/** Returns the person of the session in the browser; null: there is no session. */
async function personOf({ req, deps, clientAddress }: MountedRequest) {
  const asking = { route: anyRequest, method: 'GET', headers: req.headers, ownHeader: () => undefined, clientAddress, looksOnly: true }
  try {
    const known = await sessionAuthenticator.authenticate(asking, deps)
    return known === null ? null : { organisationId: known.actor.organisationId, userId: known.actor.id }
  } catch (error) {
    // A session that has ended.
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

function sendPage({ res }: MountedRequest, { html, headers }: ReturnType<typeof comeBackPage>, status = 200): 'answered' {
  res.writeHead(status, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(html)
  return 'answered'
}

function sendTo({ res }: MountedRequest, location: string): 'answered' {
  res.writeHead(303, { location, 'content-length': '0' }).end()
  return 'answered'
}
