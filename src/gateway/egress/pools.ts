import { hash } from 'node:crypto'
import { ApiError } from '../../lib/errors.ts'
import type { Connect } from './connect.ts'
import type { Pool } from './pool.ts'
import { createPool, refusingPool } from './pool.ts'

/** The pools of all origins that have connections. */
export interface Pools {
  /** The pool of an origin, made when there is none. When it cannot be had, one that refuses. */
  of(place: Place, connect: Connect): Pool
  close(): void
}

/** An origin, and by whose word its certificate is believed: a socket that was opened under one policy never serves another. */
export interface Place {
  readonly origin: string
  /** PEM; undefined: the usual authorities. */
  readonly ca?: string | undefined
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

  function make(key: string, origin: string, connect: Connect): Pool {
    if (refusal !== null) return refusingPool(refusal)
    if (pools.size >= options.maxOrigins && !makeRoom()) return refusingPool(busy())
    const pool = createPool({
      origin,
      connect,
      maxConnections: options.maxConnectionsPerOrigin,
      maxQueued: options.maxQueuedPerOrigin,
      onEmpty: () => {
        if (pools.get(key) === pool) pools.delete(key)
      },
    })
    pools.set(key, pool)
    return pool
  }

  function makeRoom(): boolean {
    for (const [key, pool] of pools) {
      if (!pool.idle) continue
      pools.delete(key)
      pool.close(new Error('made room for another origin'))
      return true
    }
    return false
  }

  return {
    of({ origin, ca }, connect) {
      const key = ca === undefined ? origin : `${origin} ${hash('sha256', ca)}`
      return pools.get(key) ?? make(key, origin, connect)
    },
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
