import type { ApiError } from '../lib/errors.ts'
import type { RelayResult } from './answers/relay.ts'
import type { Prepared } from './attempts/prepare.ts'
import type { Call, CallHead } from './call.ts'
import { type HookResults, noHooks } from './checks/hook-results.ts'
import type { Exchange } from './exchange/exchange.ts'
import { passThrough } from './front/match.ts'
import type { Outcome } from './journal/log-record.ts'
import type { Reservation } from './limits/ledger.ts'
import type { Target } from './targets/target.ts'
import type { RequestBody } from './wire/body.ts'

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }
type OrNull<T> = { [Name in keyof T]: T[Name] | null }

/**
 * What is known of an exchange so far, for the record of one that ended early. Only `pipeline.ts` writes it, and no step reads it.
 * One object per exchange, never reused.
 */
export interface Trail
  extends
    Writable<OrNull<Pick<CallHead, 'caller' | 'headers'>>>,
    Writable<Pick<CallHead, 'trace' | 'metadata' | 'path' | 'operation' | 'config'>>,
    Writable<Pick<Call, 'prompt'>> {
  readonly exchange: Exchange
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** As it was last. */
  body: RequestBody | null
  hooks: HookResults
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

/** Returns the trail of an exchange of which nothing is known yet but its request line. */
export function beginTrail(exchange: Exchange): Trail {
  const url = exchange.req.url ?? '/'
  const path = url.startsWith('/v1/') ? url.slice(3) : url
  return {
    exchange,
    path,
    prompt: null,
    receivedAt: Math.round(Date.now() - (performance.now() - exchange.startedAt)),
    headers: null,
    operation: passThrough,
    caller: null,
    config: null,
    hooks: noHooks,
    trace: { traceId: exchange.requestId, spanId: null, parentSpanId: null, spanName: null },
    metadata: noMetadata,
    body: null,
    target: null,
    prepared: null,
    reservation: null,
    sentAt: null,
  }
}

const noMetadata: Readonly<Record<string, string>> = {}
