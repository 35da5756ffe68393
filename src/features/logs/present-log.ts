import type { z } from 'zod'
import { insertedOperation } from './inserted-log.ts'
import type { LogMetrics, logObject } from './log.schema.ts'
import type { LogDetail, LogRow } from './logs.queries.ts'
import { presentBody } from './present-body.ts'

/** A log as lists show it. */
export function presentLog(row: LogRow): LogMetrics {
  return {
    object: 'log',
    id: row.id,
    organisation_id: row.organisation_id,
    workspace_id: row.workspace_id,
    workspace_slug: row.workspace_slug,
    created_at: new Date(row.created_ms).toISOString(),
    is_success: row.status < 400 && row.outcome === 'complete',
    ai_org: row.provider,
    ai_model: row.model,
    virtual_key: row.provider_slug,
    api_key_id: row.api_key_id,
    user_id: row.user_id,
    usage_source: row.usage_source,
    cost: row.cost_usd,
    cost_currency: 'USD',
    request_url: urlOf(row),
    request_method: row.method,
    operation: row.operation,
    is_proxy_call: row.operation === 'proxy',
    response_status_code: row.status,
    outcome: row.outcome,
    error_code: row.error_code,
    cache_status: row.cache_status,
    cache_type: null,
    retry_success_count: row.retry_count,
    last_used_option: row.last_used_option,
    trace_id: row.trace_id,
    span_id: row.span_id,
    parent_span_id: row.parent_span_id,
    span_name: row.span_name,
    'metadata.key': Object.keys(row.metadata),
    'metadata.value': Object.values(row.metadata),
    client_ip: row.client_ip,
    prompt_id: row.prompt_id,
    prompt_version_id: row.prompt_version_id,
    prompt_slug: row.prompt_slug,
    ...amounts(row),
  }
}

function amounts(row: LogRow) {
  return {
    req_units: row.input_tokens,
    res_units: row.output_tokens,
    total_units: row.total_tokens,
    response_time: Math.round(row.duration_ms),
    upstream_response_time: row.upstream_ms === null ? null : Math.round(row.upstream_ms),
    time_to_first_byte: row.first_byte_ms === null ? null : Math.round(row.first_byte_ms),
    stream_mode: Number(row.stream),
    request_bytes: row.request_bytes,
    response_bytes: row.response_bytes,
  }
}

/** A log with all that was kept of it. */
export async function presentLogDetail(row: LogDetail): Promise<z.input<typeof logObject>> {
  const requestHeaders = row.request_headers ?? {}
  const responseHeaders = row.response_headers ?? {}
  const [request, response] = await Promise.all([
    presentBody({
      bytes: row.request_body,
      truncated: row.request_truncated ?? false,
      contentEncoding: requestHeaders['content-encoding'],
    }),
    presentBody({
      bytes: row.response_body,
      truncated: row.response_truncated ?? false,
      contentEncoding: responseHeaders['content-encoding'],
    }),
  ])
  const metrics = presentLog(row)
  return {
    _id: row.id,
    object: 'log',
    organisation_id: row.organisation_id,
    created_at: metrics.created_at,
    request: {
      url: row.upstream_url ?? urlOf(row),
      method: row.method,
      headers: Object.fromEntries(Object.entries(requestHeaders).filter(([name]) => !isOurs(name))),
      serviceHeaders: Object.fromEntries(Object.entries(requestHeaders).filter(([name]) => isOurs(name))),
      ...request,
    },
    response: {
      status: row.status,
      responseTime: metrics.response_time,
      lastUsedOptionJsonPath: row.last_used_option ?? '',
      headers: responseHeaders,
      ...response,
    },
    hook_results: row.hook_results,
    attempts: row.attempts,
    metrics,
    log_format: 'v1',
  }
}

/** Returns true for headers that the caller sent to the gateway, not to the provider. */
const isOurs = (name: string): boolean => name.startsWith('x-service-')

/** As the client called it: us, or the provider whose answer it then told us. */
const urlOf = (row: LogRow) => (row.operation === insertedOperation ? row.path : `/v1${row.path}`)
