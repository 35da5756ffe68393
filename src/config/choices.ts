/** The words that some settings take. */
export const dbSslModes = ['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY', 'MANAGED'] as const
export const mailTls = ['STARTTLS', 'TLS', 'NONE'] as const
export const roles = ['gateway', 'control', 'jobs'] as const

export type DbSslMode = (typeof dbSslModes)[number]
export type MailTls = (typeof mailTls)[number]
export type Role = (typeof roles)[number]
