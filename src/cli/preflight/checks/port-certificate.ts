import { X509Certificate } from 'node:crypto'
import { validityOf } from '../../../app/http/listener/tls.ts'
import { certificates } from '../../../config/pem.ts'
import { fail, ok, warn, type Check, type Verdict } from '../check.ts'

const warnDays = 21
const dayMs = 86_400_000
const renew = 'Put a valid certificate and its key where TLS_CERT and TLS_KEY point; a running process reads them again by itself.'

/** The certificate that callers see. */
export const portCertificateCheck: Check = {
  id: 'port-certificate',
  about:
    'The certificate of the port (`TLS_CERT`) is valid now and for a while, and made for the host of `PUBLIC_URL`. That `TLS_KEY` is its key is part of `settings`.',
  remedy: 'Renew the certificate. A running process reads changed files again within seconds, without a restart.',
  quick: true,
  run(stage) {
    const { tls, publicUrl } = stage.settings()
    if (tls === null) return ok('the port speaks plain HTTP; put a proxy with TLS in front, or set TLS_CERT and TLS_KEY')
    return judgeCertificate(certificates.parse(tls.cert), publicUrl, Date.now())
  },
}

/** The verdict on a chain, leaf first. */
export function judgeCertificate(chain: string, publicUrl: string | null, now: number): Verdict {
  const { begins, ends } = validityOf(chain)
  if (begins.getTime() > now) return fail(`the certificate of the port is valid from ${begins.toISOString()} on, not yet`, renew)
  if (ends.getTime() < now) return fail(`the certificate of the port ended on ${day(ends)}`, renew)
  const host = publicUrl === null ? null : new URL(publicUrl).hostname
  if (host !== null && !isFor(new X509Certificate(chain), host))
    return warn(`the certificate of the port is not for ${host}, the host of PUBLIC_URL`, 'Get a certificate that names this host.')
  if (ends.getTime() - now < warnDays * dayMs) return warn(`the certificate of the port ends on ${day(ends)}`, renew)
  return ok(`the certificate of the port is valid until ${day(ends)}`)
}

/** Returns true if a certificate names this host, or this address. */
function isFor(certificate: X509Certificate, host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return (/^[\d.]+$|:/.test(bare) ? certificate.checkIP(bare) : certificate.checkHost(bare)) !== undefined
}

const day = (date: Date): string => date.toISOString().slice(0, 10)
