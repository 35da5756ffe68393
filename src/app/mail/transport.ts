import type { Transporter } from 'nodemailer'
import type { MailConfig } from '../../config/config.ts'

const transports = new WeakMap<MailConfig, Promise<Transporter>>()

/** The way to the mail server; the library is loaded with the first mail. */
export function transportTo(config: MailConfig): Promise<Transporter> {
  const known = transports.get(config)
  if (known !== undefined) return known
  const opened = open(config)
  transports.set(config, opened)
  return opened
}

async function open({ host, port, tls, user, password }: MailConfig): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port,
    secure: tls === 'TLS',
    requireTLS: tls === 'STARTTLS',
    ignoreTLS: tls === 'NONE',
    ...(user !== null && { auth: { user, pass: password?.reveal() ?? '' } }),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    // A template names no file and no address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
