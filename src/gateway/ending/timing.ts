import { lastAttempt, type Trail } from '../trail.ts'
import type { RelayResult } from '../answers/relay.ts'

/** From sending the request until the provider's headers. */
export function upstreamMs(trail: Trail, relayed: RelayResult | null): number | null {
  const sentAt = lastAttempt(trail)?.sentAt ?? null
  return relayed === null || sentAt === null || relayed.headersAt === 0 ? null : relayed.headersAt - sentAt
}

/** From the request line until the first body byte. */
export function firstByteMs({ exchange }: Trail, relayed: RelayResult | null): number | null {
  return relayed === null || relayed.firstByteAt === null ? null : relayed.firstByteAt - exchange.startedAt
}

/** Returns the time that was not ours: of the providers, and of waits before attempts. */
export function waitedMs(trail: Trail, relayed: RelayResult | null): number {
  let sum = 0
  for (const { sentAt, fault, waitMs } of trail.attempts) {
    const endedAt = fault?.endedAt ?? relayed?.lastByteAt ?? null
    sum += waitMs + (sentAt === null || endedAt === null ? 0 : endedAt - sentAt)
  }
  return sum
}
