import { ApiError } from '../../../lib/errors.ts'
import { settled, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { findKey, lacks, type Caller } from '../../callers/identify.ts'
import { holdsKeyOfOurs } from '../../callers/own-keys.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { readMetadata, readTrace, type Trace } from '../../front/metadata.ts'
import { checkDebug } from '../../front/debug.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import { headerValue } from '../../wire/header-list.ts'
import { type CallerHeaders, sortHeaders } from '../../wire/headers.ts'
import { invokeScope, type McpServer } from '../registry.ts'
import { redactionOfHeaders } from '../../ending/redact.ts'
import type { UpstreamServer } from '../upstream/upstream-request.ts'
import type { McpPath } from './paths.ts'

/** One request of a client, with its caller and its server. */
export interface McpHead {
  readonly exchange: Exchange
  readonly path: McpPath
  readonly caller: Caller
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

/** Finds the caller of a request, with the scope that calls to servers need. Throws `unauthorized`, `expired_key` or `forbidden`. */
export function identifyCaller(
  deps: PipelineDeps,
  exchange: Pick<Exchange, 'clientAddress'>,
  headers: CallerHeaders,
): MaybePromise<Caller> {
  const found = findKey(headers, { ...deps, queryKey: null, address: exchange.clientAddress })
  return settled(found, ({ key, secret }) => {
    if (!key.scopes.has(invokeScope)) {
      deps.metrics.authFailure('scope')
      throw lacks(key, invokeScope, { code: 'forbidden', message: `This API key lacks the scope ${invokeScope}, which MCP servers need.` })
    }
    return { key, holdsOwnKey: (text) => holdsKeyOfOurs(text, secret, deps.settings.chosenKeys) }
  })
}

/** The same answer for a server that is not there, and for one of another tenant. */
const unknownServer = () => new ApiError('not_found', 'There is no MCP server at this address.', { param: 'server' })

/** Reads the head of a request: its caller and its server. Rejects with their refusals. */
export async function readMcpHead(deps: PipelineDeps, exchange: Exchange, path: McpPath): Promise<McpHead> {
  const headers = sortHeaders(exchange.headers, deps.prefixes)
  const caller = await identifyCaller(deps, exchange, headers)
  const { key } = caller
  checkDebug(headers)
  const workspace = path.workspace ?? key.workspaceId
  const server = await deps.snapshot.mcpServer({ organisationId: key.organisationId, workspace }, path.server)
  if (server === null || server.organisationId !== key.organisationId || server.workspaceId !== key.workspaceId) throw unknownServer()
  if (!server.admits(key))
    throw new ApiError('forbidden', 'Your user has no access to this MCP server. A manager of its workspace gives it.')
  const upstream = toUpstream(server, { headers, caller })
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
    principal: `${key.organisationId}/${key.workspaceId ?? ''}/${key.userId ?? key.id}`,
    hide: (text) => redaction.text(text),
  }
}

/** Returns the server with its credential, and the headers of the caller that are meant for it; never a key of ours. */
function toUpstream(
  { id, organisationId, url, transport, auth, headers: stored, passthroughHeaders }: McpServer,
  { headers, caller }: Pick<McpHead, 'headers' | 'caller'>,
): UpstreamServer {
  if (auth.type === 'oauth_auto' || auth.type === 'oauth_client_credentials')
    throw new ApiError('credential_failed', 'This MCP server needs a sign-in by OAuth, which this installation does not have yet.')
  const passed = Object.entries(passthroughHeaders).flatMap(([name, from]) => {
    const value = headerValue(headers.forward, from.toLowerCase())
    return value === undefined || caller.holdsOwnKey(value) ? [] : [name, value]
  })
  const own = { ...stored, ...(auth.type === 'headers' && auth.headers) }
  return { id, organisationId, allowedHosts: caller.key.allowedHosts, url, transport, headers: [...Object.entries(own).flat(), ...passed] }
}
