import type { SecretSource } from '../secrets/secret-source.ts'
import type { Workload } from './workload/workload.ts'

/** The means by which requests to providers are signed, beside those stored for each. */
export interface SigningMeans {
  /** The secrets of external managers. */
  readonly secrets: SecretSource
  readonly workload: Workload
}
