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
  const authorities = ca === null ? bundled(mode) : [readPem('DB_SSL_CA', ca)]
  try {
    return createSecureContext({
      ...(authorities !== null && { ca: authorities }),
      ...(cert !== null && { cert: readPem('DB_SSL_CERT', cert) }),
      ...(key !== null && { key: readPem('DB_SSL_KEY', key.reveal()) }),
    })
  } catch (error) {
    if (error instanceof DatabaseConnectionError) throw error
    const detail = error instanceof Error ? error.message : String(error)
    throw new DatabaseConnectionError(`DB_SSL_CA, DB_SSL_CERT or DB_SSL_KEY cannot be used: ${detail}`, { retryable: false, cause: error })
  }
}

/** MANAGED trusts Node's own roots and the bundle of the managed databases' authorities, when the installation has one. */
function bundled(mode: DatabaseConfig['ssl']['mode']): string[] | null {
  if (mode !== 'MANAGED') return null
  const bundle = findProjectPath('docker/ca/managed-databases.pem')
  return [...getCACertificates('default'), ...(bundle === null ? [] : [readFileSync(bundle, 'utf8')])]
}

function readPem(setting: string, given: string): string {
  const pem = given.trimStart().startsWith('-----BEGIN') ? given : readFile(setting, given)
  if (pem.includes('-----BEGIN')) return pem
  throw new DatabaseConnectionError(`${setting} holds no PEM: it must begin with -----BEGIN, or be the path of such a file`, {
    retryable: false,
  })
}

function readFile(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new DatabaseConnectionError(`${setting} is neither a PEM nor the path of a file that can be read`, {
      retryable: false,
      cause: error,
    })
  }
}
