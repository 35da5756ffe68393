import type { Egress } from '../gateway/ports/egress.ts'
import { egressFor } from '../gateway/ports/egress-making.ts'
import { allowedHostsOf } from './snapshot/allowed-hosts.ts'

/** An organisation that has something sent to an address of its own. */
interface Sender {
  readonly organisationId: string
  /** `settings.allowed_custom_hosts` of the organisation, as it is stored. */
  readonly allowedHosts: unknown
}

/** Returns the egress for the work of an organisation: it has a share of the connections, and reaches the hosts that the organisation allows. */
export const tenantEgress = (egress: Egress, { organisationId, allowedHosts }: Sender): Egress =>
  egressFor(egress, { organisationId, allowedHosts: allowedHostsOf({ allowed_custom_hosts: allowedHosts }) })
