import ipaddr from 'ipaddr.js'
import { fault, formed, quoted, type Kind } from './kinds.ts'
import { withoutEnd } from '../lib/text/without-end.ts'

const hostname = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i

// A name whose last label is a number is a misspelt address, such as 10.0.0.256.
const isHostname = (input: string) => hostname.test(input) && !/(^|\.)\d+\.?$/.test(input)
const isAddress = (input: string) => ipaddr.IPv6.isValid(input) || ipaddr.IPv4.isValidFourPartDecimal(input)
const isNetwork = (input: string) => ipaddr.isValidCIDR(input) && isAddress(input.slice(0, input.indexOf('/')))
const withoutBrackets = (input: string) => input.replace(/^\[(.*)\]$/, '$1')

/** A host name or an address, without port. */
export const host: Kind<string> = {
  name: 'host',
  schema: formed(String.raw`\[?[\w.:-]+\]?`),
  parse: (input) => {
    const bare = withoutBrackets(input)
    return isAddress(bare) || isHostname(bare) ? bare : fault(`${quoted(input)} is not a host name or an address (without scheme and port)`)
  },
}

/** The address of PostgreSQL: a host, or the folder of its unix socket. */
export const databaseHost: Kind<string> = { name: 'host', parse: (input) => (input.startsWith('/') ? input : host.parse(input)) }

/** An entry of the hosts that the egress guard trusts: a host, `*.suffix`, an address or a CIDR, each for all ports or for one. */
export const trustedHost: Kind<string> = {
  name: 'hosts, `*.suffix`, addresses, CIDRs, each with or without `:port`',
  parse: (input) => {
    const entry = input.toLowerCase()
    if (isTrustable(withoutBrackets(entry))) return withoutBrackets(entry)
    const [, trusted = '', port = ''] = /^(\[.+\](?:\/\d+)?|[^:]+):(\d{1,5})$/.exec(entry) ?? []
    if (isTrustable(withoutBrackets(trusted)) && Number(port) > 0 && Number(port) < 65_536) return entry
    return fault(`${quoted(input)} is not a host name, a *.suffix, an address or a CIDR, with or without a :port`)
  },
}

/** An entry of the allowed hosts: the same, or the word for every stored host. */
export const allowedHost: Kind<string> = {
  name: '`stored`, hosts, `*.suffix`, addresses, CIDRs, each with or without `:port`',
  parse: (input) => (input.toLowerCase() === 'stored' ? 'stored' : trustedHost.parse(input)),
}

const isTrustable = (text: string) =>
  isAddress(text) || isNetwork(text) || isHostname(text) || (text.startsWith('*.') && isHostname(text.slice(2)))

/** A proxy, by address or CIDR. */
export const proxyAddress: Kind<string> = {
  name: 'addresses, CIDRs',
  schema: formed(String.raw`\[?[\da-fA-F:.]+\]?(/\d{1,3})?`),
  parse: (input) => {
    const bare = withoutBrackets(input)
    return isAddress(bare) || isNetwork(bare) ? bare : fault(`${quoted(input)} is not an address or a CIDR`)
  },
}

/** The address that callers use, without a slash at its end. */
export const publicUrl: Kind<string> = {
  name: 'URL',
  schema: formed(String.raw`https?://[^\s@?#]+`),
  parse: (input) => {
    const url = URL.parse(input)
    if (!url || !/^https?:$/.test(url.protocol)) return fault('is not an absolute http or https URL')
    if (url.username || url.password) fault('holds a user name or a password')
    if (url.search || url.hash) fault('holds a query or a fragment')
    return withoutEnd(url.href, '/')
  },
}

const taken = new Set(['service', 'forwarded', 'request', 'real', 'api', 'amz', 'goog', 'ms', 'stainless'])

/** The middle of an extra header prefix: `portkey` stands for `x-portkey-`. */
export const headerAlias: Kind<string> = {
  name: 'words',
  parse: (input) => {
    const word = input.toLowerCase()
    if (!/^[a-z][a-z0-9]{0,31}$/.test(word))
      fault(`${quoted(input)} is not a word of letters and digits (give "portkey", not "x-portkey-")`)
    return taken.has(word) ? fault(`${quoted(input)} is taken: headers x-${word}-* have a meaning of their own`) : word
  },
}

/** A web page's origin as browsers send it, or `*`. */
export const webOrigin: Kind<string> = {
  name: 'origins, `*`',
  schema: formed(String.raw`\*|https?://[^\s/@?#]+/?`),
  parse: (input) => {
    if (input === '*') return input
    const url = URL.parse(input)
    if (url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) return url.origin
    return fault(`${quoted(input)} is not an origin: give https://host or https://host:port, without a path`)
  },
}

/** The address of a metadata service: plain HTTP to a link-local or loopback address, and no name that an attacker could make resolve elsewhere. */
export const metadataAddress: Kind<string> = {
  name: 'link-local or loopback URL',
  schema: formed(String.raw`(http://)?[\w.:\[\]-]+(/[^\s?#]*)?`),
  parse: (input) => {
    const url = URL.parse(input.includes('://') ? input : `http://${input}`)
    if (url === null || url.protocol !== 'http:' || url.username !== '' || url.password !== '' || url.hash !== '')
      return fault('is not an http URL of an address')
    // Google's and Amazon's own variables name it so.
    if (url.hostname === 'metadata.google.internal') url.hostname = '169.254.169.254'
    if (url.hostname === 'localhost') url.hostname = '127.0.0.1'
    const bare = withoutBrackets(url.hostname)
    if (!isAddress(bare) || !isLocal(ipaddr.process(bare))) return fault('is no link-local or loopback address')
    return withoutEnd(url.href, '/')
  },
}

/** EKS and EC2 have unique local addresses for IPv6. */
const isLocal = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  ['linkLocal', 'loopback'].includes(address.range()) ||
  (address instanceof ipaddr.IPv6 && address.match(ipaddr.IPv6.parseCIDR('fd00:ec2::/32')))
