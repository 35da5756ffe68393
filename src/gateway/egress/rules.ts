import type { Address } from './addresses.ts'
import { kindOf, parseAddress } from './addresses.ts'
import { blockedName, blockedPorts } from './block-lists.ts'
import type { Trust } from './trust.ts'

/** Why the guard refused: a closed set, for metrics and the security log. */
export type BlockReason =
  | 'invalid_url'
  | 'scheme'
  | 'userinfo'
  | 'fragment'
  | 'query'
  | 'port'
  | 'name'
  | 'address'
  | 'metadata_address'
  | 'resolved_address'
  | 'resolved_metadata_address'
  | 'cleartext'
  | 'not_listed'

/** A URL that passed. `address` is null when the host is a name, whose addresses are checked at each connection. */
export interface Target {
  readonly url: URL
  readonly hostname: string
  readonly address: Address | null
  readonly port: number
  readonly secure: boolean
  /** The name itself is trusted: it may resolve to private addresses. */
  readonly trustedName: boolean
}

export interface Refusal {
  readonly reason: BlockReason
  /** The host as far as it could be read, for the log. */
  readonly host: string
  /** Ends a sentence that starts with the field's name. */
  readonly message: string
}

export const maxUrlLength = 2048

/**
 * Checks a URL by its text, without asking the DNS. Plain http goes to private addresses and to trusted hosts; to a public address it would carry
 * credentials and texts in the clear.
 */
export function checkUrl(text: string, trust: Trust): Target | Refusal {
  if (text.length > maxUrlLength) return refuse('invalid_url', '', `must be at most ${maxUrlLength} characters long`)
  // The URL parser drops tabs and newlines and reads a backslash as a slash, where other parsers do not: such a URL is no honest mistake.
  if (suspicious.test(text)) return refuse('invalid_url', '', 'must not contain spaces, control characters or backslashes')
  const url = URL.parse(text)
  if (url === null) return refuse('invalid_url', '', 'must be a URL such as https://api.example.com/v1')
  const hostname = hostnameOf(url)
  const shape = checkShape(url, hostname, text)
  if (shape !== null) return { ...shape, host: hostname }
  return checkHost(url, hostname, trust)
}

/** Checks an address that a name resolved to, or that a socket is connected to; null when it may be used. */
export function checkAddress(text: string, target: Target, trust: Trust): BlockReason | null {
  const address = parseAddress(text)
  if (address === null) return 'resolved_address'
  const verdict = judge(address, target, trust)
  return verdict === null || verdict === 'cleartext' ? verdict : resolvedReasons[verdict]
}

const resolvedReasons = { address: 'resolved_address', metadata_address: 'resolved_metadata_address' } as const

// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const suspicious = /[\u0000-\u0020\u007f\\]/

function refuse(reason: BlockReason, host: string, message: string): Refusal {
  return { reason, host, message }
}

/** The host as the URL parser folded it (decimal, hex, octal, short and full-width forms), without brackets and one trailing dot. */
function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

function checkShape(url: URL, hostname: string, text: string): Refusal | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('scheme', hostname, 'must start with https:// or http://')
  const authority = /^[a-z]+:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined) return refuse('invalid_url', hostname, 'must be a URL such as https://api.example.com/v1')
  if (authority.includes('@')) return refuse('userinfo', hostname, 'must not contain a user name or password')
  if (text.includes('#')) return refuse('fragment', hostname, 'must not contain a fragment (#)')
  if (hostname === '' || hostname.length > 253 || /(^|\.)(\.|$)/.test(hostname)) return refuse('invalid_url', hostname, 'must name a host')
  return null
}

function checkHost(url: URL, hostname: string, trust: Trust): Target | Refusal {
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const address = parseAddress(hostname)
  if (blockedPorts.has(port) && !trust.port(hostname, address, port)) {
    return refuse('port', hostname, `must not use port ${port}, which is known for another service`)
  }
  const trustedName = address === null && trust.name(hostname, port)
  if (address === null) {
    const block = blockedName(hostname)
    if (block === 'always' || (block === 'unless_trusted' && !trustedName))
      return refuse('name', hostname, notAllowed(hostname, block === 'always'))
  } else {
    const verdict = judge(address, { port, secure, trustedName }, trust)
    if (verdict === 'cleartext') return refuse(verdict, hostname, inTheClear(hostname))
    if (verdict !== null) return refuse(verdict, hostname, notAllowed(hostname, verdict === 'metadata_address'))
  }
  return { url, hostname, address, port, secure, trustedName }
}

function notAllowed(hostname: string, always: boolean): string {
  return always
    ? `names ${hostname}, which is never allowed`
    : `names ${hostname}, which is not allowed; an operator can allow it in TRUSTED_CUSTOM_HOSTS`
}

/** Ends a sentence that starts with the field's name. */
export const inTheClear = (hostname: string): string =>
  `names ${hostname}, a public host, with http://: credentials and texts would go there in the clear. Use https://; an operator can allow it in TRUSTED_CUSTOM_HOSTS`

type JudgedTarget = Pick<Target, 'port' | 'secure' | 'trustedName'>

function judge(
  address: Address,
  { port, secure, trustedName }: JudgedTarget,
  trust: Trust,
): 'address' | 'metadata_address' | 'cleartext' | null {
  const kind = kindOf(address)
  if (kind === 'never') return 'metadata_address'
  if (trustedName && (kind === 'public' || kind === 'private')) return null
  if (trust.address(address, port)) return null
  if (kind !== 'public') return 'address'
  return secure ? null : 'cleartext'
}
