/** The announcement of a release; its record must agree with it. */
export interface Announcement {
  readonly version: string
  readonly date: string
  readonly chart: string | null
  /** How many separate things the announcement names. */
  readonly items: number
  readonly breaking?: boolean
  readonly env?: readonly string[]
}

const row = (
  [version, date, chart, items]: readonly [string, string, string | null, number],
  more: Pick<Announcement, 'breaking' | 'env'> = {},
): Announcement => ({ version, date, chart, items, ...more })

const later = '>1.4.0'

/** The announced releases, oldest first (specification, section 9), written apart from the records that are checked against them. */
export const published: readonly Announcement[] = [
  row(['1.3.0', '2025-10-17', null, 7]),
  row(['1.3.1', '2025-10-23', null, 2]),
  row(['1.3.2', '2025-10-29', null, 5]),
  row(['1.3.3', '2025-11-07', null, 3]),
  row(['1.4.0', '2025-11-12', later, 3], { breaking: true }),
  row(['1.5.0', '2025-11-17', later, 2]),
  row(['1.5.1', '2025-11-19', later, 3]),
  row(['1.6.0', '2025-11-24', later, 2]),
  row(['1.6.1', '2025-12-13', later, 4]),
  row(['1.6.2', '2026-01-07', later, 3], { env: ['DB_SSL', 'DB_SSL_CA', 'DB_SSL_CERT', 'DB_SSL_KEY'] }),
  row(['1.7.0', '2026-01-08', later, 10], {
    env: [
      'MODEL_CONFIGS_PROXY_FETCH_ENABLED',
      'MODEL_CONFIGS_PROXY_URL',
      'MODEL_CONFIGS_PRICING_LOG_STORE_PATH',
      'MODEL_CONFIGS_CAPABILITIES_LOG_STORE_PATH',
      'MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH',
      'MODEL_CONFIGS_PRICING_LOCAL_PATH',
    ],
  }),
  row(['1.7.1', '2026-01-12', later, 2]),
  row(['1.7.2', '2026-01-12', later, 1]),
  row(['1.7.3', '2026-01-21', later, 4]),
  row(['1.8.0', '2026-02-04', later, 7]),
  row(['1.9.0', '2026-02-16', later, 4], {
    env: [
      'GUARDRAILS_ENABLED',
      'API_ACCESS_ENABLED',
      'DATA_EXPORTS_ENABLED',
      'USAGE_LIMITS_ENABLED',
      'AUDIT_LOGS_ENABLED',
      'SCIM_ENABLED',
      'POLICY_ENABLED',
      'LOG_RETENTION_DISPLAY',
      'METRICS_RETENTION_DISPLAY',
    ],
  }),
  row(['1.10.0', '2026-02-18', later, 5], { env: ['SCIM_MEMBERSHIP_USER_MODE'] }),
  row(['1.11.0', '2026-02-20', later, 3]),
  row(['1.11.1', '2026-02-24', later, 3], { env: ['OIDC_CUSTOM_SCOPES'] }),
  row(['1.11.2', '2026-02-27', later, 5]),
  row(['1.12.0', '2026-03-09', '>=1.6.0', 7]),
]
