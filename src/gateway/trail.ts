import type { ApiError } from '../lib/errors.ts'
import type { RelayResult } from './answers/relay.ts'
import type { Attempt } from './attempts/attempt.ts'
import type { CacheStatus } from './cache/recall.ts'
import type { Call, CallHead } from './call.ts'
import type { Exchange } from './exchange/exchange.ts'
import { pathBehind } from './operations/fronts.ts'
import { passThrough } from './operations/match.ts'
import { ownTrace } from './front/metadata.ts'
import type { Outcome } from './journal/log-record.ts'
import type { RequestBody } from './wire/body.ts'

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }
type OrNull<T> = { [Name in keyof T]: T[Name] | null }

/**
 * The facts of an exchange as far as they are known, for the record of one that ended early. Only `pipeline.ts` writes it, and no step reads it.
 * One object per exchange, never reused.
 */
export interface Trail
  extends
    Writable<OrNull<Pick<CallHead, 'caller' | 'headers'>>>,
    Writable<Pick<CallHead, 'trace' | 'metadata' | 'path' | 'operation'>>,
    Writable<Pick<Call, 'prompt' | 'mirror' | 'work' | 'before'>> {
  readonly exchange: Exchange
  /** The stored config that the request began with. */
  config: { readonly slug: string; readonly version: number } | null
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** As the client sent it; each attempt has its own. */
  body: RequestBody | null
  /** The targets that were tried, as far as each attempt got. */
  readonly attempts: Attempt[]
  /** Conditions of the config that could not be judged, by their place; null without a course. */
  faults: string[] | null
}

/** How an exchange ended, relayed or refused. */
export interface ExchangeEnd {
  readonly status: number
  readonly outcome: Outcome
  readonly error: ApiError | null
  readonly relayed: RelayResult | null
}

/** Returns the trail of an exchange with its request line only. */
export function beginTrail(exchange: Exchange): Trail {
  const path = pathBehind(exchange.url)
  return {
    exchange,
    path,
    prompt: null,
    mirror: null,
    work: null,
    config: null,
    receivedAt: exchange.line?.loggedAt ?? Math.round(Date.now() - (performance.now() - exchange.startedAt)),
    headers: null,
    operation: passThrough,
    caller: null,
    trace: ownTrace(exchange.requestId),
    metadata: noMetadata,
    body: null,
    attempts: [],
    faults: null,
  }
}

/** Returns the attempt that was made last; null before the first. */
export const lastAttempt = ({ attempts }: Pick<Trail, 'attempts'>): Attempt | null => attempts.at(-1) ?? null

/** Returns how often a call was tried again. */
export const retriesOf = ({ attempts }: Pick<Trail, 'attempts'>): number => Math.max(0, attempts.length - 1)

/** Returns the state of the cache for the last attempt. */
export const cacheStatusOf = (trail: Pick<Trail, 'attempts'>): CacheStatus => lastAttempt(trail)?.recalled?.status ?? 'DISABLED'

/** Returns the body as it was sent last, or as far as it was read. */
export const sentBody = (trail: Trail): RequestBody | null => lastAttempt(trail)?.body ?? trail.body

const noMetadata: Readonly<Record<string, string>> = {}
