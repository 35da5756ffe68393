import { ApiError } from '../lib/errors.ts'
import type { RequestBody } from './wire/body.ts'
import type { Verdict } from './checks/check.ts'
import type { HookResults } from './checks/hook-results.ts'
import type { GuardrailPlan } from './checks/plan.ts'
import type { ChosenConfig } from './config/choose.ts'
import type { Outcome } from './journal/log-record.ts'
import type { Reservation } from './limits/ledger.ts'
import type { Exchange } from './exchange/exchange.ts'
import type { CallerHeaders } from './wire/headers.ts'
import type { Caller } from './callers/identify.ts'
import type { Trace } from './front/metadata.ts'
import { type MatchedOperation, passThrough } from './front/match.ts'
import type { Prompt } from './prompts/prompt.ts'
import type { RelayResult } from './answers/relay.ts'
import type { Prepared } from './attempts/prepare.ts'
import type { Target } from './targets/target.ts'

/** What is known of an exchange so far; each step of the pipeline adds its part. One object per exchange, never reused. */
export interface Progress {
  readonly exchange: Exchange
  /** Path and query below `/v1`. */
  path: string
  /** The path that goes on to the provider, when it is another one. */
  upstreamPath: string
  /** The prompt that the request named. */
  prompt: Prompt | null
  /** Epoch milliseconds. */
  readonly receivedAt: number
  headers: CallerHeaders | null
  operation: MatchedOperation
  caller: Caller | null
  /** What the request starts from; null for most. */
  config: ChosenConfig | null
  /** The guardrails that it must pass; null for most. */
  guardrails: GuardrailPlan | null
  /** What guardrails found so far. */
  hooks: HookResults
  /** Headers that guardrails add for the provider. */
  checkedHeaders: readonly NonNullable<Verdict['headers']>[]
  trace: Trace
  metadata: Readonly<Record<string, string>>
  body: RequestBody | null
  target: Target | null
  prepared: Prepared | null
  reservation: Reservation | null
  /** `performance.now()` when the request went out to the provider. */
  sentAt: number | null
}

/** How an exchange ended, relayed or refused. */
export interface Ending {
  readonly status: number
  readonly outcome: Outcome
  readonly error: ApiError | null
  readonly relayed: RelayResult | null
}

/** An exchange of which nothing is known yet but its request line. */
export function begin(exchange: Exchange): Progress {
  const url = exchange.req.url ?? '/'
  const path = url.startsWith('/v1/') ? url.slice(3) : url
  return {
    exchange,
    path,
    upstreamPath: path,
    prompt: null,
    receivedAt: Math.round(Date.now() - (performance.now() - exchange.startedAt)),
    headers: null,
    operation: passThrough,
    caller: null,
    config: null,
    guardrails: null,
    hooks: noHooks,
    checkedHeaders: [],
    trace: { traceId: exchange.requestId, spanId: null, parentSpanId: null, spanName: null },
    metadata: noMetadata,
    body: null,
    target: null,
    prepared: null,
    reservation: null,
    sentAt: null,
  }
}

const noHooks: HookResults = { before_request_hooks: [], after_request_hooks: [] }
const noMetadata: Readonly<Record<string, string>> = {}

/** The part of an exchange that an earlier step has added. */
export function known<T>(part: T | null): T {
  if (part === null) throw new ApiError('internal', 'A step of the pipeline ran before the one it stands on.')
  return part
}

/** Whether the caller lets the log keep bodies. */
export function keepsBodies({ headers }: Progress): boolean {
  const debug = headers?.service.get('debug')
  return debug === undefined || debug === '' || debug.toLowerCase() === 'true'
}

/** Who means to keep bodies out of the log must not learn later that they are in it. Throws `invalid_request`. */
export function checkDebug({ service }: CallerHeaders): void {
  const debug = service.get('debug')
  if (debug === undefined || /^(?:true|false)?$/i.test(debug)) return
  throw new ApiError('invalid_request', `x-service-debug must be true or false, not ${JSON.stringify(debug.slice(0, 20))}.`, {
    param: 'x-service-debug',
  })
}
