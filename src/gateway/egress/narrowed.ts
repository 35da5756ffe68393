import { type AllowedHosts, demandAllowed } from './allowed-hosts.ts'
import type { Egress } from './egress.ts'

/** One for each pair, since values fetched over an egress are remembered with it. */
const made = new WeakMap<Egress, WeakMap<AllowedHosts, Egress>>()

/** The organisation for which requests go. */
interface Owner {
  readonly organisationId: string
  /** The hosts that it allows; null: all. */
  readonly allowedHosts: AllowedHosts | null
}

/** The egress for the work of an organisation: it has a share of the connections, and reaches the hosts that the organisation allows. */
export const egressFor = (egress: Egress, { organisationId, allowedHosts }: Owner): Egress =>
  narrowed(egress.ownedBy(organisationId), allowedHosts)

/** The same egress for the stored rows of one organisation: hosts in its data must be among those it allows. */
export function narrowed(egress: Egress, rules: AllowedHosts | null): Egress {
  if (rules === null) return egress
  const byRules = made.get(egress) ?? new WeakMap<AllowedHosts, Egress>()
  made.set(egress, byRules)
  const known = byRules.get(rules) ?? narrow(egress, rules)
  byRules.set(rules, known)
  return known
}

function narrow(egress: Egress, rules: AllowedHosts): Egress {
  const demand = (url: string, param: string) =>
    demandAllowed({ url, param, by: 'stored' }, rules, 'the organisation (settings.allowed_custom_hosts)')
  return {
    ...egress,
    origin(url, param, named) {
      if (named !== 'by catalogue') demand(url, param)
      return egress.origin(url, param, named)
    },
    async exchange(request) {
      if (request.named !== 'by catalogue') demand(request.url, 'url')
      return egress.exchange(request)
    },
    ownedBy: (organisationId) => narrowed(egress.ownedBy(organisationId), rules),
    resolves: (url) => (rules.allows(url, 'stored') ? egress.resolves(url) : Promise.resolve(false)),
  }
}
