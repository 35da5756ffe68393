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

/** The time that was the provider's, not ours. */
export function waitedMs(trail: Trail, relayed: RelayResult | null): number {
  const sentAt = lastAttempt(trail)?.sentAt ?? null
  return relayed === null || sentAt === null ? 0 : relayed.lastByteAt - sentAt
}
