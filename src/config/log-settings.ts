import { choice, integer } from './kinds.ts'
import { optional, setting } from './setting.ts'

/** Settings of how long logs and the counts of them are kept, and how. */
export const logSettings = {
  LOG_RETENTION_DAYS: setting(integer(1, 3650), '90', { desc: 'The number of days after which request logs are deleted.', example: '30' }),
  LOG_RETENTION_DISPLAY: optional(integer(1, 3650), {
    desc: 'The days of retention of logs that `GET /v1/organisations/self` returns. Default: `LOG_RETENTION_DAYS`, 90.',
    example: '90',
    since: '1.9.0',
  }),
  METRICS_RETENTION_DISPLAY: optional(integer(1, 3650), {
    desc: 'The days of retention of analytics that `GET /v1/organisations/self` returns. Default: `METRICS_RETENTION_DAYS`, 365.',
    example: '365',
    since: '1.9.0',
  }),
  METRICS_RETENTION_DAYS: setting(integer(1, 3650), '365', {
    desc: 'The number of days after which the figures of analytics are deleted. They do not need the logs themselves, and are small.',
    example: '730',
  }),
  RESPONSE_RETENTION_DAYS: setting(integer(0, 3650), '30', {
    desc: 'The number of days after which responses are deleted that Gatehouse keeps for `GET /v1/responses/{id}` and `previous_response_id`, at providers that keep none. They are always sealed under `ENCRYPTION_KEY`. With `0` it keeps none.',
    example: '7',
  }),
  LOG_SEALING: setting(choice(['off', 'on'] as const), 'off', {
    desc: 'With `on`, Gatehouse seals bodies, headers, URLs and guardrail results of request logs (AES-256-GCM, under `ENCRYPTION_KEY`) before it writes them to `DATA_DIR/journal` and to the database. Without that key they are lost. Sealed logs need more space, because they cannot be compressed.',
    example: 'on',
  }),
  LOG_SEARCH_INDEX: setting(choice(['off', 'on'] as const), 'off', {
    desc: 'With `on`, Gatehouse keeps hashes of the words of each request log, keyed under `ENCRYPTION_KEY`, so that `GET /v1/logs?q=…&match=words` finds words without reading every body. It covers logs from then on, and needs about as much space again as bodies of a kilobyte.',
    example: 'on',
  }),
} as const
