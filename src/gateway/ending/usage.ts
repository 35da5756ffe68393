import type { RelayResult } from '../answers/relay.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import { readUsage } from '../dialects/usage-scan.ts'

/** Returns what the provider says that an answer used; null when it says nothing. */
export function usageOf({ capture, encoding, status, counted }: RelayResult): Usage | null {
  if (counted !== null) return counted
  return capture.size === 0 || status >= 400
    ? null
    : readUsage(capture.plain(encoding), encoding === undefined ? capture.tail() : capture.plain(encoding))
}
