import type { EntityManager } from '@mikro-orm/postgresql'
import type { AskedBy, Authenticator, KnownCaller } from '../../app/authenticator.ts'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { ActorSession } from '../../app/route.ts'
import { longestSessionMs } from '../../lib/access/session-settings.ts'
import { ApiError } from '../../lib/errors.ts'
import { secretOf, sessionCookie } from './cookie.ts'
import { demandSameOrigin, isForeign } from './origin.ts'
import { actorOf, membershipColumn, type Person } from './person.ts'
import { csrfToken, hashSecret, isCsrfToken, isOwnSecret, newSecret } from './secret.ts'
import type { SignInMethod } from './session.entity.ts'
import { needsFactor, rightsOf } from './sessions.ts'

/** A session that serves, with its person. */
interface FoundSession extends Person {
  readonly id: string
  readonly rights: Uint8Array
  /** False: it was found by the secret before the last. */
  readonly current: boolean
  readonly createdAt: number
  readonly lastUsedAt: number
  readonly expiresAt: number
  readonly method: SignInMethod
  /** The person has a second factor. */
  readonly hasFactor: boolean
}

/** True if the person `u` has a second factor. */
const factorColumn = `
  (EXISTS (SELECT FROM user_totps t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL)
   OR EXISTS (SELECT FROM passkeys k WHERE k.user_id = u.id))`

const find = `
  SELECT s.id, s.rights, s.method, ${factorColumn} AS "hasFactor", s.token_hash = ? AS "current", s.user_id AS "userId", s.organisation_id AS "organisationId",
         (extract(epoch FROM s.created_at) * 1000)::float8 AS "createdAt",
         (extract(epoch FROM s.last_used_at) * 1000)::float8 AS "lastUsedAt",
         (extract(epoch FROM s.expires_at) * 1000)::float8 AS "expiresAt",
         u.email, u.role, o.settings, ${membershipColumn} AS memberships, w.workspace
    FROM sessions s
    JOIN users u ON u.id = s.user_id AND u.status = 'active'
    JOIN organisations o ON o.id = s.organisation_id AND o.status = 'active'
    LEFT JOIN LATERAL (
      SELECT json_build_object('id', w.id, 'overrides', w.access_overrides) AS workspace
        FROM workspaces w LEFT JOIN workspace_members m ON m.workspace_id = w.id AND m.user_id = u.id
       WHERE w.organisation_id = o.id AND w.status = 'active'
         AND CASE WHEN ?::text IS NULL THEN m.id IS NOT NULL ELSE w.id::text = lower(?) OR w.slug = ? END
       ORDER BY w.is_default DESC, m.created_at, w.id LIMIT 1) w ON true
   WHERE s.token_hash = ? OR (s.previous_token_hash = ? AND s.previous_until > ?)`

/**
 * Finds people by the cookie of their session. Every request asks the database, so that a session that was revoked is refused from that moment on in
 * every process.
 */
export const sessionAuthenticator: Authenticator = {
  kind: 'session',
  async authenticate(asked, deps) {
    const secret = secretOf(deps, asked.headers.cookie)
    if (secret === null || isForeign(asked.headers)) return null
    if (!isOwnSecret(deps.vault, secret)) throw ended()
    return asSystem(deps.orm, (em) => identify(em, deps, { asked, secret }))
  },
}

interface ShownSession {
  readonly asked: AskedBy
  readonly secret: string
}

async function identify(em: EntityManager, deps: Deps, { asked, secret }: ShownSession): Promise<KnownCaller> {
  const now = deps.clock.now()
  const named = asked.ownHeader('workspace')
  const hash = hashSecret(deps.vault, secret)
  const place = named ?? null
  const [found] = await em.execute<FoundSession[]>(find, [hash, place, place, place, hash, hash, new Date(now)])
  if (found === undefined) throw ended()
  const expiresAt = endOf(found, deps)
  if (expiresAt <= now || found.lastUsedAt + deps.config.sessions.idleMs <= now) throw ended()
  if (!readOnly.has(asked.method)) demandOwnPage(deps, { asked, secret })
  demandFactor(found, asked)
  const session: ActorSession = { id: found.id, csrfToken: csrfToken(deps.vault, secret), expiresAt }
  const known = { actor: actorOf(found, { route: asked.route, named, session }) }
  if (asked.looksOnly === true) return known
  if (found.lastUsedAt + touchedEveryMs <= now)
    await em.execute('UPDATE sessions SET last_used_at = ? WHERE id = ? AND last_used_at < ?', [new Date(now), found.id, new Date(now)])
  return (await renewed(em, deps, { found, known, hash, expiresAt })) ?? known
}

/** The time of the last request is written so often. */
const touchedEveryMs = 30_000

const readOnly: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Returns the latest end of a session: its bound may have become shorter since it was opened. */
const endOf = ({ createdAt, expiresAt, settings }: FoundSession, { config }: Deps): number =>
  Math.min(expiresAt, createdAt + Math.min(config.sessions.lifetimeMs, longestSessionMs(settings)))

/** One answer for every invalid cookie. */
const ended = () => new ApiError('AB05', 'This session has ended. Sign in again.', { param: 'cookie' })

/** Throws while a person has no second factor whose organisation asks for one: till then they only reach the routes to set one up. */
function demandFactor({ settings, method, hasFactor }: FoundSession, { route }: AskedBy): void {
  if (hasFactor || route.below === '/' || !needsFactor(settings, method)) return
  throw new ApiError(
    'second_factor_required',
    'Your organisation asks for a second factor. Set one up first: an authenticator app (POST /auth/totp) or a passkey.',
    { details: { methods: [] } },
  )
}

/** Throws AB03 for a change that no page of ours can have asked for: a browser sends the cookie along with requests of other pages. */
function demandOwnPage(deps: Deps, { asked: { headers }, secret }: ShownSession): void {
  demandSameOrigin(deps, headers)
  const sent = headers['x-csrf-token']
  if (typeof sent !== 'string' || !isCsrfToken(deps.vault, secret, sent))
    throw new ApiError('AB03', 'A request by session that writes needs the header x-csrf-token, with the value from GET /auth/me.', {
      param: 'x-csrf-token',
    })
}

/** How long the secret before the last still serves, for requests that were on their way. */
const overlapMs = 60_000

interface Renewal {
  readonly found: FoundSession
  readonly known: KnownCaller
  readonly hash: Buffer
  readonly expiresAt: number
}

/**
 * Gives a session a new secret when the roles of its person have changed since the last; null if they have not. One of several concurrent requests
 * renews it, and the others go on with the old secret.
 */
async function renewed(em: EntityManager, deps: Deps, { found, known, hash, expiresAt }: Renewal): Promise<KnownCaller | null> {
  const rights = rightsOf(found.role, found.memberships)
  if (!found.current || rights.equals(found.rights)) return null
  const [now, secret] = [deps.clock.now(), newSecret(deps.vault)]
  const rows = await em.execute<unknown[]>(
    `UPDATE sessions SET token_hash = ?, previous_token_hash = token_hash, previous_until = ?, rights = ?
      WHERE id = ? AND token_hash = ? RETURNING id`,
    [hashSecret(deps.vault, secret), new Date(now + overlapMs), rights, found.id, hash],
  )
  return rows.length === 0 ? null : { ...known, cookie: sessionCookie(deps, secret, (expiresAt - now) / 1000) }
}
