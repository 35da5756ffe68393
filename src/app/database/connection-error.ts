import type { DatabaseConfig } from '../../config/config.ts'

/** Why the database cannot be used, in words that name the setting to change. `retryable`: waiting may help. */
export class DatabaseConnectionError extends Error {
  readonly retryable: boolean

  constructor(message: string, options: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'DatabaseConnectionError'
    this.retryable = options.retryable
  }
}

interface Cause {
  readonly test: RegExp
  readonly retryable?: true
  explain(database: DatabaseConfig, message: string): string
}

const place = (database: DatabaseConfig) => `${database.host}:${database.port}`

/** Every cause we know, matched against "code message"; the first match wins. */
const causes: readonly Cause[] = [
  {
    test: /does not support SSL/,
    explain: (database) =>
      `PostgreSQL at ${place(database)} does not offer TLS, and DB_SSL=${database.ssl.mode} demands it: turn TLS on there, or set DB_SSL=PREFERRED or DISABLED`,
  },
  {
    test: /ERR_TLS_CERT_ALTNAME_INVALID/,
    explain: (database, message) =>
      `the certificate of PostgreSQL at ${place(database)} is for another name than DB_HOST=${database.host} (${message}): set DB_HOST to a name in the certificate, or DB_SSL=VERIFY_CA`,
  },
  {
    test: /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    explain: (database, message) =>
      `the certificate of PostgreSQL at ${place(database)} is not valid now (${message}): renew it, or check this machine's clock`,
  },
  {
    test: /SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED|INVALID_CA/,
    explain: (database, message) =>
      `the certificate of PostgreSQL at ${place(database)} is not signed by a trusted authority (${message}): set DB_SSL_CA to the authority that signed it (DB_SSL=${database.ssl.mode})`,
  },
  {
    test: /requires a valid client certificate|ALERT_CERTIFICATE_REQUIRED|ALERT_UNKNOWN_CA|ALERT_BAD_CERTIFICATE|certificate authentication failed/,
    explain: (database, message) =>
      `PostgreSQL at ${place(database)} wants a client certificate that it trusts (${message}): set DB_SSL_CERT and DB_SSL_KEY`,
  },
  {
    test: /no pg_hba\.conf entry .*no encryption/,
    explain: (database, message) =>
      `PostgreSQL at ${place(database)} refuses connections without TLS (${message}): set DB_SSL=REQUIRED or stricter`,
  },
  {
    test: /client password must be a string/,
    explain: (database) => `PostgreSQL at ${place(database)} wants a password of user "${database.user}", and there is none: set DB_PASS`,
  },
  {
    test: /^(28P01|28000)|SCRAM/,
    explain: (database, message) =>
      `PostgreSQL at ${place(database)} refused the login of user "${database.user}" (${message}): check DB_USER and DB_PASS`,
  },
  {
    test: /^3D000/,
    explain: (database) => `PostgreSQL at ${place(database)} has no database "${database.name}": create it, or check DB_NAME`,
  },
  {
    test: /ECONNREFUSED/,
    retryable: true,
    explain: (database) => `nothing listens at ${place(database)}: is PostgreSQL running, are DB_HOST and DB_PORT right?`,
  },
  {
    test: /ENOTFOUND|EAI_AGAIN/,
    retryable: true,
    explain: (database) => `the name "${database.host}" cannot be resolved: check DB_HOST`,
  },
  {
    test: /ETIMEDOUT|timeout|EHOSTUNREACH|ENETUNREACH/,
    retryable: true,
    explain: (database, message) =>
      `no answer from PostgreSQL at ${place(database)} (${message}): check DB_HOST, DB_PORT and the firewall between`,
  },
  {
    test: /^57P03/,
    retryable: true,
    explain: (database, message) => `PostgreSQL at ${place(database)} is starting up or shutting down (${message})`,
  },
  {
    test: /^53300/,
    retryable: true,
    explain: (database) => `PostgreSQL at ${place(database)} has no free connection slot: raise its max_connections, or lower DB_POOL_SIZE`,
  },
]

/** Returns the meaning of a failed connect for the operator. Unknown causes keep their message and count as retryable. */
export function explainConnectionError(error: unknown, database: DatabaseConfig): DatabaseConnectionError {
  if (error instanceof DatabaseConnectionError) return error
  const message = describe(error)
  const cause = causes.find(({ test }) => test.test(`${codeOf(error)} ${message}`))
  if (cause !== undefined)
    return new DatabaseConnectionError(cause.explain(database, message), { retryable: cause.retryable ?? false, cause: error })
  return new DatabaseConnectionError(`cannot connect to PostgreSQL at ${place(database)}: ${message}`, { retryable: true, cause: error })
}

/** A `localhost` that resolves to two addresses fails with an AggregateError, whose own message is empty. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** The SQLSTATE, system or TLS code of a thrown value; empty when there is none. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
