import { hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { isSameText } from '../../lib/text/same-text.ts'
import { cookieOf, cookieText, uniqueCookie } from '../sessions/index.ts'

/**
 * The way of a browser to an identity provider and back. It is not stored when the person leaves: the state holds where they go on, and its seal can
 * be checked only together with the cookie of the browser that left. Nonce and code verifier follow from both, under a key that never leaves the
 * installation.
 */
export interface Journey {
  readonly organisationId: string
  /** Stands for the issuer and the client to which the browser was sent. */
  readonly to: string
  /** The path on this origin where the person goes on. */
  readonly returnTo: string
  /** The id of the test sign-in that it is; undefined: it is a real one. */
  readonly test?: string | undefined
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** The values of a journey that the provider and the token endpoint have to show. */
export interface Marks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

type Needs = Pick<Deps, 'vault' | 'config' | 'clock'>

const cookieName = 'gatehouse-sign-in'
const lifeMs = 10 * 60_000

/** Begins a journey; `cookie` is the `Set-Cookie` for its browser. Several tabs of one browser may be under way at a time. */
export function begin(
  deps: Needs,
  header: string | undefined,
  journey: Omit<Journey, 'expiresAt'>,
): { readonly marks: Marks; readonly cookie: string } {
  const browser = browserOf(deps, header) ?? randomBytes(32).toString('base64url')
  const payload = payloadOf({ ...journey, expiresAt: deps.clock.now() + lifeMs })
  const marks = marksOf(deps, browser, `${payload}.${seal(deps, 'state', `${browser}.${payload}`)}`)
  return { marks, cookie: cookieText(deps, { name: cookieName, value: browser, seconds: lifeMs / 1000, sameSite: 'Lax' }) }
}

const stated = z.tuple([z.uuid(), z.string(), z.string(), z.number(), z.string(), z.uuid().optional()])

/** Returns a journey as a text that no other has. */
export function payloadOf({ organisationId, to, returnTo, expiresAt, test }: Journey): string {
  const content = [organisationId, to, returnTo, expiresAt, randomBytes(24).toString('base64url'), ...(test === undefined ? [] : [test])]
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

/** Returns the journey that such a text holds. Throws for another one: its seal is to be checked before. */
export function journeyIn(payload: string): Journey {
  const [organisationId, to, returnTo, expiresAt, , test] = stated.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  return { organisationId, to, returnTo, expiresAt, test }
}

/** Returns the journey that ends with this state. AB05 for one that did not begin in this browser, or took too long. */
export function end(deps: Needs, header: string | undefined, state: string): { readonly journey: Journey; readonly marks: Marks } {
  const browser = browserOf(deps, header)
  const [payload = '', shown = '', ...more] = state.split('.')
  if (browser === null || more.length > 0 || !isSameText(shown, seal(deps, 'state', `${browser}.${payload}`))) throw lost('state')
  const journey = journeyIn(payload)
  if (journey.expiresAt <= deps.clock.now()) throw lost('state')
  return { journey, marks: marksOf(deps, browser, state) }
}

/** Returns the refusal of a person who comes back without having left. `param`: the field that should show where they left. */
export const lost = (param: string) =>
  new ApiError('AB05', 'This sign-in did not begin in this browser, or took longer than ten minutes. Begin again.', { param })

const browserOf = (deps: Needs, header: string | undefined): string | null => {
  const shown = uniqueCookie(header, cookieOf(deps, cookieName))
  return shown !== null && /^[\w-]{43}$/.test(shown) ? shown : null
}

const marksOf = (deps: Needs, browser: string, state: string): Marks => ({
  state,
  nonce: seal(deps, 'nonce', `${browser}.${state}`),
  verifier: seal(deps, 'verifier', `${browser}.${state}`),
})

const seal = ({ vault }: Needs, purpose: 'state' | 'nonce' | 'verifier', text: string): string =>
  vault.hashKey(`sso-${purpose}:${text}`).toString('base64url')

/** Returns the code of an issuer and a client in a journey. */
export const destinationOf = ({ issuer, clientId }: { readonly issuer: string; readonly clientId: string }): string =>
  hash('sha256', `${issuer}\n${clientId}`, 'base64url').slice(0, 22)

const longestPath = 512

/** Returns a path on this origin as a browser would read it; null for a path that leads elsewhere. */
export function ownPath(text: string): string | null {
  const base = 'https://own.invalid'
  if (text.length > longestPath || !text.startsWith('/') || /[\\\p{Cc}]/u.test(text)) return null
  const url = URL.parse(text, base)
  if (url === null || url.origin !== base || url.pathname.startsWith('//')) return null
  return url.pathname + url.search + url.hash
}
