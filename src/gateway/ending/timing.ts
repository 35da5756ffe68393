import type { Trail } from '../trail.ts'
import type { RelayResult } from '../answers/relay.ts'

/** From sending the request until the provider's headers. */
export function upstreamMs({ sentAt }: Trail, relayed: RelayResult | null): number | null {
  return relayed === null || sentAt === null || relayed.headersAt === 0 ? null : relayed.headersAt - sentAt
}

/** From the request line until the first body byte. */
export function firstByteMs({ exchange }: Trail, relayed: RelayResult | null): number | null {
  return relayed === null || relayed.firstByteAt === null ? null : relayed.firstByteAt - exchange.startedAt
}

/** The time that was the provider's, not ours. */
export function waitedMs({ sentAt }: Trail, relayed: RelayResult | null): number {
  return relayed === null || sentAt === null ? 0 : relayed.lastByteAt - sentAt
}
