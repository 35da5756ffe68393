import type { ExchangeRecord, Usage } from '../../gateway/ports.ts'
import type { StoredFrame } from '../../gateway/ports/journal.ts'
import { column, type Column } from './binary-array.ts'

/** An exchange as it was read back from the journal. */
export interface LoggedExchange {
  readonly record: ExchangeRecord
  readonly bodies: Omit<StoredFrame, 'record'>
}

const of = column<LoggedExchange>()

/** The table `logs`: a column for every fact by which logs are listed, filtered and summed. */
export const logColumns = [
  of('id', 'uuid', ({ record }) => record.id),
  of('organisation_id', 'uuid', ({ record }) => record.organisationId),
  of('workspace_id', 'uuid', ({ record }) => record.workspaceId),
  of('created_at', 'timestamptz', ({ record }) => record.createdAt),
  of('api_key_id', 'uuid', ({ record }) => record.apiKeyId),
  of('user_id', 'uuid', ({ record }) => record.userId),
  of('client_ip', 'text', ({ record }) => record.clientAddress),
  of('method', 'text', ({ record }) => record.method),
  of('path', 'text', ({ record }) => record.path),
  of('operation', 'text', ({ record }) => record.operation),
  of('provider', 'text', ({ record }) => record.provider),
  of('provider_slug', 'text', ({ record }) => record.providerSlug),
  of('model', 'text', ({ record }) => record.model),
  of('status', 'int4', ({ record }) => record.status),
  of('outcome', 'text', ({ record }) => record.outcome),
  of('error_code', 'text', ({ record }) => record.errorCode),
  of('stream', 'bool', ({ record }) => record.stream),
  of('duration_ms', 'float4', ({ record }) => record.durationMs),
  of('upstream_ms', 'float4', ({ record }) => record.upstreamMs),
  of('first_byte_ms', 'float4', ({ record }) => record.firstByteMs),
  of('input_tokens', 'int8', ({ record }) => record.usage?.inputTokens ?? null),
  of('output_tokens', 'int8', ({ record }) => record.usage?.outputTokens ?? null),
  of('total_tokens', 'int8', ({ record }) => record.usage?.totalTokens ?? null),
  of('usage', 'jsonb', ({ record }) => record.usage && usageDetails(record.usage)),
  of('usage_source', 'text', ({ record }) => record.usageSource),
  of('retry_count', 'int4', ({ record }) => record.retryCount),
  of('cache_status', 'text', ({ record }) => record.cacheStatus),
  of('last_used_option', 'text', ({ record }) => record.lastUsedOption),
  of('cached_log_id', 'uuid', ({ record }) => record.cachedLogId),
  of('mirror_of', 'uuid', ({ record }) => record.mirrorOf),
  of('billed', 'bool', ({ record }) => record.billed),
  of('config_slug', 'text', ({ record }) => record.config?.slug ?? null),
  of('config_version', 'int4', ({ record }) => record.config?.version ?? null),
  of('trace_id', 'text', ({ record }) => record.traceId),
  of('span_id', 'text', ({ record }) => record.spanId),
  of('parent_span_id', 'text', ({ record }) => record.parentSpanId),
  of('span_name', 'text', ({ record }) => record.spanName),
  of('metadata', 'jsonb', ({ record }) => record.metadata),
  of('request_bytes', 'int8', ({ record }) => record.requestBytes),
  of('response_bytes', 'int8', ({ record }) => record.responseBytes),
  of('prompt_id', 'uuid', ({ record }) => record.prompt?.id ?? null),
  of('prompt_version_id', 'uuid', ({ record }) => record.prompt?.versionId ?? null),
  of('prompt_slug', 'text', ({ record }) => record.prompt?.slug ?? null),
  of('cost_pico', 'numeric', ({ record }) => record.cost?.amount ?? null),
  of('cost_state', 'text', ({ record }) => record.cost?.state ?? null),
  of('price_catalogue', 'text', ({ record }) => record.cost?.catalogue ?? null),
  of('options_tried', 'int4', ({ record }) => record.attempts && new Set(record.attempts.map(({ option }) => option)).size),
  of('saved_pico', 'numeric', ({ record }) => record.cost?.saved ?? null),
  of(
    'budgets',
    'jsonb',
    ({ record }) => record.spent && record.spent.map(({ attempt, counter, slot, amount, mark }) => [attempt, counter, slot, amount, mark]),
  ),
  of('guardrail', 'text', ({ record }) => record.hooks && worstVerdict(record.hooks)),
  of('attempts_made', 'int4', ({ record }) => record.attempts && record.attempts.length),
] as const

