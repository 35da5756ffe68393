import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { faultOfCertificates } from '../lib/certificates.ts'
import { Secret } from '../lib/secret.ts'
import { fault, type Kind } from './kinds.ts'

/** One or more certificates, as PEM text or the path of such a file. */
export const certificates: Kind<string> = {
  name: 'PEM or path',
  parse: (input) => {
    const pem = readPem(input)
    const wrong = faultOfCertificates(pem)
    return wrong === null ? pem : fault(wrong)
  },
}

/** A private key without a passphrase, as PEM text or the path of such a file. */
export const privateKey: Kind<Secret> = {
  name: 'secret, PEM or path',
  parse: (input) => {
    const pem = readPem(input)
    try {
      createPrivateKey(pem)
      return new Secret(pem)
    } catch {
      return fault('holds no private key that can be read (it must be PEM, without a passphrase)')
    }
  },
}

/** The same, kept as given, because it is read again later: the file may change. */
export const certificatesSource: Kind<string> = { name: 'PEM or path', parse: (input) => (certificates.parse(input), input) }

/** The same, kept as it was given. */
export const privateKeySource: Kind<Secret> = {
  name: 'secret, PEM or path',
  parse: (input) => (privateKey.parse(input), new Secret(input)),
}

/** Returns true if the source is the path of a file. */
export const isPath = (source: string): boolean => !source.includes('-----BEGIN')

/** Returns true if a private key is the one of the first certificate. */
export const belongTogether = (certificate: string, key: Secret): boolean =>
  new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key.reveal()))

/** Environments that allow one line only write line ends as `\n`; bundles may carry remarks before the first block. */
function readPem(input: string): string {
  const given = input.replaceAll(String.raw`\n`, '\n')
  const pem = given.includes('-----BEGIN') ? given : readFile(input)
  const start = pem.indexOf('-----BEGIN')
  return start === -1 ? fault('is neither PEM text nor a file that holds it') : pem.slice(start)
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return fault('is neither PEM text nor the path of a file that can be read')
  }
}
