import { parseAllowedHosts, type AllowedHosts } from '../../gateway/ports/egress.ts'
import { allowedHosts } from '../../lib/allowed-hosts.ts'
import { createLru } from '../../lib/collections/lru.ts'

/** Organisations have few lists and many keys. */
const parsed = createLru<AllowedHosts>(1000)

/** The hosts that an organisation lets requests name, by its stored settings; null: it has no list. */
export function allowedHostsOf(settings: unknown): AllowedHosts | null {
  const entries = allowedHosts(settings)
  if (entries === null) return null
  const text = JSON.stringify(entries)
  const known = parsed.get(text) ?? parseAllowedHosts(entries)
  parsed.set(text, known)
  return known
}
