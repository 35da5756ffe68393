import type { PlatformIdentity } from '../../../lib/platform-identity.ts'
import type { AllowedHosts } from '../../egress/allowed-hosts.ts'
import type { MetadataService } from '../../egress/metadata-services.ts'

/** The identity of this process, with the ways to its proofs. */
export interface Workload extends PlatformIdentity {
  /** The ids of the organisations that may use it for their stored references. */
  readonly offeredTo: 'all' | ReadonlySet<string>
  readonly metadata: MetadataService
  /** Hosts to which a proof of this identity may be sent, beside those of the clouds themselves. */
  readonly trustedHosts: AllowedHosts
}
