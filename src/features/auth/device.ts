import type { Deps } from '../../app/deps.ts'
import { isSameText } from '../../lib/text/same-text.ts'
import { cookieOf, cookieText, uniqueCookie } from '../sessions/index.ts'

type Needs = Pick<Deps, 'config' | 'vault'>

const name = 'gatehouse-device'
const seconds = 180 * 24 * 3600

/** Returns the `Set-Cookie` by which a browser shows later that an account was signed in there. It gives no access: it only counts attempts apart. */
export const deviceCookie = (deps: Needs, userId: string): string => cookieText(deps, { name, value: markOf(deps, userId), seconds })

/** Returns true if an account was signed in in this browser before. */
export function isKnownDevice(deps: Needs, userId: string, header: string | undefined): boolean {
  const shown = uniqueCookie(header, cookieOf(deps, name))
  const wanted = markOf(deps, userId)
  return shown !== null && isSameText(shown, wanted)
}

const markOf = ({ vault }: Needs, userId: string): string => vault.hashKey(`device:${userId}`).toString('base64url')
