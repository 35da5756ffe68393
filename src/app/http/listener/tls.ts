import { X509Certificate } from 'node:crypto'
import type { Logger } from 'pino'
import type { TlsConfig } from '../../../config/config.ts'
import { belongTogether, certificates, isPath, privateKey } from '../../../config/pem.ts'
import type { TlsOptions, TlsServer } from './tls-server.ts'

/** The certificate of the port as it is in use. */
export interface LiveTls {
  /** For the server that is to be made. */
  readonly options: TlsOptions
  /** When the first of its chain ends. */
  certificateEnds(): Date
  certificateBegins(): Date
  /** Why the files that are there now are not in use; null: they are. */
  fault(): string | null
  /** Looks for other files from now on, and lets the server use them for new connections. */
  follow(server: TlsServer): void
  stop(): void
}

interface Material {
  readonly cert: string
  readonly key: string
  readonly ca: string | null
  readonly begins: Date
  readonly ends: Date
}

/** Files are looked at by their content: a mounted Kubernetes secret changes by a link two folders above. */
const lookEveryMs = 2_000

/** Forward secrecy and authenticated encryption only, which every client of the last ten years can. */
const settled: TlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  ALPNProtocols: ['http/1.1'],
  handshakeTimeout: 15_000,
}

/** Reads the certificate of the port; throws when it cannot be used. */
export function openTls(config: TlsConfig, log: Logger): LiveTls {
  let current = read(config)
  let fault: string | null = null
  let timer: NodeJS.Timeout | undefined
  const fail = (message: string) => {
    if (message !== fault) log.error({ fault: message }, 'the new certificate of the port cannot be used; the one before serves on')
    fault = message
  }
  const look = (server: TlsServer) => {
    try {
      const next = read(config)
      fault = null
      if (isSame(next, current)) return
      server.setSecureContext(contextOf(next))
      current = next
      log.info({ ends: next.ends }, 'the certificate of the port was read again')
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error))
    }
  }
  return {
    options: contextOf(current),
    certificateBegins: () => current.begins,
    certificateEnds: () => current.ends,
    fault: () => fault,
    follow(server) {
      if (![config.cert, config.key.reveal(), config.ca ?? ''].some((source) => source !== '' && isPath(source))) return
      timer = setInterval(() => look(server), lookEveryMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}

const contextOf = ({ cert, key, ca }: Material): TlsOptions => ({
  ...settled,
  cert,
  key,
  ...(ca !== null && { ca, requestCert: true, rejectUnauthorized: true }),
})

const isSame = (one: Material, other: Material): boolean => one.cert === other.cert && one.key === other.key && one.ca === other.ca

/** Throws an Error that names the setting. */
function read({ cert, key, ca }: TlsConfig): Material {
  const chain = part('TLS_CERT', () => certificates.parse(cert))
  const secret = part('TLS_KEY', () => privateKey.parse(key.reveal()))
  if (!belongTogether(chain, secret)) throw new Error('TLS_KEY is not the key of TLS_CERT')
  return {
    cert: chain,
    key: secret.reveal(),
    ca: ca === null ? null : part('TLS_CA', () => certificates.parse(ca)),
    ...validityOf(chain),
  }
}

/** From when until when all certificates of a chain are valid. */
export function validityOf(chain: string): { readonly begins: Date; readonly ends: Date } {
  const blocks = chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  const all = blocks.map((block) => new X509Certificate(block))
  return {
    begins: new Date(Math.max(...all.map(({ validFrom }) => Date.parse(validFrom)))),
    ends: new Date(Math.min(...all.map(({ validTo }) => Date.parse(validTo)))),
  }
}

function part<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new Error(`${name} ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
