import { createPrivateKey, generateKeyPair, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** The key by which Gatehouse signs requests and reads encrypted assertions, with its certificate. Both PEM. */
export interface KeyPair {
  readonly privateKey: string
  readonly certificate: string
}

/** Identity providers take the key out of the certificate and trust it because an admin gave it to them: its signature is never checked. */
const years = 10

/** Makes a key pair with a certificate that the key signs itself. */
export async function makeKeyPair(nowMs: number): Promise<KeyPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 3072 })
  const certificate = selfSigned(privateKey, publicKey, nowMs)
  return { privateKey: String(privateKey.export({ format: 'pem', type: 'pkcs8' })), certificate }
}

/** Returns true if an RSA key is the one of a certificate. */
export function isPair({ privateKey, certificate }: KeyPair): boolean {
  try {
    const key = createPrivateKey(privateKey)
    return key.asymmetricKeyType === 'rsa' && new X509Certificate(certificate).checkPrivateKey(key)
  } catch {
    return false
  }
}

/** Returns a certificate of X.509 in PEM (RFC 5280, version 1: it needs no extensions). */
function selfSigned(privateKey: KeyObject, publicKey: KeyObject, nowMs: number): string {
  const begin = new Date(nowMs - 3_600_000)
  const end = new Date(nowMs)
  end.setUTCFullYear(end.getUTCFullYear() + years)
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b), tagged(0x05))
  const name = sequence(tagged(0x31, sequence(oid(0x55, 0x04, 0x03), tagged(0x0c, Buffer.from('Gatehouse')))))
  // The first bit is off, so that the number is positive; the second is on, so that it has no leading zeros.
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const body = sequence(
    tagged(0x02, serial),
    algorithm,
    name,
    sequence(time(begin), time(end)),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
  )
  const signature = sign('sha256', body, privateKey)
  const der = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])))
  return new X509Certificate(der).toString()
}

/** Returns one value of DER. */
function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts)
const oid = (...bytes: readonly number[]): Buffer => tagged(0x06, Buffer.from(bytes))

/** Years below 2050 have two digits (RFC 5280, 4.1.2.5). */
function time(date: Date): Buffer {
  const text = `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
  return date.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(text.slice(2))) : tagged(0x18, Buffer.from(text))
}
