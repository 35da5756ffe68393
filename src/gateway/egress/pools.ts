import { ApiError } from '../../lib/errors.ts'
import type { Connect } from './connect.ts'
import type { Pool } from './pool.ts'
import { createPool, refusingPool } from './pool.ts'

/** The pools of all origins that have connections. */
export interface Pools {
  /** The pool of an origin, made when there is none. When it cannot be had, one that refuses. */
  of(origin: string, connect: Connect): Pool
  close(): void
}

export interface PoolsOptions {
  readonly maxConnectionsPerOrigin: number
  readonly maxQueuedPerOrigin: number
  readonly maxOrigins: number
}

/** Keeps at most `maxOrigins` pools: one that is idle makes room; when none is idle, the new origin is refused. */
export function createPools(options: PoolsOptions): Pools {
  const pools = new Map<string, Pool>()
  let refusal: ApiError | null = null

  function make(origin: string, connect: Connect): Pool {
    if (refusal !== null) return refusingPool(refusal)
    if (pools.size >= options.maxOrigins && !makeRoom()) return refusingPool(busy())
    const pool = createPool({
      origin,
      connect,
      maxConnections: options.maxConnectionsPerOrigin,
      maxQueued: options.maxQueuedPerOrigin,
      onEmpty: () => {
        if (pools.get(origin) === pool) pools.delete(origin)
      },
    })
    pools.set(origin, pool)
    return pool
  }

  function makeRoom(): boolean {
    for (const [origin, pool] of pools) {
      if (!pool.idle) continue
      pools.delete(origin)
      pool.close(new Error('made room for another origin'))
      return true
    }
    return false
  }

  return {
    of: (origin, connect) => pools.get(origin) ?? make(origin, connect),
    close() {
      refusal = new ApiError('draining', 'The gateway is shutting down.')
      for (const pool of pools.values()) pool.close(refusal)
      pools.clear()
    },
  }
}

function busy(): ApiError {
  return new ApiError('overloaded', 'The gateway is busy: it is connected to too many hosts.', { retryAfter: 1 })
}
