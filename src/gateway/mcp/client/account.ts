import { settled, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { redactionOf } from '../../ending/redact.ts'
import { keepsBodies } from '../../front/debug.ts'
import type { ExchangeBodies, ExchangeRecord, Outcome } from '../../journal/log-record.ts'
import { longestModel } from '../../ending/attempts.ts'
import type { Reservation } from '../../limits/ledger.ts'
import { readsModels } from '../../limits/policy.ts'
import { passThrough } from '../../operations/match.ts'
import type { PipelineDeps } from '../../pipeline.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { rateHeaders } from '../../limits/rate-headers.ts'
import type { RpcCall } from '../protocol/messages.ts'
import type { McpHead } from './caller.ts'
import { thingOf } from './rights.ts'

/** Takes one request from the limits of its caller, policies included. A call counts as a request, without tokens or costs. */
export function reserveCall(deps: PipelineDeps, head: McpHead): MaybePromise<Reservation> {
  const { key } = head.caller
  const scope = { organisationId: key.organisationId, workspaceId: key.workspaceId }
  return settled(deps.settings.acts.policies() ? deps.snapshot.policies(scope) : null, (all) => {
    // A policy about models, or about operations that run one, does not mean these calls.
    const policies = all?.filter((policy) => !readsModels([policy]) && !policy.conditions.some(({ key: name }) => name === 'endpoint_type'))
    return deps.ledger.reserve({
      call: { ...head, config: null, prompt: null, operation: passThrough, work: null, mirror: null, upstreamPath: head.exchange.url },
      policies: policies ?? null,
      target: noTarget,
      body: noBody,
      prices: deps.prices,
    })
  })
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
  /** Null: no body was read. */
  readonly request: Buffer | null
  /** Without the credential of the server. */
  readonly response: string | null
  readonly status: number
  readonly outcome: Outcome
  readonly errorCode: string | null
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
  const spent = end.reservation?.settle(null, end.sentAt === null ? 'unsent' : end.status > 299 ? 'failed' : 'answered') ?? null
  const record = recordOf(head, end, spent)
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

/** The fields of the metadata with the method, the names and the revisions of a call; callers cannot set them. */
const facts = (head: McpHead, { call: { method }, revisions: [client, server] }: CallEnd, thing: string | null) => ({
  ...head.metadata,
  mcp_method: method.slice(0, 128),
  mcp_server: head.server.slug,
  ...(thing !== null && { mcp_name: thing }),
  ...(client !== null && { mcp_client_revision: client }),
  ...(server !== null && { mcp_server_revision: server }),
})

function recordOf(head: McpHead, end: CallEnd, spent: ReturnType<Reservation['settle']>): ExchangeRecord {
  const { exchange, caller, headers, trace, server } = head
  const { key } = caller
  const thing = thingOf(end.call)?.name.slice(0, longestModel).toWellFormed() ?? null
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
    cost: null,
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
    metadata: facts(head, end, thing),
    requestBytes: end.request?.length ?? 0,
    responseBytes: end.responseBytes,
    upstreamUrl: end.sentAt === null ? null : server.url,
    prompt: null,
    hooks: null,
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
