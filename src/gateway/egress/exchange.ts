import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { ApiError } from '../../lib/errors.ts'
import { longBytes } from '../../lib/shares/long-turns.ts'
import { type Pace, paceOf } from '../../lib/shares/pace.ts'
import type { EgressCall, EgressHandler, EgressRequest } from './egress.ts'
import { duration, isLost, toFailure } from './failures.ts'
import type { Pool, Waiter } from './pool.ts'
import { type Proxy, refusalOf } from './proxies.ts'
import { rawHeaderText } from './raw-headers.ts'
import { detachBody } from './request-body.ts'
import type { Slot } from './slot.ts'

/** The way that an exchange goes. */
export interface Route {
  /** `host` or `host:port`, as the Host header has it. */
  readonly authority: string
  /** The host in messages. */
  readonly told: string
  /** The organisation for which it goes; null: Gatehouse itself. */
  readonly owner: string | null
  /** The proxy that gets whole URLs, and the prefix that makes a path one; null: the connection leads to the host itself. */
  readonly forward: { readonly proxy: Proxy; readonly prefix: string } | null
  /** Turns the guard's refusals into the caller's error; leaves other errors alone. */
  explain(error: Error): Error
}

type Phase = 'queued' | 'sending' | 'answering' | 'done'

/**
 * One request and its answer on the wire. A class, because one is made per request: its methods are free then. The one timer is moved by timestamps:
 * it fires at the earliest moment a limit can be over, looks, and sleeps again.
 */
export class Exchange implements EgressCall, Waiter, Dispatcher.DispatchHandler {
  readonly #route: Route
  readonly #request: EgressRequest
  readonly #handler: EgressHandler
  #phase: Phase = 'queued'
  #pool: Pool | null = null
  #slot: Slot | null = null
  #controller: Dispatcher.DispatchController | null = null
  #body: Readable | null = null
  #paused = false
  /** True while a long answer waits for the turn of its organisation. */
  #isPaced = false
  #received = 0
  #pace: Pace | null = null
  /** True while `begin` runs: a failure then is reported a microtask later, when the caller holds the call. */
  #beginning = false
  #timer: NodeJS.Timeout | undefined
  /** The failure of `begin`, until the handler gets it. */
  #untold: Error | null = null
  #quietSince = 0
  /** Sent again once on a new connection. */
  #isRenewed = false
  /** When it was handed to its connection, and the bytes that had come over that by then. */
  #sentAt = 0
  #readBefore = 0

  get owner(): string | null {
    return this.#route.owner
  }

  constructor(route: Route, request: EgressRequest, handler: EgressHandler) {
    this.#route = route
    this.#request = request
    this.#handler = handler
  }

