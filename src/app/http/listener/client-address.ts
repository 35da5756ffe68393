import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * Finds a client's address: the peer's own, or, when the peer is one of `trustedProxies` (addresses and CIDRs), the last address in `x-forwarded-for`
 * that is not. A client's own claim is never believed.
 */
export function clientAddressOf(trustedProxies: readonly string[]): (req: IncomingMessage) => string {
  const isTrusted = trusts(trustedProxies)
  return (req) => {
    const peer = peerOf(req)
    if (!isTrusted(peer)) return peer
    const claimed = forwarded(req)
    return claimed.findLast((address) => !isTrusted(address)) ?? claimed[0] ?? peer
  }
}

/** The headers in which proxies at the edge of a network state a client's country. */
const countryHeaders = ['cf-ipcountry', 'cloudfront-viewer-country', 'x-appengine-country', 'x-vercel-ip-country', 'x-country-code']

/** Finds a client's country: from a trusted proxy in front only. */
export function clientCountryOf(trustedProxies: readonly string[]): (req: IncomingMessage) => string | null {
  const isTrusted = trusts(trustedProxies)
  return (req) => {
    if (!isTrusted(peerOf(req))) return null
    const told = countryHeaders.map((name) => req.headers[name]).find((value) => typeof value === 'string' && /^[A-Za-z]{2}$/.test(value))
    return typeof told === 'string' ? told.toUpperCase() : null
  }
}

/** Checks whether a request comes from one of these proxies. */
export function trustedPeer(trustedProxies: readonly string[]): (req: IncomingMessage) => boolean {
  const isTrusted = trusts(trustedProxies)
  return (req) => isTrusted(peerOf(req))
}

function trusts(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = trustedProxies.map(toRange)
  return (address) => trusted.some((range) => contains(range, address))
}

const peerOf = (req: IncomingMessage) => plain(req.socket.remoteAddress ?? '')

function toRange(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function contains([network, bits]: Range, text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return address.kind() === network.kind() && address.match(network, bits)
}

/** The valid addresses of the header, nearest last; an invalid entry ends the chain, since entries before it cannot be trusted. */
function forwarded(req: IncomingMessage): readonly string[] {
  const header = req.headers['x-forwarded-for']
  const list = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((part) => plain(bare(part.trim())))
  return list.slice(list.findLastIndex((part) => !ipaddr.isValid(part)) + 1)
}

/**
 * Returns the address in the forms that proxies write: with the port of the client (`203.0.113.9:4711` of Azure and AWS, `[2001:db8::7]:443`), in
 * brackets or quotes, or with the zone of an interface.
 */
function bare(part: string): string {
  const [, text = part] = /^"(.*)"$/.exec(part) ?? []
  const [, bracketed] = /^\[([^[\]]*)\](?::\d{1,5})?$/.exec(text) ?? []
  const [, withoutPort] = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text) ?? []
  return (bracketed ?? withoutPort ?? text).replace(/%[\w.-]+$/, '')
}

/** `::ffff:10.0.0.1` is `10.0.0.1`. */
const plain = (address: string) => (/^::ffff:\d+\./i.test(address) ? address.slice(7) : address)

/** The address itself; of IPv6 the network of 64 bits, which one customer has for himself. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4)
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`
}
