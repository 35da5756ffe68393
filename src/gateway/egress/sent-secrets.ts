import { isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { isSecretName } from '../../lib/text/secret-names.ts'
import type { SmallRequest } from './egress.ts'

/** A longer body is no sign-in. */
const longestBody = 64 * 1024

/** The fields of sign-ins that serve once, and the signature of a URL. */
const once: ReadonlySet<string> = new Set(['code', 'code_verifier', 'assertion', 'client_assertion', 'jwt', 'saml', 'sig'])

const isSecret = (name: string): boolean => once.has(name) || isSecretName(name)

/** Returns the secrets that a small request carries: in headers, in the query and in the body, by the names of their fields. */
export function sentSecrets({ url, headers, body = '' }: SmallRequest, path: string): readonly string[] {
  return [
    ...Object.entries(headers).flatMap(([name, value]) => (isSecret(name) ? inHeader(value) : [])),
    ...inForm(URL.parse(url)?.search ?? ''),
    ...inForm(path.includes('?') ? path.slice(path.indexOf('?')) : ''),
    ...(body.length > longestBody ? [] : inBody(body)),
  ]
}

/** The value, and the part of it behind the scheme; of Basic also the password. */
function inHeader(value: string): readonly string[] {
  const [, scheme = '', credential = value] = /^(\S+)\s+(\S+)$/.exec(value) ?? []
  if (scheme.toLowerCase() !== 'basic') return [value, credential]
  const plain = Buffer.from(credential, 'base64').toString()
  const password = plain.slice(plain.indexOf(':') + 1)
  return [credential, password, unescaped(password)]
}

/** A password is form-encoded before it becomes a part of Basic (RFC 6749, section 2.3.1). */
const unescaped = (text: string): string => new URLSearchParams(`a=${text}`).get('a') ?? text

const inForm = (text: string): readonly string[] =>
  [...new URLSearchParams(text)].flatMap(([name, value]) => (isSecret(name) ? [value] : []))

function inBody(body: string): readonly string[] {
  if (!/^\s*[[{]/.test(body)) return body.includes('=') ? inForm(body) : []
  return inDocument(jsonOrUndefined(body), false)
}

function inDocument(value: unknown, secret: boolean): readonly string[] {
  if (typeof value === 'string') return secret ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => inDocument(item, secret))
  return isFields(value) ? Object.entries(value).flatMap(([name, child]) => inDocument(child, secret || isSecret(name))) : []
}
