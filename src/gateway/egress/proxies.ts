import type { Secret } from '../../lib/secret.ts'
import type { Target } from './rules.ts'
import { parseTrustedHosts } from './trust.ts'

/** The forward proxies of the installation. */
export interface ProxySettings {
  /** For `https://` URLs: `http://user:password@host:port`; null: they are connected to directly. */
  readonly https: Secret | null
  /** For `http://` URLs. */
  readonly http: Secret | null
  /** Hosts that are connected to directly: `*`, names (with all names below them), `*.suffix`, addresses, CIDR blocks; each with or without `:port`. */
  readonly direct: readonly string[]
  /**
   * `checked`: the guard resolves a name and judges its addresses, and the proxy is given the name. `pinned`: the proxy is given the address
   * that was judged. `unchecked`: only the proxy can resolve names, and the guard judges names and literal addresses alone.
   */
  readonly names: 'checked' | 'pinned' | 'unchecked'
}

/** The proxy by which a target is reached. */
export interface Proxy {
  /** The setting that names it, for messages. */
  readonly setting: 'HTTPS_PROXY' | 'HTTP_PROXY'
  readonly hostname: string
  readonly port: number
  /** True: TLS to the proxy itself. */
  readonly secure: boolean
  /** The value of `proxy-authorization`; null: it asks for no credentials. */
  readonly authorization: string | null
  /** The side that resolves the name of this target, see `ProxySettings`. */
  readonly names: ProxySettings['names']
}

/** Finds the way to a target: the proxy to ask; null: directly. */
export type FindProxy = (target: Pick<Target, 'hostname' | 'address' | 'port' | 'secure'>) => Proxy | null

/** Reads the settings once. Without a proxy every target is reached directly. */
export function createFindProxy(settings: ProxySettings | null): FindProxy {
  if (settings === null || (settings.https === null && settings.http === null)) return () => null
  if (settings.direct.includes('*')) return () => null
  const { names } = settings
  const [https, http] = [readProxy('HTTPS_PROXY', settings.https, names), readProxy('HTTP_PROXY', settings.http, names)]
  const direct = parseTrustedHosts(settings.direct.flatMap(withNamesBelow))
  return ({ hostname, address, port, secure }) => {
    const proxy = secure ? https : http
    if (proxy === null) return null
    const isDirect = address === null ? direct.name(hostname, port) : direct.address(address, port)
    return isDirect ? null : proxy
  }
}

/** `example.com` and `.example.com` stand for the host and for every name below it. */
function withNamesBelow(entry: string): readonly string[] {
  if (entry.startsWith('*.')) return [entry]
  const name = entry.replace(/^\./, '')
  return startsAsName.test(name) && !/^[\d.]+(?:[:/]|$)/.test(name) ? [name, `*.${name}`] : [name]
}

/** An IPv6 address has a colon before any other sign but its digits. */
const startsAsName = /^(?![\da-f]*:[\da-f]*:)[^[]/

function readProxy(setting: Proxy['setting'], value: Secret | null, names: ProxySettings['names']): Proxy | null {
  if (value === null) return null
  const url = new URL(value.reveal())
  const secure = url.protocol === 'https:'
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return {
    setting,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    secure,
    authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
    names,
  }
}

/** A failure that the proxy caused, in words that name it by its setting: the words may reach a caller, which must not see its host. */
export class ProxyError extends Error {
  /** Follows the name of the proxy: `refused the connection (403)`. */
  readonly told: string
  readonly setting: Proxy['setting']

  constructor(proxy: Proxy, told: string, cause?: Error) {
    super(`the proxy ${proxy.hostname}:${proxy.port} ${told}`, { cause })
    this.told = told
    this.setting = proxy.setting
  }
}

/** The failure that a proxy's answer to CONNECT means, or to a request whose answer is its own. */
export function refusalOf(proxy: Proxy, status: number): ProxyError {
  const [, told = 'did not open a connection to the provider'] = statusWords.find(([known]) => known === status) ?? []
  return new ProxyError(proxy, `${told} (${status})`)
}

const statusWords: readonly (readonly [status: number, told: string])[] = [
  [407, 'asks for other credentials: they belong into its URL, as http://user:password@host:port'],
  [403, 'does not allow connections to the provider'],
  [405, 'does not allow the method CONNECT'],
  [502, 'could not reach the provider'],
  [503, 'could not reach the provider'],
  [504, 'could not reach the provider in time'],
]
