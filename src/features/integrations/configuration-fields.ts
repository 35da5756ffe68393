import { z } from 'zod'
import { headerValue, sentHeaderName } from '../../lib/text/header-fields.ts'
import { textField } from '../../lib/text/text.ts'
import { namesNoUser, userFault } from '../../lib/text/url-user.ts'

/** A setting or a credential field: it ends up in a URL, a header or a signature, so that it is plain ASCII on one line. */
const line = z
  .string()
  .max(4096)
  .regex(/^[\x20-\x7e]*$/, 'Only ASCII characters on one line are allowed.')

const url = line
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'This is not an http or https URL.')
  .refine(namesNoUser, userFault)

/** An Azure deployment; the alias is the model name that requests may use for it. */
const deployment = z.strictObject({
  azure_deployment_name: line.min(1),
  azure_api_version: line.min(1).max(30),
  azure_model_slug: line.min(1),
  alias: line.optional(),
  is_default: z.boolean().default(false),
})

export type AzureDeployment = z.output<typeof deployment>

const serviceAccount = z.looseObject({
  client_email: line.min(1),
  private_key: textField(20_000).min(1),
  token_uri: url.optional(),
})

/** A service account's JSON as an object or as text; kept as an object. */
const serviceAccountJson = z.preprocess(parsedWhenText, serviceAccount)

function parsedWhenText(given: unknown): unknown {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

/** Headers that speak for the gateway. */
const ownHeaders = /^(?:x-service-.*|forwarded|x-forwarded-.*)$/i

/** More than any provider asks for, fewer than any server refuses. */
const maxCustomHeaders = 64

const customHeaders = z
  .record(
    sentHeaderName.refine((name) => !ownHeaders.test(name), 'This header is set by the gateway.'),
    headerValue,
  )
  .refine((headers) => Object.keys(headers).length <= maxCustomHeaders, `At most ${maxCustomHeaders} headers are allowed.`)

const types: Readonly<Record<string, z.ZodType>> = {
  aws_auth_type: z.enum(['accessKey', 'assumedRole', 'serviceRole']),
  azure_auth_mode: z.enum(['default', 'entra', 'entraFederated', 'managed', 'workload']),
  azure_api_version: line.max(30),
  azure_foundry_url: url,
  azure_deployment_config: z.array(deployment).min(1).max(100),
  huggingface_base_url: url,
  triton_backend: z.enum(['vllm', 'tensorrtllm']),
  vertex_auth_type: z.enum(['basic', 'serviceAccount', 'workload']),
  vertex_service_account_json: serviceAccountJson,
  oracle_private_key: textField(20_000),
  azure_entra_client_certificate: textField(20_000),
  vertex_skip_ptu_cost_attribution: z.boolean(),
  is_key_required: z.boolean(),
  custom_host: url,
  custom_headers: customHeaders,
}

/** The type of a configuration field: a line of text unless it is known to be something else. */
export const fieldType = (name: string): z.ZodType => types[name] ?? line

/** Fields that a kind of provider has besides those of its row in the catalogue. */
export const extraFields: Readonly<Record<string, readonly string[]>> = {
  'azure-openai': ['azure_deployment_config'],
  sagemaker: ['amzn_sagemaker_model_name'],
  'vertex-ai': ['vertex_skip_ptu_cost_attribution'],
}

/** Fields that a kind of provider cannot do without, unless a custom host stands in for its address. */
export const requiredFields: Readonly<Record<string, readonly string[]>> = {
  'azure-openai': ['azure_auth_mode', 'azure_resource_name', 'azure_deployment_config'],
  'azure-ai': ['azure_auth_mode', 'azure_foundry_url'],
  bedrock: ['aws_auth_type', 'aws_region'],
  sagemaker: ['aws_auth_type', 'aws_region'],
  'vertex-ai': ['vertex_auth_type', 'vertex_region'],
}

/** The fields that one choice demands. `orKey`: the provider key does as well. */
export const choices: readonly {
  readonly field: string
  readonly value: string
  readonly needs: readonly string[]
  readonly orKey: boolean
  /** The fields that stand in for needed ones: needed -> other. */
  readonly instead?: Readonly<Record<string, string>>
}[] = [
  { field: 'aws_auth_type', value: 'accessKey', needs: ['aws_access_key_id', 'aws_secret_access_key'], orKey: true },
  { field: 'aws_auth_type', value: 'assumedRole', needs: ['aws_role_arn'], orKey: false },
  {
    field: 'azure_auth_mode',
    value: 'entra',
    needs: ['azure_entra_tenant_id', 'azure_entra_client_id', 'azure_entra_client_secret'],
    orKey: false,
    instead: { azure_entra_client_secret: 'azure_entra_client_certificate' },
  },
  {
    field: 'azure_auth_mode',
    value: 'entraFederated',
    needs: ['azure_entra_tenant_id', 'azure_entra_client_id'],
    orKey: false,
  },
  { field: 'vertex_auth_type', value: 'serviceAccount', needs: ['vertex_service_account_json'], orKey: false },
]
