import { X509Certificate } from 'node:crypto'

/** Returns the fault of certificates in PEM, as words that follow their name; null: they are good. */
export function faultOfCertificates(pem: string): string | null {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (blocks === null) return 'holds no certificate'
  const broken = blocks.findIndex((block) => !isCertificate(block))
  return broken === -1 ? null : `holds a certificate (number ${broken + 1}) that cannot be read`
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).serialNumber !== ''
  } catch {
    return false
  }
}
