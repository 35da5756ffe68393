import { ApiError } from '../lib/errors.ts'
import type { Exchange } from './exchange.ts'
import { type PipelineDeps, runExchange } from './pipeline.ts'
import { ownHeaders, refuse } from './respond.ts'

export type GatewayOptions = Omit<PipelineDeps, 'prefixes'>

/** The data plane of one process. */
export interface Gateway {
  /** Takes one exchange over: from here on only the gateway writes to its response. Never throws. */
  handle(exchange: Exchange): void
  /** Exchanges that are not finished. */
  inflight(): number
  /** Resolves when no exchange is running, or after `graceMs`, when the rest is cut off; gives how many were cut. */
  drain(graceMs: number): Promise<number>
}

/** Builds the data plane on its ports. */
export function createGateway(options: GatewayOptions): Gateway {
  const prefixes = ['x-service-', ...options.settings.headerAliases.map((name) => `x-${name}-`)]
  const deps: PipelineDeps = { ...options, prefixes }
  const running = new Set<Exchange>()
  const idle = new Set<() => void>()
  const done = (exchange: Exchange) => {
    running.delete(exchange)
    if (running.size === 0) for (const wake of idle) wake()
  }
  return {
    handle(exchange) {
      running.add(exchange)
      exchange.res.once('close', () => done(exchange))
      void runExchange(deps, exchange)
    },
    inflight: () => running.size,
    async drain(graceMs) {
      if (running.size === 0) return 0
      const { promise, resolve } = Promise.withResolvers<void>()
      idle.add(resolve)
      const timer = setTimeout(resolve, graceMs)
      await promise
      clearTimeout(timer)
      idle.delete(resolve)
      const left = [...running]
      for (const exchange of left) cutOff(exchange)
      return left.length
    },
  }
}

function cutOff(exchange: Exchange): void {
  const error = new ApiError('draining', 'The gateway is shutting down. Try again: another replica will answer.')
  refuse(
    exchange,
    error,
    ownHeaders('x-service-', { requestId: exchange.requestId, traceId: exchange.requestId, provider: null, lastUsedOption: null }),
  )
}
