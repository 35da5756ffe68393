import { ApiError } from '../../lib/errors.ts'

/** The places for WebSockets of one process, of which one organisation gets half. */
export interface SocketSlots {
  /** Throws `overloaded` when no place is free, and `rate_limited` when the organisation has its share. */
  take(organisationId: string): void
  give(organisationId: string): void
  taken(): number
}

export function createSlots(most: number): SocketSlots {
  const held = new Map<string, number>()
  const share = Math.ceil(most / 2)
  let taken = 0
  return {
    take(organisationId) {
      const own = held.get(organisationId) ?? 0
      if (taken >= most)
        throw new ApiError(
          'overloaded',
          `The process has ${taken} open WebSockets, which is its limit (MAX_WEBSOCKETS). Try again shortly.`,
        )
      if (own >= share)
        throw new ApiError(
          'rate_limited',
          `The organisation has ${own} open WebSockets in this process, which is its share of MAX_WEBSOCKETS.`,
          {
            retryAfter: 5,
          },
        )
      held.set(organisationId, own + 1)
      taken += 1
    },
    give(organisationId) {
      const own = (held.get(organisationId) ?? 1) - 1
      if (own > 0) held.set(organisationId, own)
      else held.delete(organisationId)
      taken -= 1
    },
    taken: () => taken,
  }
}
