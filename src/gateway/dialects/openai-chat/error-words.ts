import type { ErrorWords } from '../dialect.ts'

/** Words of OpenAI and of those that speak as it does, among them Azure's filter. */
export const errorWords: ErrorWords = {
  statuses: {
    engine_overloaded: 503,
    rate_limit_exceeded: 429,
    insufficient_quota: 429,
    tokens: 429,
    requests: 429,
    server_error: 500,
    internal_error: 500,
    internal_server_error: 500,
    service_unavailable: 503,
    invalid_request_error: 400,
    invalid_prompt: 400,
  },
  contextWindow: ['context_length_exceeded', 'string_above_max_length', 'model_max_prompt_tokens_exceeded'],
  contentPolicy: ['content_filter', 'content_policy_violation', 'moderation_blocked', 'ResponsibleAIPolicyViolation'],
  rateLimit: ['rate_limit_exceeded'],
}
