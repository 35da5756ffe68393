import { createPrivateKey, hash, type KeyObject } from 'node:crypto'
import type { Credential } from '../providers/provider.ts'
import { cachesOf } from './auth-caches.ts'
import type { AuthDeps, AuthProof, AuthRequest } from './auth-request.ts'
import { field, fingerprint, malformed, pemText, requireField } from './credential.ts'
import { httpSignature } from './http-signature.ts'

const withBody = new Set(['POST', 'PUT', 'PATCH'])

/** Signs a request with the user's API signing key. */
export function authorizeOracle({ credential, method, url, headers, body }: AuthRequest, deps: AuthDeps): AuthProof {
  const date = new Date(deps.now()).toUTCString()
  const content = withBody.has(method) ? describe(body ?? new Uint8Array(), headers) : null
  const host = new URL(url.origin).host
  const authorization = httpSignature(
    { method, path: url.path, host, date, body: content },
    privateKey(credential, deps),
    keyId(credential),
  )
  const signed = ['date', date, 'authorization', authorization]
  if (content !== null) signed.push('x-content-sha256', content.sha256)
  if (content?.assumed === true) signed.push('content-type', content.type)
  return { headers: signed, path: url.path }
}

function describe(body: Uint8Array, headers: readonly string[]) {
  const at = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-type')
  const type = at === -1 ? 'application/json' : (headers[at + 1] ?? '')
  return { length: body.byteLength, type, assumed: at === -1, sha256: hash('sha256', body, 'base64') }
}

function keyId(credential: Credential): string {
  return ['oracle_tenancy', 'oracle_user', 'oracle_fingerprint']
    .map((name) => {
      const value = requireField(credential, name)
      if (!/^[A-Za-z0-9._:-]+$/.test(value)) throw malformed(name, 'holds characters that no such id has')
      return value
    })
    .join('/')
}

/** The parsed key, kept: parsing costs more than signing when a passphrase protects it. */
function privateKey(credential: Credential, deps: AuthDeps): KeyObject {
  const pem = field(credential, 'oracle_private_key') ?? credential.key ?? requireField(credential, 'oracle_private_key')
  const passphrase = field(credential, 'oracle_key_passphrase')
  return cachesOf(deps.egress).signers.getSync(fingerprint('oracle', pem, passphrase), deps.now(), () => ({
    value: parseKey(pemText(pem), passphrase),
    usableUntil: Number.POSITIVE_INFINITY,
  }))
}

function parseKey(key: string, passphrase: string | null): KeyObject {
  const parsed = tryParse(key, passphrase)
  if (parsed?.asymmetricKeyType === 'rsa') return parsed
  throw malformed('oracle_private_key', 'is not an RSA key in PEM, or oracle_key_passphrase does not open it')
}

function tryParse(key: string, passphrase: string | null): KeyObject | null {
  try {
    return createPrivateKey(passphrase === null ? key : { key, passphrase })
  } catch {
    return null
  }
}
