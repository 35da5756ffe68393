import { ownOrigin } from '../../app/own-origin.ts'
import type { Deps } from '../../app/deps.ts'

type Where = Pick<Deps, 'config'>

const isSecure = ({ config }: Where): boolean => ownOrigin(config).startsWith('https:')

/** `__Host-`: browsers take it from this very host only, over TLS, so that no sibling domain can set or shadow it. */
const cookieName = (where: Where): string => (isSecure(where) ? '__Host-gatehouse' : 'gatehouse')

/** Returns the `Set-Cookie` that gives a browser the secret of its session. `seconds`: how long the browser keeps it. */
export const sessionCookie = (where: Where, secret: string, seconds: number): string =>
  [
    `${cookieName(where)}=${secret}`,
    'Path=/',
    `Max-Age=${Math.max(0, Math.floor(seconds))}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure(where) ? ['Secure'] : []),
  ].join('; ')

/** Returns the `Set-Cookie` by which a browser forgets its session. */
export const endedCookie = (where: Where): string => sessionCookie(where, '', 0)

/**
 * Returns the secret in a `Cookie` header; null: there is none. Of two with our name one was set by somebody else, such as a sibling
 * domain, and nobody can tell which: then neither counts.
 */
export function secretOf(where: Where, header: string | undefined): string | null {
  const name = `${cookieName(where)}=`
  const found = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
  const [only] = found
  return only === undefined || found.length > 1 ? null : only.slice(name.length)
}
