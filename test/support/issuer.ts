import { createHmac, createSign, generateKeyPairSync, randomUUID, sign as signBytes, constants, type KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Json = Readonly<Record<string, unknown>>
type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA'

/** An issuer of tokens: it signs all given claims, also wrong ones, and publishes its public keys. */
export interface Issuer {
  /** The address of its keys. */
  readonly url: string
  /** How often it was asked for them. */
  asked: number
  /** Its answer instead of its keys. */
  fault: { readonly status: number; readonly body: string; readonly hangs?: boolean } | null
  /** Questions that it has not answered, and whose asker still waits. */
  waiting: number
  /** The public keys, as a JSON Web Key Set. */
  readonly jwks: { readonly keys: Json[] }
  /** A token; `alg` is RS256, and its key is that of its algorithm, unless the header has others. */
  sign(payload: Json, header?: Json): string
  /** Makes another key of an algorithm, under this kid; it is published at once. */
  addKey(algorithm: Algorithm, kid: string): void
  /** Takes a key back. */
  withdraw(kid: string): void
  close(): void
}

interface Pair {
  readonly algorithm: Algorithm
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const rsa = (bits = 2048) => generateKeyPairSync('rsa', { modulusLength: bits })

function newPair(algorithm: Algorithm): Pair {
  if (algorithm === 'ES256') return { algorithm, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
  return algorithm === 'EdDSA' ? { algorithm, ...generateKeyPairSync('ed25519') } : { algorithm, ...rsa() }
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function signature(alg: unknown, input: string, { privateKey, publicKey }: Pair): string {
  const bytes = Buffer.from(input)
  if (alg === 'none') return ''
  if (alg === 'HS256')
    return createHmac('sha256', publicKey.export({ type: 'spki', format: 'pem' }))
      .update(bytes)
      .digest('base64url')
  if (alg === 'EdDSA') return signBytes(null, bytes, privateKey).toString('base64url')
  const key =
    alg === 'PS256'
      ? { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
      : { key: privateKey, dsaEncoding: 'ieee-p1363' as const }
  return createSign('sha256').update(bytes).sign(key).toString('base64url')
}

/** Starts one with a key of each algorithm; their kids are the names of the algorithms. */
export async function startIssuer(): Promise<Issuer> {
  const shared = rsa()
  const pairs = new Map<string, Pair>([
    ['RS256', { algorithm: 'RS256', ...shared }],
    ['PS256', { algorithm: 'PS256', ...shared }],
    ['ES256', newPair('ES256')],
    ['EdDSA', newPair('EdDSA')],
  ])
  const fallback: Pair = { algorithm: 'RS256', ...shared }
  const published = (): Json[] =>
    [...pairs].map(([kid, { algorithm, publicKey }]) =>
      Object.assign(publicKey.export({ format: 'jwk' }), { kid, alg: algorithm, use: 'sig' }),
    )
  const server = createServer((_, res) => {
    issuer.asked += 1
    const { status, body, hangs = false } = issuer.fault ?? { status: 200, body: JSON.stringify({ keys: published() }) }
    issuer.waiting += 1
    res.once('close', () => (issuer.waiting -= 1))
    if (hangs) return
    res.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer: Issuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    asked: 0,
    fault: null,
    waiting: 0,
    get jwks() {
      return { keys: published() }
    },
    sign(payload, header = {}) {
      const { alg, kid, ...more } = { alg: 'RS256', kid: header['alg'] ?? 'RS256', ...header } as { alg: unknown; kid: unknown }
      const input = `${encoded({ alg, typ: 'JWT', ...(kid !== null && { kid }), ...more })}.${encoded({ jti: randomUUID(), ...payload })}`
      return `${input}.${signature(alg, input, pairs.get(String(kid)) ?? pairs.get(String(alg)) ?? fallback)}`
    },
    addKey: (algorithm, kid) => void pairs.set(kid, newPair(algorithm)),
    withdraw: (kid) => void pairs.delete(kid),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return issuer
}
