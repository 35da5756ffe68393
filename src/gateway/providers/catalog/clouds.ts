import { sigv4, type Auth, type Provider, type NativeOperation } from '../provider.ts'
import { aws, awsMade, encryptionHeaders, endpointHeaders, optional } from './aws.ts'
import { bedrockOffers, oracleOffers, vertexOffers, workersOffers } from './cloud-offers.ts'
import {
  at,
  batches,
  chat,
  completions,
  embeddings,
  everything,
  files,
  finetunes,
  foreign,
  inference,
  messages,
  openai,
  responses,
  responseTools,
  threads,
} from './rows.ts'

const entra = {
  azure_auth_mode: 'default',
  azure_ad_token: '',
  azure_entra_tenant_id: '',
  azure_entra_client_id: '',
  azure_entra_client_secret: '',
  azure_entra_client_certificate: '',
  azure_managed_client_id: '',
  azure_workload_client_id: '',
  azure_entra_scope: 'https://cognitiveservices.azure.com/.default',
}

const azureVersion = '?api-version={azure_api_version}'
const deployment = '/deployments/{azure_deployment_name|azure_deployment_id|model}'
const resourceOwn = [...files, ...batches, ...finetunes]
const azureSpoken = [
  ...at(inference, deployment, azureVersion),
  ...at([...resourceOwn, ...threads], '', azureVersion),
  // learn.microsoft.com/answers/questions/5889782: it has no counter of tokens.
  ...at([...responses, ...responseTools], '/v1'),
]
/** Deployments have the names of their models by default: for a custom name each client's own API is asked. */
const claude = /claude/i
const otherVendors =
  /^(?:gpt-|o\d|chatgpt|deepseek|meta-|llama|mistral|ministral|codestral|phi-|mai-|cohere|command|grok|jamba|ai21|kimi|qwen)/i
const except = (some: readonly NativeOperation[], operation: NativeOperation['operation'], models: RegExp): readonly NativeOperation[] =>
  some.map((one) => (one.operation === operation ? Object.assign({}, one, { except: models }) : one))
const foundrySpoken = [
  ...at(except(inference, 'chatComplete', claude), '', azureVersion),
  ...at(resourceOwn, '^/openai', azureVersion),
  ...at(except(messages, 'messages', otherVendors), '^/anthropic/v1'),
]

/** Serverless endpoints read the bearer key, resource endpoints the `api-key` header; Microsoft's own client sends both. */
const foundryAuth: Auth = { kind: 'azure', keyHeaders: ['authorization', 'api-key'] }

/** Asks the cloud to pass on parameters that the common schema lacks, unless the caller sets the header. */
const extraParameters = { 'extra-parameters': 'pass-through' }

