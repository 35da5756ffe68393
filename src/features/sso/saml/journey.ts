import type { Deps } from '../../../app/deps.ts'
import { isSameText } from '../../../lib/text/same-text.ts'
import { cookieOf, cookieText, uniqueCookie } from '../../sessions/index.ts'
import { journeyIn, lost, payloadOf, type Journey } from '../journey.ts'

type Needs = Pick<Deps, 'vault' | 'config' | 'clock'>

/**
 * The way of a browser to a provider of SAML and back. As with OpenID Connect it is not stored when the person leaves. RelayState takes only 80 bytes
 * and is not signed: so each request has a cookie of its own with its contents, and the id of the request, which the provider signs as InResponseTo,
 * is a keyed hash of that cookie. The answer is a POST from another site, which brings along only cookies with `SameSite=None`: this one is useless without an answer that a provider has signed for it.
 */
export interface SamlDeparture {
  readonly requestId: string
  /** The `Set-Cookie` for the browser that leaves. */
  readonly cookie: string
}

const lifeMs = 10 * 60_000

export function beginSaml(deps: Needs, journey: Omit<Journey, 'expiresAt'>): SamlDeparture {
  const payload = payloadOf({ ...journey, expiresAt: deps.clock.now() + lifeMs })
  const value = `${payload}.${seal(deps, payload)}`
  const requestId = requestIdOf(deps, value)
  return { requestId, cookie: cookieText(deps, { name: cookieName(requestId), value, seconds: lifeMs / 1000, sameSite: 'None' }) }
}

/** Returns the journey that began with a request of this id. AB05 for one that did not begin in this browser, or took too long. */
export function endSaml(deps: Needs, header: string | undefined, requestId: string): Journey {
  if (!/^_[0-9a-f]{64}$/.test(requestId)) throw lost('InResponseTo')
  const value = uniqueCookie(header, cookieOf(deps, cookieName(requestId))) ?? ''
  const [payload = '', shown = '', ...more] = value.split('.')
  if (more.length > 0 || !isSameText(shown, seal(deps, payload)) || !isSameText(requestId, requestIdOf(deps, value)))
    throw lost('InResponseTo')
  const journey = journeyIn(payload)
  if (journey.expiresAt <= deps.clock.now()) throw lost('InResponseTo')
  return journey
}

/** Returns the `Set-Cookie` by which the browser forgets a journey. */
export const forgottenCookie = (deps: Needs, requestId: string): string =>
  cookieText(deps, { name: cookieName(requestId), value: '', seconds: 0, sameSite: 'None' })

const cookieName = (requestId: string): string => `gatehouse-saml-${requestId.slice(1, 17)}`

const seal = ({ vault }: Needs, payload: string): string => vault.hashKey(`saml-journey:${payload}`).toString('base64url')

/** An id of XML begins with a letter or `_`. */
const requestIdOf = ({ vault }: Needs, value: string): string => `_${vault.hashKey(`saml-request:${value}`).toString('hex')}`
