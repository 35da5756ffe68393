/** The domain of each partition of AWS, by the beginning of its regions (github.com/boto/botocore: partitions.json). */
const partitions: readonly (readonly [prefix: string, domain: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['eusc-', 'amazonaws.eu'],
  ['', 'amazonaws.com'],
]

const domains = partitions.map(([, domain]) => domain.replaceAll('.', String.raw`\.`)).join('|')

/** Fits the hosts of Bedrock, SageMaker and Secrets Manager, public and of interface endpoints; functions of customers are below these domains too. */
export const awsServices = new RegExp(
  String.raw`^(?:vpce-[a-z0-9-]+\.)?(?:bedrock(?:-[a-z]+)*|(?:api|runtime)(?:-fips)?\.sagemaker|secretsmanager(?:-fips)?)\.[a-z0-9-]+\.(?:vpce\.)?(?:${domains})$`,
)

/** Returns the domain of AWS in a region. */
export const awsDomain = (region: string): string => partitions.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com'