/** Cloud platforms: the address depends on a region, a resource or an account, and most want a signature or a token of their own. */
export const clouds = {
  // learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle: the dated API names the deployment in the path; the v1 API
  // names it in the body, needs no api-version, and is where responses live for every resource.
  'azure-openai': openai('https://{azure_resource_name}.openai.azure.com/openai', azureSpoken, {
    auth: { kind: 'azure' },
    addsEvents: true,
    traits: { cap: 'max_completion_tokens', developerRole: true, allowedTools: true, keepsFiles: true },
    check: { path: '^/openai/models?api-version=2024-10-21' },
    fields: { azure_resource_name: null, azure_api_version: '2024-10-21', azure_deployment_name: '', azure_deployment_id: '', ...entra },
    variants: ['v1', 'preview', 'latest'].map((value) => ({
      field: 'azure_api_version',
      value,
      baseUrl: 'https://{azure_resource_name}.openai.azure.com/openai/v1',
      speaks: everything,
    })),
  }),
  // learn.microsoft.com/rest/api/aifoundry/modelinference; files, batches and fine-tunes belong to the resource's OpenAI API, and
  // Claude models to its Anthropic API, wherever the given URL points.
  'azure-ai': openai('{azure_foundry_url}', foundrySpoken, {
    auth: foundryAuth,
    addsEvents: true,
    fields: {
      azure_foundry_url: null,
      azure_api_version: '2024-05-01-preview',
      azure_deployment_name: '',
      azure_extra_params: '',
      ...entra,
    },
    offers: [{ task: 'rerank', dialect: 'cohere', path: '^/providers/cohere/v2/rerank' }],
    headers: extraParameters,
    fieldHeaders: { azure_extra_params: 'extra-parameters', azure_deployment_name: 'azureml-model-deployment' },
  }),
  github: openai('https://models.inference.ai.azure.com', [...chat, ...completions, ...embeddings], {
    headers: extraParameters,
    addsEvents: true,
  }),
  bedrock: foreign('https://bedrock-runtime.{aws_region}.{aws_domain}', {
    api: 'bedrock',
    auth: sigv4('bedrock'),
    madeFields: awsMade,
    fields: { ...aws, ...optional(encryptionHeaders) },
    fieldHeaders: encryptionHeaders,
    offers: bedrockOffers,
    // Signatures are judged before bodies are.
    check: { path: '/model/amazon.nova-micro-v1:0/converse', body: '{}', accepted: [400] },
  }),
  sagemaker: foreign('https://runtime.sagemaker.{aws_region}.{aws_domain}', {
    auth: sigv4('sagemaker'),
    madeFields: awsMade,
    fields: { ...aws, ...optional(endpointHeaders), amzn_sagemaker_model_name: '' },
    fieldHeaders: endpointHeaders,
  }),
  // cloud.google.com/vertex-ai/docs/reference/rest: `global` has a host without a region.
  'vertex-ai': foreign('https://{vertex_region}-aiplatform.googleapis.com', {
    api: 'vertex',
    auth: { kind: 'google' },
    fields: {
      vertex_auth_type: 'basic',
      vertex_region: 'us-central1',
      vertex_project_id: '',
      vertex_service_account_json: '',
      vertex_wif_audience: '',
      vertex_wif_service_account_email: '',
    },
    fieldsWithin: { vertex_project_id: ['vertex_service_account_json', 'project_id'] },
    offers: vertexOffers,
    check: {
      path: '/v1/projects/{vertex_project_id}/locations/{vertex_region}/publishers/google/models/gemini-2.5-flash:countTokens',
      body: '{}',
      accepted: [400],
    },
    // cloud.google.com/vertex-ai/generative-ai/docs/learn/locations: two multi-regions have hosts of another form.
    variants: [
      { field: 'vertex_region', value: 'global', baseUrl: 'https://aiplatform.googleapis.com', speaks: [] },
      { field: 'vertex_region', value: 'us', baseUrl: 'https://aiplatform.us.rep.googleapis.com', speaks: [] },
      { field: 'vertex_region', value: 'eu', baseUrl: 'https://aiplatform.eu.rep.googleapis.com', speaks: [] },
    ],
  }),
  oracle: foreign('https://inference.generativeai.{oracle_region}.oci.oraclecloud.com', {
    since: '1.7.0',
    api: 'oracle',
    auth: { kind: 'oracle' },
    fields: {
      oracle_region: null,
      oracle_tenancy: null,
      oracle_user: null,
      oracle_fingerprint: null,
      oracle_private_key: '',
      oracle_key_passphrase: '',
      oracle_compartment_id: '',
      oracle_serving_mode: 'ON_DEMAND',
      oracle_api_version: '20231130',
    },
    bodyFields: ['oracle_compartment_id', 'oracle_tenancy', 'oracle_serving_mode'],
    traits: { reasoningField: 'reasoning_content' },
    offers: oracleOffers,
    check: { path: '/{oracle_api_version}/actions/chat', body: '{}', accepted: [400] },
    // docs.oracle.com/iaas/api/#/en/generative-ai: models are listed by another service than that which runs them.
    lists: {
      baseUrl: 'https://generativeai.{oracle_region}.oci.oraclecloud.com',
      path: '/{oracle_api_version}/models?limit=1000&compartmentId={?oracle_compartment_id|oracle_tenancy}',
    },
  }),
  // developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility: the OpenAI shape sits beside /ai/run, below /ai/v1.
  'workers-ai': openai(
    'https://api.cloudflare.com/client/v4/accounts/{workers_ai_account_id}/ai/run',
    at([...chat, ...embeddings], '^/client/v4/accounts/{workers_ai_account_id}/ai/v1'),
    {
      fields: { workers_ai_account_id: null },
      traits: { form: 'plain' },
      offers: workersOffers,
      check: { path: '^/client/v4/accounts/{workers_ai_account_id}/ai/models/search?per_page=1' },
    },
  ),
} as const satisfies Record<string, Provider>
