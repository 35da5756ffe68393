import { asRead } from '../wire/passing-names.ts'

/** Headers of one provider's API that set for whom a request acts, who pays for it, or which deployment answers it. */
interface ActingHeaders {
  /** Names in lower case, and beginnings of names that end with `-`. */
  readonly names: readonly string[]
  /** Names below those beginnings that only describe the request. */
  readonly except?: readonly string[]
}

/** By the API whose documentation names them. All count at every host: a host of one's own may lead on to any of them. */
const acting: Readonly<Record<string, ActingHeaders>> = {
  // platform.openai.com/docs/api-reference/authentication
  openai: { names: ['openai-organization', 'openai-project', 'chatgpt-account-id'] },
  // docs.anthropic.com/en/api/overview, platform.claude.com/docs/en/build-with-claude/claude-on-aws
  anthropic: {
    names: ['anthropic-'],
    except: ['anthropic-version', 'anthropic-beta', 'anthropic-dangerous-direct-browser-access', 'anthropic-client-platform'],
  },
  // cloud.google.com/apis/docs/system-parameters, ai.google.dev/api/files
  google: {
    names: ['x-goog-'],
    except: [
      'x-goog-api-client',
      'x-goog-fieldmask',
      'x-goog-hash',
      'x-goog-upload-command',
      'x-goog-upload-protocol',
      'x-goog-upload-offset',
      'x-goog-upload-header-content-length',
      'x-goog-upload-header-content-type',
      'x-goog-upload-file-name',
    ],
  },
  // cloud.google.com/vertex-ai/generative-ai/docs/provisioned-throughput
  vertex: { names: ['x-vertex-ai-llm-request-type', 'x-vertex-ai-llm-shared-request-type'] },
  // help.aliyun.com/zh/model-studio
  dashscope: { names: ['x-dashscope-workspace'] },
  // docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv4.html, docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html
  aws: {
    names: [
      'x-amz-',
      'x-amzn-sagemaker-target-model',
      'x-amzn-sagemaker-target-variant',
      'x-amzn-sagemaker-target-container-hostname',
      'x-amzn-sagemaker-inference-component',
      'x-amzn-bedrock-service-tier',
      'x-amzn-bedrock-performanceconfig-latency',
    ],
    except: ['x-amz-server-side-encryption'],
  },
  // learn.microsoft.com/rest/api/storageservices/common-rest-api-headers, learn.microsoft.com/azure/machine-learning/how-to-authenticate-online-endpoint
  azure: { names: ['x-ms-', 'azureml-model-deployment', 'aoai-'], except: ['x-ms-client-request-id', 'x-ms-useragent'] },
  // docs.oracle.com/iaas/Content/API/Concepts/usingapi.htm
  oracle: { names: ['opc-', 'x-cross-tenancy-request'], except: ['opc-request-id', 'opc-retry-token'] },
  // huggingface.co/docs/inference-providers/pricing
  huggingface: { names: ['x-hf-bill-to'] },
  // docs.databricks.com/api
  databricks: { names: ['x-databricks-'] },
  // docs.snowflake.com/developer-guide/snowflake-rest-api/authentication
  snowflake: { names: ['x-snowflake-'] },
  // help.sap.com/docs/sap-ai-core
  sap: { names: ['ai-resource-group', 'ai-tenant-scope'] },
  // developers.cloudflare.com/ai-gateway/configuration
  cloudflare: { names: ['cf-aig-', 'cf-access-'] },
  // docs.helicone.ai/helicone-headers
  helicone: { names: ['helicone-'] },
  // docs.github.com/rest/models
  github: { names: ['x-github-'], except: ['x-github-api-version'] },
  // Other gateways choose a stored credential, a config or a budget by them.
  gateways: { names: ['x-litellm-', 'x-portkey-', 'x-bf-'] },
}

const rows = Object.values(acting)
const exceptions: ReadonlySet<string> = new Set(rows.flatMap(({ except = [] }) => except))
const all = rows.flatMap(({ names }) => names)
const exact: ReadonlySet<string> = new Set(all.filter((name) => !name.endsWith('-')))
const beginnings = all.filter((name) => name.endsWith('-'))

/** Returns true if a header of this name, in lower case, can set for whom a credential acts, or who pays. */
export function isActingHeader(lower: string): boolean {
  const name = asRead(lower)
  return exact.has(name) || (!exceptions.has(name) && beginnings.some((beginning) => name.startsWith(beginning)))
}
