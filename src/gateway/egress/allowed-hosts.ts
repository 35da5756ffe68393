import { ApiError } from '../../lib/errors.ts'
import { createLru } from '../../lib/collections/lru.ts'
import { parseAddress } from './addresses.ts'
import { parseTrustedHosts } from './trust.ts'

/** The source of a host's name: the request itself, or something that is stored (an integration, a config, a guardrail, a setting). */
export type NamedBy = 'request' | 'stored'

/** To which hosts that data names requests may go. The hosts of the catalogue are not asked about. */
export interface AllowedHosts {
  allows(url: string, by: NamedBy): boolean
}

/** The entry that stands for every host that is stored. */
export const storedHosts = 'stored'

const maxRemembered = 500

/** Reads `stored`, and entries as of TRUSTED_CUSTOM_HOSTS. Throws an Error naming an entry that is no host. */
export function parseAllowedHosts(entries: readonly string[]): AllowedHosts {
  const stored = entries.some((entry) => entry.toLowerCase() === storedHosts)
  const listed = parseTrustedHosts(entries.filter((entry) => entry.toLowerCase() !== storedHosts))
  const remembered = createLru<boolean>(maxRemembered)
  const isListed = (text: string): boolean => {
    const url = URL.parse(text)
    if (url === null) return false
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
    const address = parseAddress(host)
    return address === null ? listed.name(host, port) : listed.address(address, port)
  }
  return {
    allows(url, by) {
      if (stored && by === 'stored') return true
      const known = remembered.get(url)
      if (known !== undefined) return known
      const allowed = isListed(url)
      remembered.set(url, allowed)
      return allowed
    },
  }
}

/** A host that data names, and the field that names it. */
export interface NamedHost {
  readonly url: string
  readonly param: string
  readonly by: NamedBy
}

/** Throws `blocked_host` when a rule does not allow the host; null: no rule. */
export function demandAllowed({ url, param, by }: NamedHost, rules: AllowedHosts | null, whose: string): void {
  if (rules === null || rules.allows(url, by)) return
  throw new ApiError('blocked_host', `${param} names a host that ${whose} does not allow.`, { param })
}
