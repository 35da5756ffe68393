import { isFields } from '../../lib/json/fields.ts'

/** A provider's words for a failure, in whatever format it speaks. */
export interface ProviderError {
  /** An HTTP status that the failure stands for; null: it says none. */
  readonly status: number | null
  readonly kind: 'context_window' | 'content_policy' | 'rate_limit' | null
  readonly message: string
}

/** Returns the error of a body, or of one event of a stream; null when it is none. */
export function readProviderError(json: unknown): ProviderError | null {
  const found = errorIn(json)
  if (found === null) return null
  const texts = [found['type'], found['code'], found['status']].filter((text) => typeof text === 'string')
  const message = typeof found['message'] === 'string' ? found['message'] : ''
  return { status: statusOf(found, texts), kind: kindOf(texts, message), message }
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Where errors stand: `{ error: { … } }` (OpenAI, Anthropic, Google), `{ type: 'error', … }` (Responses), in the response of
 * `response.failed`, and bare (Bedrock: `{ message }` beside an exception's type).
 */
function errorIn(json: unknown): Fields | null {
  const first: unknown = Array.isArray(json) ? json[0] : json
  if (!isFields(first)) return null
  const { error, type, response } = first
  if (isFields(error)) return error
  if (typeof error === 'string') return { ...first, message: error }
  if (type === 'error') return first
  return type === 'response.failed' && isFields(response) && isFields(response['error']) ? response['error'] : null
}

/** The words of providers, and the statuses that they answer otherwise. */
const statuses: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  overloaded: 529,
  engine_overloaded: 503,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  tokens: 429,
  requests: 429,
  RESOURCE_EXHAUSTED: 429,
  throttlingException: 429,
  api_error: 500,
  server_error: 500,
  internal_error: 500,
  internal_server_error: 500,
  INTERNAL: 500,
  internalServerException: 500,
  UNAVAILABLE: 503,
  service_unavailable: 503,
  serviceUnavailableException: 503,
  timeout_error: 504,
  DEADLINE_EXCEEDED: 504,
  modelStreamErrorException: 500,
  modelTimeoutException: 504,
  invalid_request_error: 400,
  invalid_prompt: 400,
  INVALID_ARGUMENT: 400,
  validationException: 400,
  authentication_error: 401,
  UNAUTHENTICATED: 401,
  permission_error: 403,
  PERMISSION_DENIED: 403,
  not_found_error: 404,
  NOT_FOUND: 404,
  request_too_large: 413,
}

function statusOf({ code, status }: Fields, texts: readonly string[]): number | null {
  for (const said of [code, status]) if (typeof said === 'number' && said >= 400 && said <= 599) return said
  const named = texts.map((text) => (Object.hasOwn(statuses, text) ? statuses[text] : undefined)).find((found) => found !== undefined)
  return named ?? null
}

const windowCodes = new Set(['context_length_exceeded', 'string_above_max_length', 'model_max_prompt_tokens_exceeded'])
const windowWords =
  /context (?:length|window)|maximum (?:context|number of tokens|input tokens)|prompt is too long|input is too long|too many (?:input |total )?tokens|input token count|exceeds? the (?:model's )?(?:maximum|max|limit).{0,40}tokens?|reduce the length of/i
const policyCodes = new Set([
  'content_filter',
  'content_policy_violation',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
  'PROHIBITED_CONTENT',
])
const policyWords =
  /content (?:management )?policy|content filter|content_filter|safety system|usage polic(?:y|ies)|flagged as potentially/i
const rateCodes = new Set(['rate_limit_error', 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED', 'throttlingException'])

function kindOf(texts: readonly string[], message: string): ProviderError['kind'] {
  if (texts.some((text) => windowCodes.has(text)) || windowWords.test(message)) return 'context_window'
  if (texts.some((text) => policyCodes.has(text)) || policyWords.test(message)) return 'content_policy'
  return texts.some((text) => rateCodes.has(text)) ? 'rate_limit' : null
}
