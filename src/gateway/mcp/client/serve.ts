import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { listKinds, lists } from '../protocol/capabilities.ts'
import { listAll } from '../upstream/upstream.ts'
import { type ClientFacts, metaKeys, metaOf, withMeta } from '../protocol/envelope.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import { McpFault, mcpFault } from '../protocol/faults.ts'
import { type RpcAnswer, type RpcCall, rpcCodes } from '../protocol/messages.ts'
import type { Era } from '../protocol/revisions.ts'
import type { ServerFacts, UpstreamLink, UpstreamRequest } from '../upstream/upstream-request.ts'
import { type CallNotes, noteSent } from './call-notes.ts'
import type { McpHead } from './caller.ts'
import { deniedCode, deniedResult, guardOf, toldClient } from './guard.ts'
import { callSearch, isOfSearch, searchList } from './search.ts'
import type { McpParts } from './parts.ts'
import { allowedItems, demandThing } from './rights.ts'

/** The methods that go on to servers, for clients of both eras. */
const passed: ReadonlySet<string> = new Set([
  ...listKinds.map((kind) => lists[kind].method),
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
])

/** Throws for a method that no server is asked for. */
export function demandMethod(method: string): void {
  if (!passed.has(method)) throw mcpFault('methodNotFound', `The method ${JSON.stringify(method.slice(0, 100))} is not known here.`)
}

/** Opens the link to the server of a request. */
export async function openLink(
  parts: McpParts,
  head: McpHead,
  client: ClientFacts & { readonly signal: AbortSignal; readonly noted?: CallNotes },
): Promise<UpstreamLink> {
  const { signal, noted } = client
  const noteAsked = (): void => {
    if (noted !== undefined) noteSent(noted)
  }
  const told = await toldClient(parts.deps, head, client)
  const peer = { server: head.upstream, principal: head.principal, client: told, noteAsked }
  return parts.upstream.link(peer, signal)
}

/** A request on its way to a server. */
export interface ServedCall {
  readonly deps: PipelineDeps
  readonly request: UpstreamRequest
  readonly noted: CallNotes
}

/**
 * Makes one request at a server: by the rights of its caller and the guardrails before, and without the things that it may not use after. Where a
 * guardrail denies the call of a tool, the tool has failed.
 */
export async function serveCall(head: McpHead, link: UpstreamLink, served: ServedCall): Promise<RpcAnswer> {
  try {
    return await callServer(head, link, served)
  } catch (thrown) {
    if (served.request.method === 'tools/call' && thrown instanceof McpFault && thrown.code === deniedCode) return deniedResult(thrown)
    throw thrown
  }
}

async function callServer(head: McpHead, link: UpstreamLink, { deps, request, noted }: ServedCall): Promise<RpcAnswer> {
  if (isOfSearch(head, request))
    return callSearch(head, request, () => {
      noteSent(noted)
      return listAll(link, 'tools', request.signal)
    })
  if (request.method === 'tools/list' && head.server.discovery === 'search' && link.facts.capabilities['tools'] !== undefined) {
    const { answer, saved } = searchList(head)
    noted.tokensSaved = saved
    return answer
  }
  demandThing(head, request)
  noted.serverRevision = link.facts.revision
  const guard = await guardOf(deps, head, { call: request, noted })
  const sent = guard === null ? request : await guard.before(request)
  noteSent(noted)
  const given = await link.request(followed(sent, noted, link))
  noted.progress = progressOf(given)
  const answer = guard === null ? given : await guard.after(given)
  return 'result' in answer ? { result: await allowedItems(head, request.method, answer.result) } : answer
}

/** Returns a request whose progress is noted. */
function followed(request: UpstreamRequest, noted: CallNotes, { facts }: UpstreamLink): UpstreamRequest {
  const { ask } = request
  return {
    ...request,
    notify: (told) => request.notify(told),
    mark: (mark) => void (noted.progress = mark),
    ask:
      ask &&
      ((questions) => {
        if (facts.era === 'modern') noted.progress = 'asked'
        return ask(questions)
      }),
  }
}

const progressOf = (answer: RpcAnswer): CallNotes['progress'] =>
  'error' in answer ? 'refused' : answer.result['resultType'] === 'input_required' ? 'asked' : 'answered'

/** So long a client may keep a list that came without such a time. Rights may change at any moment. */
const usualTtlMs = 0
const cached: ReadonlySet<string> = new Set([...listKinds.map((kind) => lists[kind].method), 'resources/read', 'server/discover'])

/** Returns an answer as modern clients have it. */
export function toModern({ method, params }: RpcCall, answer: RpcAnswer, facts: ServerFacts): RpcAnswer {
  if ('error' in answer) {
    const { error } = answer
    if (error.code !== rpcCodes.resourceNotFound) return answer
    return { error: { data: { uri: params['uri'] }, ...error, code: rpcCodes.invalidParams } }
  }
  const { result } = answer
  const typed = { ...result, resultType: typeof result['resultType'] === 'string' ? result['resultType'] : 'complete' }
  // The view of one caller is not for others.
  const kept = cached.has(method) ? { ...typed, ttlMs: ttlOf(result), cacheScope: 'private' } : typed
  return { result: withMeta(kept, { [metaKeys.server]: facts.serverInfo }) }
}

const ttlOf = ({ ttlMs }: Fields): number => (typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0 ? ttlMs : usualTtlMs)

/** Returns an answer of a server as legacy clients have it. */
export function toLegacy(method: string, answer: RpcAnswer, era: Era): RpcAnswer {
  if ('error' in answer) {
    const isMissing = era === 'modern' && method === 'resources/read' && answer.error.code === rpcCodes.invalidParams
    return isMissing ? { error: { ...answer.error, code: rpcCodes.resourceNotFound } } : answer
  }
  if (era === 'legacy') return answer
  const { resultType: _, ttlMs: _ttl, cacheScope: _scope, ...rest } = answer.result
  const meta = Object.entries(metaOf(rest)).filter(([key]) => key !== metaKeys.server)
  const { _meta, ...plain } = rest
  return { result: meta.length === 0 ? plain : { ...plain, _meta: Object.fromEntries(meta) } }
}

/** The capabilities that clients see: those whose methods pass. */
const told = ['tools', 'prompts', 'resources', 'completions', 'logging', 'experimental', 'extensions']
const notPassed = 'io.modelcontextprotocol/tasks'

/** Returns the capabilities of a server that its clients have here. */
export function toldCapabilities({ capabilities }: ServerFacts): Fields {
  const kept = told.flatMap((name): [string, unknown][] => {
    const value = capabilities[name]
    if (value === undefined) return []
    if (name !== 'extensions' || !isFields(value)) return [[name, value]]
    return [[name, Object.fromEntries(Object.entries(value).filter(([key]) => key !== notPassed))]]
  })
  return Object.fromEntries(kept)
}
