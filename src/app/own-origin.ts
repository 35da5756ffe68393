import type { Config } from '../config/config.ts'

/** Returns the address by which people reach this installation: the configured one, else the one that it listens on. */
export const ownOrigin = ({ publicUrl, host, port, tls }: Pick<Config, 'publicUrl' | 'host' | 'port' | 'tls'>): string =>
  publicUrl ?? `${tls === null ? 'http' : 'https'}://${reachable(host)}:${port}`

/** An address that a client on this machine can use for one that means all interfaces. */
export function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
