import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = readonly [Address, number]

/**
 * The sort of an address: `public`, `private` (ours to open by naming the host or the address), `special` (openable only by
 * its address) or `never` (instance metadata and link-local, which no setting opens).
 */
export type AddressKind = 'public' | 'private' | 'special' | 'never'

/** An address in its plain form: IPv4 written as IPv4-mapped IPv6 becomes IPv4. Null when it is not an address. */
export function parseAddress(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null
}

/** A CIDR block; null when it is not one. */
export function parseNetwork(text: string): Network | null {
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null
}

/** True when the address lies in the block. */
export function within(address: Address, [base, bits]: Network): boolean {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits)
  return base instanceof ipaddr.IPv6 && address.match(base, bits)
}

/** Classifies an address; one that carries an IPv4 address inside (NAT64, 6to4, Teredo ...) is `never` when that one is. */
export function kindOf(address: Address): AddressKind {
  if (never.some((block) => within(address, block))) return 'never'
  const inner = address instanceof ipaddr.IPv6 ? embeddedAddresses(address) : []
  if (inner.some((candidate) => never.some((block) => within(candidate, block)))) return 'never'
  const range = address.range()
  if (privateRanges.has(range)) return 'private'
  return range === 'unicast' && inner.length === 0 && isGlobal(address) ? 'public' : 'special'
}

/** The addresses where clouds keep instance credentials, and the link-local ranges around them. */
const never = [
  '169.254.0.0/16', // AWS, GCP, Azure, Oracle, ECS and EKS credentials, and all other link-local
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure wire server
  '192.0.0.192/32', // Oracle
  'fd00:ec2::/32', // AWS
  'fd20:ce::254/128', // GCP
  'fd00:c1::a9fe:a9fe/128', // Oracle
  'fd00:42::42/128', // Scaleway
  'fe80::/10', // link-local
].map((block): Network => ipaddr.parseCIDR(block))

const privateRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'carrierGradeNat', 'uniqueLocal'])

/** Only 2000::/3 is routed globally; this leaves out other addresses that `range()` calls unicast, such as IPv4-compatible `::/96`. */
const globalV6: Network = ipaddr.parseCIDR('2000::/3')

function isGlobal(address: Address): boolean {
  return address instanceof ipaddr.IPv4 || within(address, globalV6)
}

/** Each form in which IPv6 carries an IPv4 address: the prefix, and where the four bytes are. */
const carriers: readonly { readonly block: Network; readonly at: number; readonly invert?: true }[] = [
  { block: ipaddr.parseCIDR('::/96'), at: 12 },
  { block: ipaddr.parseCIDR('::ffff:0:0:0/96'), at: 12 },
  { block: ipaddr.parseCIDR('64:ff9b::/96'), at: 12 },
  { block: ipaddr.parseCIDR('64:ff9b:1::/48'), at: 12 },
  { block: ipaddr.parseCIDR('2002::/16'), at: 2 },
  { block: ipaddr.parseCIDR('2001::/32'), at: 4 },
  { block: ipaddr.parseCIDR('2001::/32'), at: 12, invert: true },
]

function embeddedAddresses(address: ipaddr.IPv6): Address[] {
  const bytes = address.toByteArray()
  const found = carriers.filter(({ block }) => within(address, block)).map(({ at, invert }) => fourBytes(bytes, at, invert === true))
  const isatap = bytes[10] === 0x5e && bytes[11] === 0xfe && bytes[9] === 0 && (bytes[8] === 0 || bytes[8] === 2)
  return isatap ? [...found, fourBytes(bytes, 12, false)] : found
}

function fourBytes(bytes: readonly number[], at: number, invert: boolean): Address {
  return ipaddr.fromByteArray(bytes.slice(at, at + 4).map((byte) => (invert ? byte ^ 0xff : byte)))
}
