import { type HookResults, loggedHooks } from '../../checks/hook-results.ts'
import { settled, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { redactionOf } from '../../ending/redact.ts'
import { keepsBodies } from '../../front/debug.ts'
import type { ExchangeBodies, ExchangeRecord, LoggedCost, Outcome } from '../../journal/log-record.ts'
import { longestModel } from '../../ending/attempts.ts'
import type { Reservation } from '../../limits/ledger.ts'
import { type Charge, noCharge } from '../../metering/charge.ts'
import { readsModels } from '../../limits/policy.ts'
import { passThrough } from '../../operations/match.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { rateHeaders } from '../../limits/rate-headers.ts'
import type { RpcCall } from '../protocol/messages.ts'
import type { McpHead } from './caller.ts'
import type { CallProgress } from './call-notes.ts'
import { isOfSearch } from './search.ts'
import { thingOf } from './rights.ts'

/**
 * Takes one request from the limits of its caller, policies included. A call counts as a request without tokens; the call of a tool costs its price.
 * Policies see the method, the server and the name as metadata.
 */
export function reserveCall(deps: PipelineDeps, head: McpHead, { call, isPaid }: ReservedCall): MaybePromise<Reservation> {
  const { key } = head.caller
  const scope = { organisationId: key.organisationId, workspaceId: key.workspaceId }
  return settled(deps.settings.acts.policies() ? deps.snapshot.policies(scope) : null, (all) => {
    // A policy about models, or about operations that run one, does not mean these calls.
    const policies = all?.filter((policy) => !readsModels([policy]) && !policy.conditions.some(({ key: name }) => name === 'endpoint_type'))
    return deps.ledger.reserve({
      call: {
        ...head,
        metadata: countedFacts(head, call),
        config: null,
        prompt: null,
        operation: passThrough,
        work: null,
        mirror: null,
        upstreamPath: head.exchange.url,
      },
      policies: policies ?? null,
      target: noTarget,
      body: noBody,
      prices: deps.prices,
      fee: isPaid ? 0n : priceOf(head, call),
    })
  })
}

/** The same as the facts of a call, with the name under which its thing counts: no spelling of it passes a policy. */
function countedFacts(head: McpHead, call: RpcCall): Readonly<Record<string, string>> {
  const thing = thingOf(call)
  return { ...callFacts(head, call), ...(thing !== null && { mcp_name: cutName(head.server.countedName(thing.kind, thing.name)) }) }
}

interface ReservedCall {
  readonly call: RpcCall
  /** True for the rest of a call that has been charged. */
  readonly isPaid: boolean
}

/** Returns the price of a call in pico-US-dollars; 0: it is free. */
function priceOf(head: McpHead, call: RpcCall): bigint {
  const { name } = call.params
  return call.method === 'tools/call' && typeof name === 'string' && !isOfSearch(head, call) ? head.server.priceOf(name) : 0n
}

/** The ends at which a server has done a call, or may have done it: a call that went out is free only if it was refused. */
const due: ReadonlySet<CallProgress> = new Set(['sent', 'answered'])

const costOf = (head: McpHead, { call, progress }: CallEnd): bigint => (due.has(progress) ? priceOf(head, call) : 0n)

const chargeOf = (amount: bigint): Charge => ({ ...noCharge, cost: { state: 'priced', amount, lines: [], unpriced: [] } })

/** The cost of a call in its log. No price list has its price, so that no recompute changes it. */
function loggedCost(amount: bigint): LoggedCost | null {
  if (amount === 0n) return null
  const text = String(amount)
  const line = { attempt: 0, dimension: 'tool_call', count: 1, unit: 'call', rate: text, amount: text, source: 'mcp_server', note: null }
  return { state: 'priced', amount: text, catalogue: null, saved: null, lines: [line], unpriced: [], charges: [] }
}

const noBody = { kind: 'none', bytes: null, json: undefined, stream: null, length: null } as const
/** Stands for the server, which is no provider of models. */
const noTarget = {
  providerId: 'mcp',
  provider: { baseUrl: null, auth: { kind: 'none' }, api: 'other', speaks: [], offers: [] },
  view: null,
  credential: { key: null, fields: {} },
  secrets: null,
  storedBy: null,
  isCallers: false,
  customHost: null,
  customHeaders: {},
  namedBy: 'stored',
  model: null,
  modelRewritten: false,
  skipsPtuCost: false,
} as const

/** Returns the headers with the state of the limits of a call. */
export function limitHeaders(head: McpHead, reservation: Reservation | null): readonly string[] {
  const standings = reservation?.standings ?? null
  if (standings === null) return []
  return rateHeaders(standings, { dialect: 'openai-chat', prefix: head.headers.prefix, theirs: [], now: Date.now() })
}

/** The end of a call, for its log. */
export interface CallEnd {
  readonly call: RpcCall
  readonly progress: CallProgress
  /** Null: no body was read. */
  readonly request: Buffer | null
  /** Without the credential of the server. */
  readonly response: string | null
  readonly status: number
  readonly outcome: Outcome
  readonly errorCode: string | null
  readonly hooks: HookResults
  readonly tokensSaved: number | null
  readonly stream: boolean
  readonly startedAt: number
  readonly sentAt: number | null
  readonly firstByteAt: number | null
  readonly responseBytes: number
  /** The revisions that the client and the server spoke; null: unknown. */
  readonly revisions: readonly [client: string | null, server: string | null]
  readonly reservation: Reservation | null
  /** True for the first record of an exchange, which has its id. */
  readonly isFirst: boolean
}

/** Settles, records and measures one call. Called once, before the last byte goes to the client. */
export function finishCall({ journal, metrics }: PipelineDeps, head: McpHead, end: CallEnd): void {
  const cost = costOf(head, end)
  const reached = end.sentAt === null ? 'unsent' : cost === 0n && end.status > 299 ? 'failed' : 'answered'
  const spent = end.reservation?.settle(chargeOf(cost), reached) ?? null
  if (cost > 0n) metrics.spent(mcpOperation, cost)
  const record = recordOf(head, end, { cost, spent })
  journal.append(record, bodiesOf(head, end, journal.maxBodyBytes))
  metrics.record({
    operation: mcpOperation,
    method: head.exchange.method,
    status: end.status,
    outcome: end.outcome,
    provider: null,
    stream: end.stream,
    cacheStatus: 'DISABLED',
    durationMs: record.durationMs,
    upstreamMs: record.upstreamMs,
    firstByteMs: record.firstByteMs,
    overheadMs: Math.max(0, (end.sentAt ?? performance.now()) - end.startedAt),
    usage: null,
  })
}

/** The request type of these calls in logs and metrics. */
export const mcpOperation = 'mcp'

/** Those that a call gets here: a caller's own of these names are left out. */
const ownFacts: ReadonlySet<string> = new Set(
  'mcp_method mcp_server mcp_name mcp_client mcp_client_revision mcp_server_revision mcp_tokens_saved'.split(' '),
)

/** The metadata with the method and the names of a call, as policies and logs see it; callers cannot set them. */
export function callFacts(head: McpHead, call: RpcCall): Readonly<Record<string, string>> {
  const metadata = Object.fromEntries(Object.entries(head.metadata).filter(([name]) => !ownFacts.has(name)))
  const { program } = head.caller
  const thing = nameOf(call)
  return {
    ...metadata,
    mcp_method: call.method.slice(0, 128),
    mcp_server: head.server.slug,
    ...(program !== null && { mcp_client: program.client }),
    ...(thing !== null && { mcp_name: thing }),
  }
}

const cutName = (name: string): string => name.slice(0, longestModel).toWellFormed()

function nameOf(call: RpcCall): string | null {
  const thing = thingOf(call)
  return thing === null ? null : cutName(thing.name)
}

/** The same with the revisions, for its log. */
const facts = (head: McpHead, { call, tokensSaved, revisions: [client, server] }: CallEnd) => ({
  ...callFacts(head, call),
  ...(tokensSaved !== null && { mcp_tokens_saved: String(tokensSaved) }),
  ...(client !== null && { mcp_client_revision: client }),
  ...(server !== null && { mcp_server_revision: server }),
})

interface CallSpend {
  /** Pico-US-dollars. */
  readonly cost: bigint
  readonly spent: ReturnType<Reservation['settle']>
}

function recordOf(head: McpHead, end: CallEnd, { cost, spent }: CallSpend): ExchangeRecord {
  const { exchange, caller, headers, trace, server } = head
  const { key } = caller
  const thing = nameOf(end.call)
  const now = performance.now()
  const redaction = redactionOf({ attempts: [], headers, caller })
  return {
    id: end.isFirst ? exchange.requestId : uuidv7(),
    organisationId: key.organisationId,
    workspaceId: key.workspaceId,
    createdAt: Math.round(Date.now() - (now - end.startedAt)),
    apiKeyId: key.id,
    userId: key.userId,
    clientAddress: exchange.clientAddress,
    method: exchange.method,
    path: exchange.url.split('?', 1)[0] ?? '',
    operation: mcpOperation,
    provider: null,
    providerSlug: server.slug,
    model: thing,
    status: end.status,
    outcome: end.outcome,
    errorCode: end.errorCode,
    stream: end.stream,
    durationMs: rounded(now - end.startedAt),
    upstreamMs: between(end.sentAt, now),
    firstByteMs: between(end.startedAt, end.firstByteAt),
    usage: null,
    usageSource: 'none',
    cost: loggedCost(cost),
    spent: spent && spent.map((one) => ({ attempt: 0, ...one })),
    jobs: null,
    retryCount: 0,
    cacheStatus: 'DISABLED',
    lastUsedOption: null,
    cachedLogId: null,
    mirrorOf: null,
    billed: true,
    config: null,
    traceId: trace.traceId,
    spanId: trace.spanId,
    parentSpanId: trace.parentSpanId,
    spanName: trace.spanName ?? `${end.call.method}${thing === null ? '' : ` ${thing}`}`.slice(0, 255).toWellFormed(),
    metadata: facts(head, end),
    requestBytes: end.request?.length ?? 0,
    responseBytes: end.responseBytes,
    upstreamUrl: end.sentAt === null ? null : server.url,
    prompt: null,
    hooks: loggedHooks(end.hooks, keepsBodies(headers)),
    attempts: null,
    translation: null,
    requestHeaders: redaction.headers(headers.forward),
    responseHeaders: {},
  }
}

const between = (from: number | null, to: number | null): number | null => (from === null || to === null ? null : rounded(to - from))
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000

function bodiesOf(head: McpHead, { request, response }: CallEnd, maxBytes: number): ExchangeBodies {
  if (!keepsBodies(head.headers)) return { request: null, response: null, requestTruncated: false, responseTruncated: false }
  const answer = response === null ? null : Buffer.from(response)
  return {
    request: request === null ? null : request.subarray(0, maxBytes),
    response: answer === null ? null : answer.subarray(0, maxBytes),
    requestTruncated: request !== null && request.length > maxBytes,
    responseTruncated: answer !== null && answer.length > maxBytes,
  }
}
