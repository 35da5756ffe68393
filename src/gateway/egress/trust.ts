import type { Address, Network } from './addresses.ts'
import { parseAddress, parseNetwork, within } from './addresses.ts'

/** The hosts and addresses that an operator lets through although the guard would refuse them. */
export interface Trust {
  /** True when the name is trusted, for all ports or for this one. */
  name(hostname: string, port: number): boolean
  /** True when the address is trusted, for all ports or for this one. */
  address(address: Address, port: number): boolean
  /** True when an entry names this port together with the host: it lifts the port block list too. */
  port(hostname: string, address: Address | null, port: number): boolean
}

/** One entry of TRUSTED_CUSTOM_HOSTS; `port` null means every port. */
interface Entry {
  readonly name: string | null
  readonly suffix: string | null
  readonly network: Network | null
  readonly port: number | null
}

/**
 * Reads entries such as `llm.corp`, `*.corp`, `10.1.2.3`, `10.0.0.0/8`, `[fd00::1]:8080`, `localhost:11434`.
 * Throws an Error that names the entry when it is none of these.
 */
export function parseTrustedHosts(texts: readonly string[]): Trust {
  const entries = texts.map((text) => parseEntry(text.trim().toLowerCase().replace(/\.$/, '')))
  const names = entries.filter((entry) => entry.network === null)
  const networks = entries.filter((entry) => entry.network !== null)
  const find = (hostname: string, address: Address | null, fits: (entry: Entry) => boolean) =>
    names.some((entry) => fits(entry) && matchesName(entry, hostname)) ||
    (address !== null && networks.some((entry) => fits(entry) && entry.network !== null && within(address, entry.network)))
  return {
    name: (hostname, port) => names.length > 0 && find(hostname, null, forPort(port)),
    address: (address, port) => networks.length > 0 && find('', address, forPort(port)),
    port: (hostname, address, port) => find(hostname, address, (entry) => entry.port === port),
  }
}

const forPort = (port: number) => (entry: Entry) => entry.port === null || entry.port === port

function matchesName(entry: Entry, hostname: string): boolean {
  return entry.suffix === null ? entry.name === hostname : hostname.endsWith(entry.suffix) && hostname.length > entry.suffix.length
}

function parseEntry(text: string): Entry {
  const bare = unbracket(text)
  const whole = network(bare)
  if (whole !== null) return { name: null, suffix: null, network: whole, port: null }
  const colon = text.lastIndexOf(':')
  const port = colon === -1 ? null : Number(text.slice(colon + 1))
  const host = colon === -1 ? text : text.slice(0, colon)
  if (port !== null && !(Number.isInteger(port) && port > 0 && port < 65_536)) throw badEntry(text)
  const block = network(unbracket(host))
  if (block !== null) return { name: null, suffix: null, network: block, port }
  const suffix = host.startsWith('*.') ? host.slice(1) : null
  if (!namePattern.test(suffix === null ? host : host.slice(2))) throw badEntry(text)
  return { name: host, suffix, network: null, port }
}

const namePattern = /^(?!.*[.]{2})(?![\d.]+$)[a-z0-9_]([a-z0-9_.-]{0,252})$/

function unbracket(text: string): string {
  return text.startsWith('[') ? text.replace(/^\[([^\]]*)\](\/\d+)?$/, '$1$2') : text
}

function network(text: string): Network | null {
  const block = parseNetwork(text)
  if (block !== null) return block
  const address = fullAddress.test(text) ? parseAddress(text) : null
  return address === null ? null : [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** Four decimal parts, or something with two colons: ipaddr.js would also take `8080` for an address. */
const fullAddress = /^(\d+\.\d+\.\d+\.\d+|[\da-f.]*:[\da-f.]*:[\da-f:.]*)$/

function badEntry(text: string): Error {
  return new Error(`"${text}" is not a host, a *.suffix, an address or a CIDR block, with or without a :port (example: *.corp.example)`)
}
