import { randomBytes } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import { cookieOf, cookieText, uniqueCookie } from '../../sessions/index.ts'

/** A challenge for an authenticator: its purpose, and its holder. */
export interface Challenge {
  readonly purpose: 'register' | 'sign-in' | 'second-factor'
  /** The id of a session, or the secret of a browser without a session. */
  readonly holder: string
  readonly challenge: string
}

/** How long an authenticator may take. */
export const challengeMs = 5 * 60_000

const nameOf = ({ vault }: Pick<Deps, 'vault'>, { purpose, holder, challenge }: Challenge): Buffer =>
  vault.hashKey(`passkey-challenge:${purpose}:${holder}:${challenge}`)

/** Keeps a challenge, so that it serves once. */
export async function keepChallenge(em: EntityManager, deps: Pick<Deps, 'vault' | 'clock'>, challenge: Challenge): Promise<void> {
  await em.execute('INSERT INTO passkey_challenges (name, expires_at) VALUES (?, ?)', [
    nameOf(deps, challenge),
    new Date(deps.clock.now() + challengeMs),
  ])
}

/** Takes a challenge back, in a transaction of its own, so that it is gone even if the request fails. False: it was not given, is used, or is too old. */
export const takeChallenge = (deps: Deps, challenge: Challenge): Promise<boolean> =>
  asSystem(deps.orm, async (em) => {
    const [row] = await em.execute<{ current: boolean }[]>(
      'DELETE FROM passkey_challenges WHERE name = ? RETURNING expires_at > ? AS current',
      [nameOf(deps, challenge), new Date(deps.clock.now())],
    )
    return row?.current === true
  })

/** Removes unanswered challenges. */
export const pruneChallenges = async (em: EntityManager, now: number): Promise<void> =>
  void (await em.execute('DELETE FROM passkey_challenges WHERE expires_at <= ?', [new Date(now)]))

const cookieName = 'gatehouse-passkey'

/** Returns the secret of a browser without a session; null: it has none. */
export function browserOf(deps: Pick<Deps, 'config'>, header: string | undefined): string | null {
  const shown = uniqueCookie(header, cookieOf(deps, cookieName))
  return shown !== null && /^[\w-]{43}$/.test(shown) ? shown : null
}

/** Returns the secret of a browser, a new one if it has none, with its `Set-Cookie`. Several tabs share it. */
export function bindBrowser(deps: Pick<Deps, 'config'>, header: string | undefined): { readonly holder: string; readonly cookie: string } {
  const holder = browserOf(deps, header) ?? randomBytes(32).toString('base64url')
  return { holder, cookie: cookieText(deps, { name: cookieName, value: holder, seconds: challengeMs / 1000 }) }
}
