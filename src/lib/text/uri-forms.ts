/** An address in a form in which it is compared with others. */
export interface UriForm {
  /** Without query, fragment and slashes at its end. */
  readonly base: string
  /** True: a slash was at its end, and a last value of a template may be empty. */
  readonly isFolder: boolean
  /** The parts of its query, and of its path behind semicolons: their order, and empty ones, make no difference. */
  readonly params: readonly string[]
}

/** Longer than the name of a host may be: a text of such a length is none. */
const longestAuthority = 300
/** Schemes whose addresses name a host behind any number of slashes. */
const hosted = new Set(['http', 'https', 'ws', 'wss', 'ftp'])
/** One that stands for the other: servers send a reader on. */
const sameScheme: Readonly<Record<string, string>> = { https: 'http', wss: 'ws' }

/**
 * Returns the forms of an address in small letters: with its host as it stands there, and as pages have it (without user, usual port and dot at its end,
 * and in ASCII). Each without the differences that a reader may overlook: fragments, runs of slashes, dots at the end of segments, `+` for blanks, and
 * `http` for `https`.
 */
export function uriForms(address: string): readonly UriForm[] {
  const [all = ''] = address.split('#', 1)
  const { scheme, authority, rest } = partsOf(all)
  const [path = '', ...queries] = rest.replaceAll('+', ' ').split('?')
  const inPath: string[] = []
  const segments = segmentsOf(path, inPath)
  const params = [...new Set(queries.join('?').split('&').concat(inPath))].filter((param) => param !== '').toSorted()
  const isFolder = /[/\\] *$/.test(path.slice(-8))
  const named = sameScheme[scheme] ?? scheme
  const before = named === '' ? '' : `${named}:`
  if (authority === null) return [{ base: `${before}${segments.join('/')}`, isFolder, params }]
  return [...new Set([withoutUser(authority), hostOf(authority)])].map((host) => ({
    base: [`${before}${named === 'file' && host === '' ? '' : `//${host}`}`, ...segments].join('/'),
    isFolder,
    params,
  }))
}

interface AddressParts {
  /** Empty: none. */
  readonly scheme: string
  /** Null: it names no host. */
  readonly authority: string | null
  readonly rest: string
}

/** Returns the parts of an address. A path alone is one of a file, and one that begins with two slashes is one of a page. */
function partsOf(address: string): AddressParts {
  const scheme = /^[a-z][\w+.-]*(?=:)/.exec(address)?.[0] ?? ''
  const after = scheme === '' ? address : address.slice(scheme.length + 1)
  const rest = after.replace(/^[/\\]+/, '')
  const slashes = after.length - rest.length
  if (scheme === 'file' ? slashes !== 2 : scheme === '' && slashes === 1) return { scheme: 'file', authority: '', rest }
  if (slashes < 2 && !hosted.has(scheme)) return { scheme, authority: null, rest }
  const end = rest.search(/[/\\?]/)
  const authority = end === -1 ? rest : rest.slice(0, end)
  return { scheme: scheme === '' ? 'http' : scheme, authority, rest: rest.slice(authority.length) }
}

const withoutUser = (authority: string): string => authority.slice(authority.lastIndexOf('@') + 1)

/** Returns the host of an authority as pages have it, with its port where it is not the usual one of pages. */
function hostOf(authority: string): string {
  const own = withoutUser(authority)
  const parsed = own.length > longestAuthority ? null : URL.parse(`http://${own}`)
  if (parsed === null) return own
  const host = inFour(parsed.hostname.replace(/\.$/, ''))
  const isOwn = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(host)
  return `${isOwn ? '' : host}${['', '443'].includes(parsed.port) ? '' : `:${parsed.port}`}`
}

/** Returns an address of IPv4 that is written as one of IPv6 in its own form. */
function inFour(host: string): string {
  const words = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(host)?.slice(1)
  if (words === undefined) return host
  return words.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]).join('.')
}

/** Returns the segments of a path as the loosest readers have them. `params`: takes their parameters. */
function segmentsOf(path: string, params: string[]): readonly string[] {
  const found: string[] = []
  for (const segment of path.split(/[/\\]/)) {
    const [plain = '', ...more] = segment.split(';')
    for (const param of more) if (param !== '') params.push(`;${param}`)
    if (plain === '..') found.pop()
    else if (plain !== '.') found.push(withoutTail(plain.replace(/::\$data$/, '')))
  }
  return found.filter((segment) => segment !== '')
}

/** Systems of files leave out dots and blanks at the end of names. */
function withoutTail(segment: string): string {
  let end = segment.length
  while (end > 0 && (segment[end - 1] === '.' || segment[end - 1] === ' ')) end -= 1
  return segment.slice(0, end)
}
