import type { IdentityConfig } from '../../config/config.ts'
import type { Workload } from '../../gateway/ports/credentials.ts'
import { parseAllowedHosts } from '../../gateway/ports/egress.ts'
import { metadataService } from '../../gateway/ports/egress-making.ts'

/** The workload of this process. `offered`: ids of organisations, unless the settings offer it to all. */
export const workloadOf = ({ trustedHosts, offeredTo, ...identity }: IdentityConfig, offered: ReadonlySet<string>): Workload => ({
  ...identity,
  offeredTo: offeredTo === 'all' ? 'all' : offered,
  trustedHosts: parseAllowedHosts(trustedHosts),
  metadata: metadataService,
})
