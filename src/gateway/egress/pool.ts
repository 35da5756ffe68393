import { ApiError } from '../../lib/errors.ts'
import { createFairLine, type FairLine } from '../../lib/shares/fair-line.ts'
import { createShares, eighthOf } from '../../lib/shares/shares.ts'
import type { Connect } from './connect.ts'
import type { Slot } from './slot.ts'
import { createIdleSlots, openSlot } from './slot.ts'

/** A waiter for a slot, which is called once. */
export interface Waiter {
  /** The organisation for which it waits; null: Gatehouse itself. */
  readonly owner: string | null
  start(slot: Slot): void
  /** Ends it without a slot. */
  fail(error: Error): void
}

/** The connections of one origin under one policy. */
export interface Pool {
  /** Gives the waiter a slot now or when one is free; fails it when too many wait already. */
  submit(waiter: Waiter): void
  /** The waiter no longer wants a slot; no effect once it has one. */
  withdraw(waiter: Waiter): void
  /** Takes back the slot of a waiter whose exchange ended well. */
  release(slot: Slot, waiter: Waiter): void
  /** Closes the slot of a waiter with its socket, connected or still connecting. */
  discard(slot: Slot, waiter: Waiter, error: Error): void
  /** Gives the waiter a new connection in place of a slot whose connection was lost. */
  renew(slot: Slot, waiter: Waiter, error: Error): void
  readonly idle: boolean
  close(error: Error): void
}

export interface PoolOptions {
  readonly origin: string
  readonly connect: Connect
  readonly maxConnections: number
  readonly maxQueued: number
  /** The last connection is gone and no waiter is left. */
  onEmpty(): void
}

/**
 * A pool of undici clients, one connection each. undici's own Pool would queue without bound, and cannot take back a request that waits in its queue
 * or for its connection; here each exchange has its slot, so that leaving closes the right socket. One organisation has half of the connections and
 * an eighth of the queue at most, and organisations take turns.
 */
export function createPool(options: PoolOptions): Pool {
  const { maxConnections: most, maxQueued } = options
  const busy = createShares({ most, mostOfOne: Math.ceil(most / 2) })
  const slots = new Set<Slot>()
  const idle = createIdleSlots()
  const queue = createFairLine<Waiter>()

  function open(): Slot {
    const slot = openSlot(options, () => {
      if (slot.idleAt !== -1) remove(slot, new Error('idle connection closed'))
    })
    slots.add(slot)
    return slot
  }

  function remove(slot: Slot, error: Error): void {
    if (!slots.delete(slot)) return
    idle.remove(slot)
    slot.client.destroy(error, () => {})
    slot.connecting?.destroy(error)
    if (slots.size === 0 && queue.size === 0) options.onEmpty()
  }

  function start(waiter: Waiter, slot: Slot): void {
    busy.take(waiter.owner)
    waiter.start(slot)
  }

  function startNext(slot: Slot | null): boolean {
    const waiter = queue.next(busy.hasPlace)
    if (waiter === undefined) return false
    start(waiter, slot ?? idle.take() ?? open())
    return true
  }

  return {
    get idle() {
      return idle.size === slots.size && queue.size === 0
    },
    submit(waiter) {
      const { owner } = waiter
      const slot = busy.hasPlace(owner) ? (idle.take() ?? (slots.size < most ? open() : null)) : null
      if (slot !== null) start(waiter, slot)
      else if (hasRoom(queue, owner, maxQueued)) queue.add(owner, waiter)
      else waiter.fail(tooMany())
    },
    withdraw: (waiter) => queue.delete(waiter.owner, waiter),
    release(slot, { owner }) {
      busy.giveBack(owner)
      if (!slots.has(slot) || startNext(slot)) return
      idle.add(slot)
    },
    discard(slot, { owner }, error) {
      busy.giveBack(owner)
      remove(slot, error)
      if (slots.size < most) startNext(null)
    },
    renew: (slot, waiter, error) => renew(waiter, { fresh: open(), removeOld: () => remove(slot, error) }),
    close(error) {
      for (const waiter of queue.clear()) waiter.fail(error)
      for (const slot of slots) remove(slot, error)
    },
  }
}

/** First the new connection: a pool that is empty for a moment would be forgotten. */
function renew(waiter: Waiter, { fresh, removeOld }: { readonly fresh: Slot; readonly removeOld: () => void }): void {
  removeOld()
  waiter.start(fresh)
}

const tooMany = () => new ApiError('overloaded', 'The gateway is busy: too many requests wait for this provider.', { retryAfter: 1 })

function hasRoom(queue: FairLine<Waiter>, owner: string | null, most: number): boolean {
  return queue.size < most && queue.waitingOf(owner) < (owner === null ? most : eighthOf(most))
}

/** A pool that gives no connection: every request fails with the error. */
export function refusingPool(error: Error): Pool {
  const fail = (waiter: Waiter) => waiter.fail(error)
  return { idle: true, submit: fail, withdraw: nothing, release: nothing, discard: nothing, renew: nothing, close: nothing }
}

function nothing(): void {}
