import { awsDomain } from '../providers/aws-domain.ts'
import type { Credential } from '../providers/provider.ts'
import { field, malformed } from './credential.ts'
import type { Workload } from './workload/workload.ts'

/** Returns the origin of a service of AWS in a region, or the one that the operator put in its place. */
export const awsHost = (service: string, region: string, workload: Workload | undefined): string =>
  workload?.aws.endpoints[service] ?? `https://${service}.${region}.${awsDomain(region)}`

/** Returns the region of a credential, or that of the workload. */
export function regionOf(credential: Credential, workload?: Workload): string {
  const region = field(credential, 'aws_region') ?? workload?.aws.region ?? 'us-east-1'
  if (/^[a-z0-9-]{1,40}$/.test(region)) return region
  throw malformed('aws_region', 'is not a region')
}
