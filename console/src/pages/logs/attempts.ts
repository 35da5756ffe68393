import type { Answer } from '../../api/client.ts'

export type Log = Answer<'GET /logs/{logId}'>

export type Attempt = Pick<
  NonNullable<Log['attempts']>[number],
  'option' | 'provider' | 'provider_slug' | 'model' | 'status' | 'failure' | 'error' | 'start_ms' | 'duration_ms'
>

/** Returns true if a target was called: it has a place in the config then, and its answer is not one from the cache. */
const isReached = ({ attempts, operation, cached_log_id: cached }: Log['metrics']): boolean =>
  attempts.count > 0 && cached === null && (attempts.last !== null || operation === 'inserted')

/** Returns the attempts of an exchange. The log lists them when there were several; the only one is described by the log itself. */
export function attemptsOf({ attempts, metrics }: Log): readonly Attempt[] {
  if (attempts !== null || !isReached(metrics)) return attempts ?? []
  const { ai_org: provider, virtual_key, ai_model: model, response_status_code: status, upstream_response_time: took } = metrics
  return [
    {
      option: metrics.attempts.last ?? '',
      provider,
      provider_slug: virtual_key,
      model,
      status,
      failure: null,
      error: metrics.error_code,
      start_ms: null,
      duration_ms: took,
    },
  ]
}
