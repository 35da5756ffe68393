import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext, getCACertificates, type ConnectionOptions } from 'node:tls'
import type { DatabaseConfig } from '../../config/config.ts'
import { DatabaseConnectionError } from './connection-error.ts'
import { findProjectPath } from './project-path.ts'

/**
 * How DB_SSL maps on node-postgres. `false`: no TLS. Never a `sslmode` in a URL: there node-postgres gives the words another
 * meaning. PREFERRED is the same as REQUIRED here; `connect` falls back when the server has no TLS.
 */
export function sslOptions(database: DatabaseConfig): false | ConnectionOptions {
  const { mode } = database.ssl
  if (mode === 'DISABLED') return false
  return {
    secureContext: secureContext(database),
    rejectUnauthorized: mode !== 'PREFERRED' && mode !== 'REQUIRED',
    ...(mode === 'VERIFY_CA' && { checkServerIdentity: () => undefined }),
    // An address must not be sent as a server name; the certificate is then checked against the host node-postgres passes.
    ...(isIP(database.host) === 0 && { servername: database.host }),
  }
}

/** One context for all connections, so that certificates are parsed once and the private key is held in one place. */
function secureContext(database: DatabaseConfig) {
  const { mode, ca, cert, key } = database.ssl
  const authorities = ca === null ? bundled(mode) : [readCertificate('DB_SSL_CA', ca)]
  const options = {
    ...(authorities !== null && { ca: authorities }),
    ...(cert !== null && { cert: readCertificate('DB_SSL_CERT', cert) }),
    ...(key !== null && { key: readKey('DB_SSL_KEY', key.reveal()) }),
  }
  return attempt(() => createSecureContext(options), 'DB_SSL_CERT and DB_SSL_KEY do not belong together')
}

/** MANAGED trusts Node's own roots and the bundle of the managed databases' authorities, when the installation has one. */
function bundled(mode: DatabaseConfig['ssl']['mode']): string[] | null {
  if (mode !== 'MANAGED') return null
  const bundle = findProjectPath('docker/ca/managed-databases.pem')
  return [...getCACertificates('default'), ...(bundle === null ? [] : [readFileSync(bundle, 'utf8')])]
}

/** Parsed here, because TLS silently skips a certificate that it cannot read. */
function readCertificate(setting: string, given: string): string {
  const pem = readPem(setting, given)
  attempt(() => new X509Certificate(pem), `${setting} holds no certificate that can be read`)
  return pem
}

function readKey(setting: string, given: string): string {
  const pem = readPem(setting, given)
  attempt(() => createPrivateKey(pem), `${setting} holds no private key that can be read (one without a passphrase)`)
  return pem
}

function readPem(setting: string, given: string): string {
  const isPem = given.trimStart().startsWith('-----BEGIN')
  return isPem ? given : attempt(() => readFileSync(given, 'utf8'), `${setting} is neither a PEM nor the path of a file that can be read`)
}

/** The cause is kept apart: OpenSSL's words do not help, and a path or a PEM must not be shown. */
function attempt<T>(work: () => T, message: string): T {
  try {
    return work()
  } catch (cause) {
    throw new DatabaseConnectionError(message, { retryable: false, cause })
  }
}
