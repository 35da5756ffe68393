import { ApiError } from '../../lib/errors.ts'
import type { Connect } from './connect.ts'
import type { Slot } from './slot.ts'
import { createIdleSlots, openSlot } from './slot.ts'

/** Something that waits for a slot, and hears of it once. */
export interface Waiter {
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
  /** Takes back a slot whose exchange ended well. */
  release(slot: Slot): void
  /** Closes a slot with its socket, connected or still connecting. */
  discard(slot: Slot, error: Error): void
  readonly idle: boolean
  close(error: Error): void
}

export interface PoolOptions {
  readonly origin: string
  readonly connect: Connect
  readonly maxConnections: number
  readonly maxQueued: number
  /** The last connection is gone and nobody waits. */
  onEmpty(): void
}

/**
 * A pool of undici clients, one connection each. undici's own Pool would queue without bound, and cannot take back a request
 * that waits in its queue or for its connection; here each exchange knows its slot, so that leaving closes the right socket.
 */
export function createPool(options: PoolOptions): Pool {
  const slots = new Set<Slot>()
  const idle = createIdleSlots()
  const queue = new Set<Waiter>()

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

  function startNext(slot: Slot | null): boolean {
    const [waiter] = queue
    if (waiter === undefined) return false
    queue.delete(waiter)
    waiter.start(slot ?? open())
    return true
  }

  return {
    get idle() {
      return idle.size === slots.size && queue.size === 0
    },
    submit(waiter) {
      const slot = idle.take() ?? (slots.size < options.maxConnections ? open() : null)
      if (slot !== null) waiter.start(slot)
      else if (queue.size < options.maxQueued) queue.add(waiter)
      else waiter.fail(new ApiError('overloaded', 'The gateway is busy: too many requests wait for this provider.', { retryAfter: 1 }))
    },
    withdraw: (waiter) => void queue.delete(waiter),
    release(slot) {
      if (!slots.has(slot) || startNext(slot)) return
      idle.add(slot)
    },
    discard(slot, error) {
      remove(slot, error)
      if (slots.size < options.maxConnections) startNext(null)
    },
    close(error) {
      const waiting = [...queue]
      queue.clear()
      for (const waiter of waiting) waiter.fail(error)
      for (const slot of slots) remove(slot, error)
    },
  }
}

/** A pool that gives no connection: every request fails with the error. */
export function refusingPool(error: Error): Pool {
  return { idle: true, submit: (waiter) => waiter.fail(error), withdraw: nothing, release: nothing, discard: nothing, close: nothing }
}

function nothing(): void {}
