import { settingNames, settings, type SettingName } from './settings.ts'

/**
 * The settings of the process that bind people of every organisation, and whose values are no matter of the operator alone: how people sign in
 * and for how long, how long data is kept, how large and how long requests may be, and which features are on. No hosts, paths or credentials.
 */
const told: ReadonlySet<SettingName> = new Set<SettingName>([
  'AUTH_MODE',
  'SESSION_IDLE_TIMEOUT',
  'SESSION_LIFETIME',
  'FAILED_CREDENTIALS_PER_MINUTE',
  'DEDICATED_VALIDATION',
  'LOG_RETENTION_DAYS',
  'METRICS_RETENTION_DAYS',
  'RESPONSE_RETENTION_DAYS',
  'LOG_SEALING',
  'LOG_SEARCH_INDEX',
  'REQUEST_TIMEOUT',
  'STREAM_IDLE_TIMEOUT',
  'STREAM_OPENS_AFTER',
  'MAX_JSON_PAYLOAD_SIZE_IN_MB',
  'MAX_UPLOAD_SIZE_IN_MB',
  'MAX_LOG_BODY_SIZE_IN_KB',
  'LIMITS_WHEN_UNAVAILABLE',
  'LIMITS_SETTLE_WAIT',
  'SCIM_MEMBERSHIP_USER_MODE',
  'SCIM_GROUP_PREFIX',
  'SCIM_GROUP_SEPARATOR',
  'SCIM_ORGANISATION_PREFIX',
  'SCIM_OWNER_GROUPS',
  'GUARDRAILS_ENABLED',
  'API_ACCESS_ENABLED',
  'DATA_EXPORTS_ENABLED',
  'USAGE_LIMITS_ENABLED',
  'AUDIT_LOGS_ENABLED',
  'SCIM_ENABLED',
  'POLICY_ENABLED',
])

/** A setting of the process that the API shows. */
export interface PublicSetting {
  readonly name: SettingName
  readonly effect: string
  /** As it would be written; null: none. */
  readonly otherwise: string | null
  readonly since: string
  /** As it was given; null: it was not. */
  readonly given: string | null
}

/** Returns the settings that the API shows, in the order of the documents. */
export const toldSettings = (values: Readonly<Partial<Record<SettingName, string>>>): readonly PublicSetting[] =>
  settingNames
    .filter((name) => told.has(name))
    .map((name) => {
      const { desc: effect, otherwise, since } = settings[name]
      return { name, effect, otherwise, since, given: values[name] ?? null }
    })
