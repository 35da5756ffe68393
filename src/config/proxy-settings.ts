import { Secret } from '../lib/secret.ts'
import { choice, fault, quoted, type Kind } from './kinds.ts'
import { trustedHost } from './network.ts'
import { optional, setting } from './setting.ts'

const noSuch =
  'is not the URL of an HTTP proxy: write http://host:port, or http://user:password@host:port with signs such as @ encoded as %40'

/** The URL of a forward proxy. Faults do not quote it, because it may hold a password. */
const forwardProxy: Kind<Secret> = {
  name: 'URL',
  parse: (input) => {
    const text = input.trim()
    // As for curl, a proxy without a scheme is one that is asked in plain HTTP.
    const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
    if (url === null || url.hostname === '') return fault(noSuch)
    if (!/^https?:$/.test(url.protocol)) fault(`names a proxy of the kind ${url.protocol}// , and only http:// and https:// are spoken`)
    if (url.pathname.length > 1 || url.search !== '' || url.hash !== '') fault('holds a path, a query or a fragment')
    const [user, password] = [decoded(url.username), decoded(url.password)]
    if (user === null || password === null) return fault('holds a user name or a password with a % that begins no code: write % as %25')
    if (user.includes(':')) fault('holds a user name with a colon, which the credentials of a proxy cannot carry')
    return new Secret(url.href)
  },
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

const noProxyItem: Kind<string> = {
  name: 'hosts, `.suffix`, addresses, CIDRs, each with or without `:port`, or `*`',
  parse: (input) => {
    if (input === '*') return input
    try {
      return trustedHost.parse(input.replace(/^\./, ''))
    } catch {
      return fault(`${quoted(input)} is not a host name, a .suffix, an address or a CIDR, with or without a :port, or *`)
    }
  },
}

/** As other programs read it: commas or blanks between the items. */
const noProxy: Kind<readonly string[]> = {
  name: `list of ${noProxyItem.name}`,
  schema: { type: 'array', items: { type: 'string' } },
  parse: (input) => [...new Set(input.split(/[\s,]+/).flatMap((item) => (item === '' ? [] : [noProxyItem.parse(item)])))],
}

/** The forward proxies. Their names are those that most programs use. */
export const proxySettings = {
  HTTPS_PROXY: optional(forwardProxy, {
    desc: 'The forward proxy for calls to `https://` URLs, with the credentials that it asks for. Also read from `https_proxy`. Without it Gatehouse connects directly. It holds for providers, webhooks, identity providers, secret managers, log stores, traces and registries, not for the database, mail and metadata services.',
    example: 'http://user:password@proxy.example.com:3128',
    secret: true,
  }),
  HTTP_PROXY: optional(forwardProxy, {
    desc: 'The forward proxy for calls to `http://` URLs. Also read from `http_proxy`.',
    example: 'http://proxy.example.com:3128',
    secret: true,
  }),
  NO_PROXY: setting(noProxy, '', {
    desc: 'The hosts that Gatehouse connects to without a proxy: names with all names below them, `.suffix`, addresses or CIDRs, with or without a port, or `*` for all. Also read from `no_proxy`.',
    example: 'localhost, .svc.cluster.local, 10.0.0.0/8, ollama.internal:11434',
  }),
  PROXY_NAMES: setting(choice(['checked', 'pinned', 'unchecked'] as const), 'checked', {
    desc: 'The check of names of hosts that are reached by a proxy. `checked`: Gatehouse resolves a name, refuses private addresses, and gives the proxy the name. `pinned`: it gives the proxy the address that it checked. `unchecked`: only the proxy can resolve names, and has to refuse private addresses itself.',
    example: 'unchecked',
  }),
}

/** The names that other programs use for these settings too; the upper-case name goes first. */
export const otherNames: Readonly<Record<string, string>> = { HTTPS_PROXY: 'https_proxy', HTTP_PROXY: 'http_proxy', NO_PROXY: 'no_proxy' }