/** The verdicts of guardrails, the worst last: no finding, a finding that was let through, refused. */
export const guardrailVerdicts = ['passed', 'failed', 'denied'] as const

/** Returns the worst verdict of the guardrails that ran; null when none did. */
function worstVerdict({ before_request_hooks: before, after_request_hooks: after }: NonNullable<ExchangeRecord['hooks']>) {
  const all = [...before, ...after]
  if (all.length === 0) return null
  const failed = all.filter(({ verdict }) => !verdict)
  return failed.some(({ deny }) => deny) ? 'denied' : failed.length > 0 ? 'failed' : 'passed'
}

/** The table `log_bodies`: the parts of one log that are read together. */
export const bodyColumns = [
  of('id', 'uuid', ({ record }) => record.id),
  of('organisation_id', 'uuid', ({ record }) => record.organisationId),
  of('created_at', 'timestamptz', ({ record }) => record.createdAt),
  of('upstream_url', 'text', ({ record }) => record.upstreamUrl),
  of('request_headers', 'jsonb', ({ record }) => record.requestHeaders),
  of('response_headers', 'jsonb', ({ record }) => record.responseHeaders),
  of('request_body', 'bytea', ({ bodies }) => bodies.request),
  of('response_body', 'bytea', ({ bodies }) => bodies.response),
  of('request_truncated', 'bool', ({ bodies }) => bodies.requestTruncated),
  of('response_truncated', 'bool', ({ bodies }) => bodies.responseTruncated),
  of('hook_results', 'jsonb', ({ record }) => record.hooks),
  of('attempts', 'jsonb', ({ record }) => record.attempts && attemptRows(record.attempts)),
  of('cost', 'jsonb', ({ record }) => record.cost && costDetails(record.cost)),
  of('translation', 'jsonb', ({ record }) => record.translation && translationRow(record.translation)),
  of('sealed', 'bytea', ({ bodies }) => bodies.sealed),
] as const

type ValueOf<OfColumn> = OfColumn extends Column<LoggedExchange, string, infer Value> ? Value : never
type RowOf<Columns extends readonly Column<LoggedExchange>[]> = {
  readonly [OfColumn in Columns[number] as OfColumn['name']]: ValueOf<OfColumn>
}

/** A row of `logs` as it is read; times are epoch milliseconds. */
export type LogColumns = RowOf<typeof logColumns>
/** A row of `log_bodies` as it is read. */
export type BodyColumns = RowOf<typeof bodyColumns>

/** The parts of a cost; its sum, state and price list have columns of their own. */
const costDetails = ({ lines, unpriced, charges, saved }: NonNullable<ExchangeRecord['cost']>) => ({ lines, unpriced, charges, saved })

/** A translation under the names that the API has for it. */
export const translationRow = ({ dropped, providerError }: NonNullable<ExchangeRecord['translation']>) => ({
  dropped_params: [...dropped],
  provider_error: providerError,
})

/** The attempts under the names that the API has for them. */
export const attemptRows = (attempts: NonNullable<ExchangeRecord['attempts']>) =>
  attempts.map((attempt) => ({
    option: attempt.option,
    provider: attempt.provider,
    provider_slug: attempt.providerSlug,
    model: attempt.model,
    status: attempt.status,
    failure: attempt.failure,
    error: attempt.error,
    start_ms: attempt.startMs,
    duration_ms: attempt.durationMs,
    response_bytes: attempt.responseBytes,
    req_units: attempt.usage?.inputTokens ?? null,
    res_units: attempt.usage?.outputTokens ?? null,
    total_units: attempt.usage?.totalTokens ?? null,
    ...(attempt.openedMs !== undefined && { opened_ms: attempt.openedMs }),
  }))

/** The counts that have no column of their own; null when the provider gave none of them. */
function usageDetails({ cacheReadTokens, cacheWriteTokens, reasoningTokens }: Usage): Readonly<Record<string, number>> | null {
  const given = Object.entries({
    cache_read_tokens: cacheReadTokens,
    cache_write_tokens: cacheWriteTokens,
    reasoning_tokens: reasoningTokens,
  })
  const counts = given.filter((entry): entry is [string, number] => entry[1] !== null)
  return counts.length === 0 ? null : Object.fromEntries(counts)
}