  /** Sends the request, now or when a connection is free. Never throws. */
  begin(pool: Pool): void {
    this.#pool = pool
    this.#beginning = true
    const fault = faultOf(this.#request, this.#route.authority)
    if (fault !== null) {
      this.#end(new ApiError('invalid_request', `The request cannot be sent: ${fault}.`))
    } else {
      this.#quietSince = performance.now()
      // The smaller of both, so that the one timer need not be set anew when the answer begins.
      this.#arm(Math.min(this.#request.timeouts.firstByteMs, this.#request.timeouts.idleMs))
      pool.submit(this)
    }
    this.#beginning = false
  }

  start(slot: Slot): void {
    this.#slot = slot
    this.#phase = 'sending'
    this.#sentAt = performance.now()
    this.#readBefore = slot.socket?.bytesRead ?? 0
    const { method, path, headers, body } = this.#request
    if (body !== null && !(body instanceof Uint8Array)) this.#body = detachBody(body)
    const sent = this.#body ?? (body instanceof Uint8Array ? body : null)
    slot.client.dispatch({ method, ...forwarded(this.#route.forward, path, withoutHost(headers)), body: sent }, this)
  }

  fail(error: Error): void {
    this.#end(error)
  }

  abort(): void {
    this.#untold = null
    if (this.#phase === 'done') return
    this.#finish()
    this.#drop(new Error('aborted by the caller'))
  }

  pause(): void {
    this.#paused = true
    this.#controller?.pause()
  }

  /** Lets a long answer come in pieces. */
  #slow(bytes: number): void {
    this.#received += bytes
    if (this.#received <= longBytes) return
    this.#pace ??= paceOf(this.owner, {
      pause: () => {
        this.#isPaced = true
        this.#controller?.pause()
      },
      resume: () => {
        this.#isPaced = false
        if (!this.#paused) this.#goOn()
      },
    })
    this.#pace.took(bytes)
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    if (!this.#isPaced) this.#goOn()
  }

  #goOn(): void {
    this.#quietSince = performance.now()
    // Later, because undici's parser must not be entered while it hands out another exchange's bytes.
    queueMicrotask(() => {
      if (!this.#paused && !this.#isPaced && this.#phase !== 'done') this.#controller?.resume()
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#request.noteSent?.()
    if (this.#paused) controller.pause()
  }

  onBodySent(): void {
    if (this.#body !== null) this.#quietSince = performance.now()
  }

  // oxlint-disable-next-line max-params -- undici's signature
  onResponseStart(controller: Dispatcher.DispatchController, status: number, _: unknown, statusMessage = ''): void {
    if (this.#phase === 'done') return
    // No protocol is ever offered, so that 101 answers something that was not asked.
    if (status < 100 || status === 101)
      return this.#end(new ApiError('upstream_bad_response', 'The provider sent an answer that is not valid HTTP.'))
    // Only a proxy asks so, and its question is not for the caller.
    if (status === 407 && this.#route.forward !== null) return this.#end(refusalOf(this.#route.forward.proxy, status))
    const rawHeaders = rawHeaderText(controller.rawHeaders)
    if (status < 200) return this.#handler.onInformation?.(status, rawHeaders)
    this.#phase = 'answering'
    this.#quietSince = performance.now()
    this.#handler.onHeaders(status, rawHeaders, statusMessage)
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#phase === 'done') return
    this.#quietSince = performance.now()
    this.#handler.onData(chunk)
    this.#slow(chunk.length)
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#phase === 'done') return
    const slot = this.#slot
    this.#finish()
    if (slot !== null) {
      slot.isUsed = true
      this.#pool?.release(slot, this)
    }
    try {
      this.#handler.onEnd(rawHeaderText(controller.rawTrailers))
    } catch (thrown) {
      // undici reports errors of the other handler methods here; after the end they would be lost.
      this.#handler.onError(
        toFailure(thrown instanceof Error ? thrown : new Error(String(thrown)), { host: this.#route.told, answered: true }),
      )
    }
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#phase === 'done') return
    if (this.#slot === null || !this.#canSendAgain(this.#slot, error)) return this.#end(error)
    this.#isRenewed = true
    this.#controller = null
    this.#pool?.renew(this.#slot, this, error)
  }

  /**
   * A server that closes a connection because it was idle may do so while the next request is on its way, which it then never reads. So a
   * request whose used connection was lost without a byte of an answer is sent again, once. A server could have read it and have failed: a
   * call of a model, which costs, is sent again only if the connection was lost at once. A request
   * that leaves something behind is never sent again.
   */
  #canSendAgain(slot: Slot, error: Error): boolean {
    if (this.#isRenewed || this.#phase !== 'sending' || !slot.isUsed || this.#body !== null || !isLost(error)) return false
    if ((slot.socket?.bytesRead ?? 0) !== this.#readBefore) return false
    const { method, leavesNothing = false } = this.#request
    return safeMethods.has(method) || (leavesNothing && performance.now() - this.#sentAt < lostAtOnceMs)
  }

  /** Ends it with an error: the socket goes first, then the handler gets it. */
  #end(cause: Error): void {
    const error = toFailure(this.#route.explain(cause), { host: this.#route.told, answered: this.#phase === 'answering' })
    this.#finish()
    this.#drop(cause)
    if (!this.#beginning) return this.#handler.onError(error)
    this.#untold = error
    queueMicrotask(() => {
      if (this.#untold !== null) this.#handler.onError(error)
    })
  }

  #finish(): void {
    this.#phase = 'done'
    clearTimeout(this.#timer)
  }

  /** Gives up the place in the queue, the connection that is being made, or the one in use. */
  #drop(error: Error): void {
    if (this.#slot === null) this.#pool?.withdraw(this)
    else this.#pool?.discard(this.#slot, this, error)
    this.#body?.destroy()
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(onTimer, Math.min(Math.ceil(ms), longestTimerMs), this)
  }

  /** Called by the timer only. */
  checkTime(): void {
    if (this.#phase === 'done') return
    const { firstByteMs, idleMs } = this.#request.timeouts
    const answering = this.#phase === 'answering'
    const limitMs = answering ? idleMs : firstByteMs
    const leftMs = answering && (this.#paused || this.#isPaced) ? limitMs : this.#quietSince + limitMs - performance.now()
    if (leftMs >= 1) return this.#arm(leftMs)
    if (this.#phase === 'queued') {
      return this.#end(
        new ApiError('overloaded', `The gateway is busy: no connection to the provider was free for ${duration(limitMs)}.`, {
          retryAfter: 1,
        }),
      )
    }
    const message = answering
      ? `The provider sent nothing for ${duration(limitMs)} in the middle of its answer.`
      : `The provider did not answer within ${duration(limitMs)}.`
    this.#end(new ApiError('upstream_timeout', message))
  }
}

/** Methods that may be sent twice (RFC 9110, 9.2.2). */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
/** The time of one round trip, and no more: a request that is lost later may have been worked on. */
export const lostAtOnceMs = 2000

/** Node fires a longer timer at once. */
const longestTimerMs = 2 ** 31 - 1

function onTimer(exchange: Exchange): void {
  exchange.checkTime()
}

/** Refuses requests that undici would let through: absolute paths and CONNECT reach other hosts, another Host header another tenant. */
function faultOf({ method, path, headers }: EgressRequest, authority: string): string | null {
  if (method === 'CONNECT') return 'the method CONNECT is not allowed'
  if (!path.startsWith('/')) return 'the path must start with a slash'
  const host = hostHeaderAt(headers)
  return host === -1 || headers[host + 1] === authority ? null : 'the Host header names another host'
}

/** The path and headers as the proxy wants them, if there is one that is sent whole URLs. */
function forwarded(forward: Route['forward'], path: string, headers: string[]): { path: string; headers: string[] } {
  if (forward === null) return { path, headers }
  const { authorization } = forward.proxy
  if (authorization !== null) headers.push('proxy-authorization', authorization)
  return { path: forward.prefix + path, headers }
}

/** A copy for undici, without the Host header: undici writes the same one, and takes a given one for another TLS name. */
function withoutHost(headers: readonly string[]): string[] {
  const copy = headers.slice()
  const host = hostHeaderAt(headers)
  if (host !== -1) copy.splice(host, 2)
  return copy
}

function hostHeaderAt(headers: readonly string[]): number {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') return index
  }
  return -1
}
