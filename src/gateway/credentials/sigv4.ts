import { createHmac, hash } from 'node:crypto'

/** AWS credentials; the session token comes with temporary ones. */
export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
}

/** The scope of a signature. `timestamp`: `20150830T123600Z`. */
export interface SigningScope {
  readonly region: string
  readonly service: string
  readonly timestamp: string
}

export interface SignableRequest {
  readonly method: string
  /** Path and query, as they go on the wire. */
  readonly path: string
  /** Every header that the signature covers; `host` and `x-amz-date` among them. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** SHA-256 of the body, hex. */
  readonly payloadHash: string
}

/** The `authorization` header of AWS Signature Version 4 (not for S3, whose paths follow other rules). Pure. */
export function signV4(request: SignableRequest, keys: AwsKeys, scope: SigningScope): string {
  const { signedHeaders, text } = canonicalRequest(request)
  const date = scope.timestamp.slice(0, 8)
  const credentialScope = `${date}/${scope.region}/${scope.service}/aws4_request`
  const stringToSign = `AWS4-HMAC-SHA256\n${scope.timestamp}\n${credentialScope}\n${hash('sha256', text)}`
  const signingKey = [date, scope.region, scope.service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${keys.secretAccessKey}`)
  const signature = hmac(signingKey, stringToSign).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${credentialScope}, SignedHeaders=${signedHeaders}, Signature=${signature}`
}

/** `20150830T123600Z` of epoch milliseconds. */
export function amzTimestamp(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

function canonicalRequest({ method, path, headers, payloadHash }: SignableRequest): { signedHeaders: string; text: string } {
  const mark = path.indexOf('?')
  const [rawPath, rawQuery] = mark === -1 ? [path, ''] : [path.slice(0, mark), path.slice(mark + 1)]
  const { names, lines } = canonicalHeaders(headers)
  const signedHeaders = names.join(';')
  return {
    signedHeaders,
    text: [method, canonicalPath(rawPath), canonicalQuery(rawQuery), ...lines, '', signedHeaders, payloadHash].join('\n'),
  }
}

/** Each segment is encoded once more than it is on the wire; empty and dot segments are resolved. */
function canonicalPath(path: string): string {
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(encode(segment))
  }
  const open = kept.length > 0 && /\/\.{0,2}$/.test(path) ? '/' : ''
  return `/${kept.join('/')}${open}`
}

/** Names and values encoded exactly once, for any wire form, sorted by name and then by value. */
function canonicalQuery(query: string): string {
  if (query === '') return ''
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [reencode(name), reencode(value.join('='))] as const
    })
  return pairs
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function canonicalHeaders(headers: SignableRequest['headers']): { names: readonly string[]; lines: readonly string[] } {
  const values = new Map<string, string>()
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    const text = value.trim().replaceAll(/ {2,}/g, ' ')
    const held = values.get(lower)
    values.set(lower, held === undefined ? text : `${held},${text}`)
  }
  const names = [...values.keys()].toSorted(compare)
  return { names, lines: names.map((name) => `${name}:${values.get(name) ?? ''}`) }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** RFC 3986: all but letters, digits, `-`, `.`, `_` and `~`. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The encoded form of text that is already percent-encoded, byte by byte: without decoding, so no byte is lost. `+` is a space. */
function reencode(text: string): string {
  return text.replaceAll('+', '%20').replaceAll(/%([0-9a-f]{2})|[^%]+|%/gi, (match, hex: string | undefined) => {
    if (hex === undefined) return encode(match)
    const char = String.fromCharCode(Number.parseInt(hex, 16))
    return /[\w.~-]/.test(char) ? char : match.toUpperCase()
  })
}
