import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import { pathText } from '../../lib/json/json-path.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { refusedPart } from '../../lib/json/schema-faults.ts'
import { maskFault, maskSecrets, restoreSecrets, type SecretPlace } from '../../lib/text/masked-secrets.ts'
import type { ManagerType } from '../../gateway/ports/secrets.ts'

/** A sign-in as it is stored: flat texts. */
export type AuthConfig = Readonly<Record<string, string>>

const line = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x20-\x7e]*$/, 'Only ASCII characters on one line are allowed.')
const pem = z.string().min(1).max(20_000)
const url = line.refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'This is not an http or https URL.')
const vaultUrl = url.refine((text) => ['', '/'].includes(URL.parse(text)?.pathname ?? ''), 'The URL of a vault has no path.')
const roleArn = line.regex(
  /^arn:aws[a-z0-9-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/,
  'This is not the ARN of a role, as `arn:aws:iam::123456789012:role/secrets`.',
)
const accessKeyId = line.regex(/^\w{1,128}$/, 'This is not the id of an access key.')
const externalId = line.regex(/^[\w+=,.@:/-]{1,1224}$/, 'This is not an external id.')
/** The id of a tenant or an application of Entra: a UUID; a tenant has names of domains too. */
const entraId = line.regex(/^[a-z0-9](?:[a-z0-9.-]{0,253}[a-z0-9])?$/i, 'This is no id of Entra: give the UUID, or a domain of the tenant.')
const namespace = line.regex(/^[\w./-]{1,1024}$/, 'This is not the path of a namespace.')
const region = line.regex(/^[a-z0-9-]{1,40}$/, 'This is not a region.')
const form = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape)

const aws = z.discriminatedUnion('aws_auth_type', [
  form({
    aws_auth_type: z.literal('accessKey'),
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: line,
    aws_session_token: line.optional(),
    aws_region: region,
  }),
  form({
    aws_auth_type: z.literal('assumedRole'),
    aws_role_arn: roleArn,
    aws_external_id: externalId.optional(),
    aws_region: region,
    aws_access_key_id: accessKeyId.optional(),
    aws_secret_access_key: line.optional(),
  }),
  form({ aws_auth_type: z.literal('serviceRole'), aws_region: region.optional() }),
])

const entra = { azure_entra_tenant_id: entraId, azure_entra_client_id: entraId, azure_vault_url: vaultUrl }
const azure = z.discriminatedUnion('azure_auth_mode', [
  form({
    azure_auth_mode: z.literal('entra'),
    ...entra,
    azure_entra_client_secret: line.optional(),
    azure_entra_client_certificate: pem.optional(),
  }).refine(
    ({ azure_entra_client_secret: secret, azure_entra_client_certificate: certificate }) =>
      (secret === undefined) !== (certificate === undefined),
    { path: ['azure_entra_client_secret'], message: 'Give the secret or the certificate of the application.' },
  ),
  form({ azure_auth_mode: z.literal('managed'), azure_managed_client_id: entraId.optional(), azure_vault_url: vaultUrl }),
  form({
    azure_auth_mode: z.literal('workload'),
    azure_entra_tenant_id: entraId.optional(),
    azure_workload_client_id: entraId.optional(),
    azure_vault_url: vaultUrl,
  }),
  form({ azure_auth_mode: z.literal('default'), azure_vault_url: vaultUrl }),
])

const mount = line.regex(/^[\w./-]+$/, 'This is not the path of an auth method.').optional()
const vault = { vault_addr: url, vault_namespace: namespace.optional() }
const hashicorp = z.discriminatedUnion('vault_auth_type', [
  form({ vault_auth_type: z.literal('token'), ...vault, vault_token: line }),
  form({ vault_auth_type: z.literal('approle'), ...vault, vault_auth_mount: mount, vault_role_id: line, vault_secret_id: line }),
  form({ vault_auth_type: z.literal('kubernetes'), ...vault, vault_auth_mount: mount, vault_role: line }),
  form({ vault_auth_type: z.literal('jwt'), ...vault, vault_auth_mount: mount, vault_role: line, vault_jwt: line.optional() }),
])

const schemas: Readonly<Record<ManagerType, z.ZodType>> = { aws_sm: aws, azure_kv: azure, hashicorp_vault: hashicorp }

/** The fields of sign-ins that are secret. */
export const secretNames: ReadonlySet<string> = new Set([
  'aws_secret_access_key',
  'aws_session_token',
  'azure_entra_client_secret',
  'azure_entra_client_certificate',
  'vault_token',
  'vault_secret_id',
  'vault_jwt',
])

/** A stored secret stays behind its mask only while the address that it goes to stays. */
const secretsOf = (document: unknown): readonly SecretPlace[] => {
  const config = parsed(document)
  const goesTo = [config['vault_addr'] ?? null, config['azure_vault_url'] ?? null, config['azure_entra_tenant_id'] ?? null]
  return Object.keys(config)
    .filter((name) => secretNames.has(name))
    .map((name) => ({ path: [name], goesTo }))
}

const parsed = (document: unknown): AuthConfig => z.record(z.string(), z.string()).catch({}).parse(document)

/** A sign-in as it is answered: its secrets masked. */
export const maskAuth = (config: AuthConfig): AuthConfig => parsed(maskSecrets(config, secretsOf))

interface GivenAuth {
  readonly manager: ManagerType
  readonly given: Readonly<Record<string, unknown>>
  /** Null: none is stored yet. */
  readonly stored: AuthConfig | null
}

/** Checks a sign-in against its manager, and puts stored secrets back where masks stand for them. AB01 names the field. */
export function parseAuth({ manager, given, stored }: GivenAuth): AuthConfig {
  const plain = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  const result = parseGiven(schemas[manager], plain)
  if (!result.success)
    throw refusedPart(result.error, { value: plain, above: 'auth_config', unknown: `is no field of this sign-in at ${manager}` })
  const outcome = restoreSecrets(parsed(result.data), stored, secretsOf)
  if ('restored' in outcome) return parsed(outcome.restored)
  throw maskFault(
    pathText(['auth_config', ...outcome.fault.path]),
    outcome.fault.reason,
    'would go elsewhere than before, and a stored secret only goes where it was stored for',
  )
}

/** Throws AB01 for a pair of fields of which one is missing. */
export function demandPair(config: AuthConfig): void {
  if ((config['aws_access_key_id'] === undefined) === (config['aws_secret_access_key'] === undefined)) return
  const param = `auth_config.${config['aws_access_key_id'] === undefined ? 'aws_access_key_id' : 'aws_secret_access_key'}`
  throw new ApiError('AB01', `${param} is needed: a key has an id and a secret.`, { param })
}
