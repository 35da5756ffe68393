import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { DistributionFault } from './fault.ts'
import { keyFile, signatureFile, sumsFile } from './sums.ts'

/** The trusted signer: a key, or the key that has this fingerprint. */
export type Trust = { readonly key: KeyObject } | { readonly fingerprint: string }

/** Reads a private key for signing: ECDSA P-256 as PEM, encrypted or not. Throws DistributionFault `key_unusable`. */
export const readPrivateKey = (pem: string, passphrase?: string): KeyObject =>
  readKey('private', () => {
    checkPem(pem)
    if (pem.includes('PUBLIC KEY') && !pem.includes('PRIVATE KEY')) throw new Error('this is a public key')
    const encrypted = pem.includes('ENCRYPTED')
    if (encrypted && passphrase === undefined) throw new Error('it is encrypted, and nothing says with what: give --passphrase-file')
    try {
      return createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) })
    } catch (error) {
      throw encrypted ? new Error('the passphrase does not open it', { cause: error }) : error
    }
  })

/** Reads a public key: ECDSA P-256 as PEM. Throws DistributionFault `key_unusable`. */
export const readPublicKey = (pem: string): KeyObject =>
  readKey('public', () => {
    checkPem(pem)
    if (pem.includes('PRIVATE KEY')) throw new Error('this is a private key')
    return createPublicKey(pem)
  })

/** Explains in words a fault that OpenSSL reports as a number. */
function checkPem(pem: string): void {
  if (!pem.includes('-----BEGIN ')) throw new Error('it has no line "-----BEGIN"')
}

function readKey(kind: string, read: () => KeyObject): KeyObject {
  try {
    const key = read()
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
    throw new Error(`it is of the kind ${key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType}`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DistributionFault('key_unusable', `the ${kind} key is not a PEM of an ECDSA P-256 key: ${reason}`)
  }
}

/** The public key, as it is given to others. */
export const publicPem = (key: KeyObject): string => spki(key).export({ type: 'spki', format: 'pem' }).toString()

/** `sha256:` and the hash of the public key's DER form, by which people compare keys. */
export const keyFingerprint = (key: KeyObject): string =>
  `sha256:${createHash('sha256')
    .update(spki(key).export({ type: 'spki', format: 'der' }))
    .digest('hex')}`

const spki = (key: KeyObject) => (key.type === 'private' ? createPublicKey(key) : key)

/** The signature of a text, as base64 of DER. */
export const signText = (text: string, key: KeyObject): string => sign('sha256', Buffer.from(text), key).toString('base64')

/** The signed list, and its signature. */
export interface SignedSums {
  /** The text of SHA256SUMS. */
  readonly sums: string
  /** Null: there is none. */
  readonly signature: string | null
  /** The public key that lies beside it, which proves nothing by itself. */
  readonly key: string | null
}

/** Checks the signature of a list and gives the key that made it. Throws DistributionFault. */
export function verifySums({ sums, signature, key }: SignedSums, trust: Trust): KeyObject {
  if (signature === null) throw new DistributionFault('signature_missing', `there is no ${signatureFile}: nobody signed this`)
  const trusted = 'key' in trust ? trust.key : keyWithFingerprint(key, trust.fingerprint)
  if (verify('sha256', Buffer.from(sums), trusted, Buffer.from(signature.trim(), 'base64'))) return trusted
  throw new DistributionFault('signature_wrong', `${signatureFile} is not a signature of ${sumsFile} by the key ${keyFingerprint(trusted)}`)
}

function keyWithFingerprint(pem: string | null, fingerprint: string): KeyObject {
  if (pem === null) throw new DistributionFault('file_missing', `there is no ${keyFile}: name the public key itself`)
  const key = readPublicKey(pem)
  if (keyFingerprint(key) === fingerprint.toLowerCase()) return key
  throw new DistributionFault('signature_wrong', `the key in ${keyFile} has the fingerprint ${keyFingerprint(key)}, not the expected one`)
}
