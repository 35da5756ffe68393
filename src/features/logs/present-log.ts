import type { z } from 'zod'
import { type LogDetail, presentLog, urlOf } from './log-fields.ts'
import type { logObject } from './log.schema.ts'
import { presentCost } from './present-cost.ts'
import { presentBody } from './present-body.ts'

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
    translation: row.translation,
    cost: presentCost(row),
    metrics,
    log_format: 'v1',
  }
}

/** Returns true for headers that the caller sent to the gateway, not to the provider. */
export const isOurs = (name: string): boolean => name.startsWith('x-service-')
