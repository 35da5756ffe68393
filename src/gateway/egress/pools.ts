import { hash } from 'node:crypto'
import { ApiError } from '../../lib/errors.ts'
import { createShares, type Shares } from '../../lib/shares/shares.ts'
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
  /** The organisation that wants it; null: Gatehouse itself. */
  readonly owner: string | null
}

export interface PoolsOptions {
  readonly maxConnectionsPerOrigin: number
  readonly maxQueuedPerOrigin: number
  readonly maxOrigins: number
  readonly maxOriginsOfOne: number
}

/** A pool counts for the organisation that used it first since it was idle. */
interface HeldPool {
  readonly pool: Pool
  owner: string | null
}

type Owner = string | null

interface State extends PoolsOptions {
  readonly pools: Map<string, HeldPool>
  readonly shares: Shares
}

/**
 * Keeps at most `maxOrigins` pools, `maxOriginsOfOne` of them for one organisation. An organisation at its share closes idle pools of its own
 * for new ones, and is refused when none is idle. When all places are taken, an idle pool of the organisation with the most makes room, if that
 * has more than the one that asks.
 */
export function createPools(options: PoolsOptions): Pools {
  const shares = createShares({ most: options.maxOrigins, mostOfOne: options.maxOriginsOfOne })
  const state: State = { ...options, pools: new Map(), shares }
  let refusal: ApiError | null = null
  return {
    of(place, connect) {
      if (refusal !== null) return refusingPool(refusal)
      const { origin, ca, owner } = place
      const key = ca === undefined ? origin : `${origin} ${hash('sha256', ca)}`
      const held = state.pools.get(key)
      if (held === undefined) return make(state, key, { origin, owner, connect })
      return held.owner === owner || !held.pool.idle ? held.pool : handOver(state, held, owner)
    },
    close() {
      refusal = new ApiError('draining', 'The gateway is shutting down.')
      for (const { pool } of state.pools.values()) pool.close(refusal)
      state.pools.clear()
    },
  }
}

interface PoolRequest {
  readonly origin: string
  readonly owner: Owner
  readonly connect: Connect
}

function make(state: State, key: string, { origin, owner, connect }: PoolRequest): Pool {
  if (!takePlace(state, owner)) return refusingPool(busy(state, owner))
  const pool = createPool({
    origin,
    connect,
    maxConnections: state.maxConnectionsPerOrigin,
    maxQueued: state.maxQueuedPerOrigin,
    onEmpty: () => {
      if (state.pools.get(key) === held) remove(state, key, held)
    },
  })
  const held: HeldPool = { pool, owner }
  state.pools.set(key, held)
  return pool
}

function remove({ pools, shares }: State, key: string, { owner }: HeldPool): void {
  if (pools.delete(key)) shares.giveBack(owner)
}

/** The organisation that uses an idle pool has it from then on. The place of the former owner becomes that of the new one. */
function handOver(state: State, held: HeldPool, owner: Owner): Pool {
  const { shares } = state
  const former = held.owner
  shares.giveBack(former)
  if (shares.take(owner) || (closeIdle(state, owner) && shares.take(owner))) {
    held.owner = owner
    return held.pool
  }
  shares.take(former)
  return refusingPool(busy(state, owner))
}

function takePlace(state: State, owner: Owner): boolean {
  const { shares, maxOrigins, maxOriginsOfOne } = state
  if (shares.take(owner)) return true
  const isAtShare = owner !== null && shares.heldBy(owner) >= maxOriginsOfOne
  const makesRoom = closeIdle(state, owner) || (!isAtShare && shares.held >= maxOrigins && closeIdleOfLargest(state, owner))
  return makesRoom && shares.take(owner)
}

/** Closes the oldest idle pool of an owner. */
function closeIdle(state: State, owner: Owner): boolean {
  for (const [key, held] of state.pools) {
    if (!held.pool.idle || held.owner !== owner) continue
    remove(state, key, held)
    held.pool.close(new Error('made room for another origin'))
    return true
  }
  return false
}

/** Closes an idle pool of the owner that has the most, if it has more than the one that asks. */
function closeIdleOfLargest(state: State, asking: Owner): boolean {
  const own = state.shares.heldBy(asking)
  let [most, largest]: [number, Owner] = [own, asking]
  for (const { pool, owner } of state.pools.values()) {
    const many = state.shares.heldBy(owner)
    if (many > most && pool.idle) [most, largest] = [many, owner]
  }
  return most > own && closeIdle(state, largest)
}

function busy({ shares, maxOriginsOfOne }: State, owner: Owner): ApiError {
  const isAtShare = owner !== null && shares.heldBy(owner) >= maxOriginsOfOne
  const message = isAtShare
    ? `The organisation's requests are connected to ${maxOriginsOfOne} hosts, which is its share.`
    : 'The gateway is busy: it is connected to too many hosts.'
  return new ApiError('overloaded', message, { retryAfter: 1 })
}
