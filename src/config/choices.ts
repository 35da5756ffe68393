/** The words that some settings take. */
export const dbSslModes = ['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY', 'MANAGED'] as const
export const mailTls = ['STARTTLS', 'TLS', 'NONE'] as const
export const logStores = ['none', 'local', 's3', 's3_assume', 's3_custom', 'gcs', 'gcs_assume', 'azure'] as const
export const sseTypes = ['AES256', 'aws:kms', 'aws:kms:dsse'] as const
export const roles = ['gateway', 'control', 'jobs'] as const

export type DbSslMode = (typeof dbSslModes)[number]
export type MailTls = (typeof mailTls)[number]
export type Role = (typeof roles)[number]
export type LogStoreKind = (typeof logStores)[number]
export type SseType = (typeof sseTypes)[number]
