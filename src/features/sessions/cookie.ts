import { ownOrigin } from '../../app/own-origin.ts'
import type { Deps } from '../../app/deps.ts'

type CookieDeps = Pick<Deps, 'config'>

const isSecure = ({ config }: CookieDeps): boolean => ownOrigin(config).startsWith('https:')

const sessionName = 'gatehouse'

/** Returns the whole name of a cookie of ours. `__Host-`: browsers take it from this very host only, over TLS, so that no sibling domain can set it. */
export const cookieOf = (where: CookieDeps, name: string): string => (isSecure(where) ? `__Host-${name}` : name)

interface Cookie {
  readonly name: string
  readonly value: string
  /** How long the browser keeps it; 0: it forgets it. */
  readonly seconds: number
  /** `Lax`: a link or redirect of another site brings it along. `None`: a form of another site does too, over TLS only. */
  readonly sameSite?: 'Strict' | 'Lax' | 'None'
}

/** Returns a `Set-Cookie` that no page can read and, by default, no other site can send along. */
export const cookieText = (where: CookieDeps, { name, value, seconds, sameSite = 'Strict' }: Cookie): string =>
  [
    `${cookieOf(where, name)}=${value}`,
    'Path=/',
    `Max-Age=${Math.max(0, Math.floor(seconds))}`,
    'HttpOnly',
    // Browsers take no `None` without `Secure`.
    `SameSite=${sameSite === 'None' && !isSecure(where) ? 'Lax' : sameSite}`,
    ...(isSecure(where) ? ['Secure'] : []),
  ].join('; ')

/** Returns the `Set-Cookie` that gives a browser the secret of its session. `seconds`: how long the browser keeps it. */
export const sessionCookie = (where: CookieDeps, secret: string, seconds: number): string =>
  cookieText(where, { name: sessionName, value: secret, seconds })

/** Returns the `Set-Cookie` by which a browser forgets its session. */
export const endedCookie = (where: CookieDeps): string => sessionCookie(where, '', 0)

/** Returns the secret of the session in a `Cookie` header; null: there is none. */
export const secretOf = (where: CookieDeps, header: string | undefined): string | null => uniqueCookie(header, cookieOf(where, sessionName))

/**
 * Returns the value of a cookie; null: there is none. If two have one name, one was set by another party, such as a sibling domain, and they cannot
 * be distinguished: then neither counts.
 */
export function uniqueCookie(header: string | undefined, name: string): string | null {
  const found = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
  const [only] = found
  return only === undefined || found.length > 1 ? null : only.slice(name.length + 1)
}
