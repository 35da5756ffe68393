import { ApiError } from '../../../lib/errors.ts'
import { settled, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { findKey, lacks, type Caller } from '../../callers/identify.ts'
import type { KeyView } from '../../callers/key.ts'
import { isSignInToken } from '../../../lib/api-key.ts'
import { holdsKeyOfOurs } from '../../callers/own-keys.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { readMetadata, readTrace, type Trace } from '../../front/metadata.ts'
import { checkLogHeaders } from '../../front/debug.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import { bearerToken } from '../../wire/bearer.ts'
import { headerValue } from '../../wire/header-list.ts'
import { type CallerHeaders, sortHeaders } from '../../wire/headers.ts'
import { invokeScope, type McpServer, type McpSignInView } from '../registry.ts'
import { redactionOfHeaders } from '../../ending/redact.ts'
import type { UpstreamServer } from '../upstream/upstream-request.ts'
import type { McpPath } from './paths.ts'
import { signInOf } from './sign-in.ts'

/** One request of a client, with its caller and its server. */
export interface McpHead {
  readonly exchange: Exchange
  readonly path: McpPath
  readonly caller: McpCallerFound
  readonly headers: CallerHeaders
  readonly trace: Trace
  readonly metadata: Readonly<Record<string, string>>
  readonly server: McpServer
  /** The server with the credential that goes to it for this caller. */
  readonly upstream: UpstreamServer
  /** The name of the owner of kept state. */
  readonly principal: string
  /** Takes the credential of the server out of a text. */
  readonly hide: (text: string) => string
}

/** A caller of servers. */
export interface McpCallerFound extends Caller {
  /** The program that a person let in, and the server where; null: the caller has a key. */
  readonly program: Pick<McpSignInView, 'id' | 'client' | 'serverId'> | null
}

const letsNoneIn =
  'The person of this program may let none in here now: they may make no API keys for themselves, or have left the workspace.'

/** Finds the caller of a request, with the scope that calls to servers need. Throws `unauthorized`, `expired_key` or `forbidden`. */
export function identifyCaller(
  deps: PipelineDeps,
  exchange: Pick<Exchange, 'clientAddress'>,
  headers: CallerHeaders,
): MaybePromise<McpCallerFound> {
  const { clientAddress: address } = exchange
  const toCaller = (key: KeyView, secret: string, program: McpCallerFound['program']): McpCallerFound => {
    if (!key.scopes.has(invokeScope)) {
      deps.metrics.authFailure('scope')
      throw lacks(key, invokeScope, {
        code: 'forbidden',
        message: program === null ? `This API key lacks the scope ${invokeScope}, which MCP servers need.` : letsNoneIn,
      })
    }
    return { key, program, holdsOwnKey: (text) => holdsKeyOfOurs(text, secret, deps.settings.chosenKeys) }
  }
  const token = tokenIn(headers)
  if (token !== null) return settled(programWith(deps, token, address), (found) => toCaller(found.key, token, found))
  return settled(findKey(headers, { ...deps, queryKey: null, address }), ({ key, secret }) => toCaller(key, secret, null))
}

/** Returns the token of a program that a person let in; null: the request shows none, or a key of ours beside it. */
function tokenIn({ service, keys }: CallerHeaders): string | null {
  const token = service.get('api-key') === undefined ? bearerToken(keys['authorization']) : undefined
  return token !== undefined && isSignInToken(token) ? token : null
}

function programWith({ snapshot, failures, metrics }: PipelineDeps, token: string, address: string): MaybePromise<McpSignInView> {
  return settled(snapshot.mcpSignIn(token, address), (found) => {
    if (found !== null && (found.key.expiresAt ?? 0) > Date.now()) return found
    const limited = failures.failed(address)
    metrics.authFailure(limited === null ? 'token' : 'limited')
    throw (
      limited ??
      new ApiError('unauthorized', 'The token is not known here, or its time is over, or it was given back.', { param: 'authorization' })
    )
  })
}

/** The same answer for a server that is not there, and for one of another tenant. */
const unknownServer = () => new ApiError('not_found', 'There is no MCP server at this address.', { param: 'server' })

/** Throws where a program shows a token for another server: each is for one alone (RFC 8707). */
export function demandOwnServer({ program }: McpCallerFound, { id }: Pick<McpServer, 'id'>): void {
  if (program !== null && program.serverId !== id)
    throw new ApiError('unauthorized', 'The token is for another MCP server.', { param: 'authorization' })
}

/** Reads the head of a request: its caller and its server. Rejects with their refusals. */
export async function readMcpHead(deps: PipelineDeps, exchange: Exchange, path: McpPath): Promise<McpHead> {
  const headers = sortHeaders(exchange.headers, deps.prefixes)
  const caller = await identifyCaller(deps, exchange, headers)
  const { key } = caller
  checkLogHeaders(headers)
  const workspace = path.workspace ?? key.workspaceId
  const server = await deps.snapshot.mcpServer({ organisationId: key.organisationId, workspace }, path.server)
  if (server === null || server.organisationId !== key.organisationId || server.workspaceId !== key.workspaceId) throw unknownServer()
  demandOwnServer(caller, server)
  if (!server.admits(key))
    throw new ApiError('forbidden', 'Your user has no access to this MCP server. A manager of its workspace gives it.')
  const signIn = await signInOf(deps, server, key)
  const upstream = { ...toUpstream(server, { headers, caller }), ...(signIn !== null && { signIn }) }
  const redaction = redactionOfHeaders(upstream.headers)
  return {
    exchange,
    path,
    caller,
    headers,
    trace: readTrace(headers, exchange.requestId, headerValue(headers.forward, 'traceparent')),
    metadata: readMetadata(headers, key.metadata),
    server,
    upstream,
    principal: principalOf(caller),
    hide: (text) => redaction.text(signIn === null ? text : signIn.hide(text)),
  }
}

/** Each program of a person has sessions of its own. */
const principalOf = ({ key, program }: McpCallerFound): string =>
  `${key.organisationId}/${key.workspaceId ?? ''}/${program === null ? (key.userId ?? key.id) : program.id}`

/** Returns the server with its credential, and the headers of the caller that are meant for it; never a key of ours. */
function toUpstream(
  { id, organisationId, url, transport, auth, headers: stored, passthroughHeaders }: McpServer,
  { headers, caller }: Pick<McpHead, 'headers' | 'caller'>,
): UpstreamServer {
  const passed = Object.entries(passthroughHeaders).flatMap(([name, from]) => {
    const value = headerValue(headers.forward, from.toLowerCase())
    return value === undefined || caller.holdsOwnKey(value) ? [] : [name, value]
  })
  const own = { ...stored, ...(auth.type === 'headers' && auth.headers) }
  return { id, organisationId, allowedHosts: caller.key.allowedHosts, url, transport, headers: [...Object.entries(own).flat(), ...passed] }
}
