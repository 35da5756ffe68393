import type { EntityManager } from '@mikro-orm/postgresql'
import { decodeJwt, jwtVerify, type JWTPayload } from 'jose'
import { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor, AnonymousCall } from '../../app/route.ts'
import { tenantEgress } from '../../app/tenant-egress.ts'
import { remoteKeys } from '../../gateway/ports/callers.ts'
import { ApiError } from '../../lib/errors.ts'
import { callsTo, clientOf, providersOf, type Provider } from '../identity-providers/index.ts'
import { lockPeople, revokeProviderSessions, sessionsOfProvider } from '../sessions/index.ts'
import { findByIdentity } from '../users/index.ts'
import { User } from '../users/user.entity.ts'
import { actorOf } from './actor.ts'
import type { LogoutBody } from './sso.schema.ts'

/** The sessions that a provider has ended: one of its own, or all of a person. */
export interface EndedSessions {
  readonly organisationId: string
  /** As people know the provider. */
  readonly name: string
  readonly issuer: string
  readonly subject: string | null
  readonly session: string | null
  /** The id of the token, which serves once. */
  readonly tokenId: string
}

/** The person in one organisation whose sessions a provider has ended there. */
export interface LogoutNotice {
  readonly actor: Actor
  readonly ended: EndedSessions
}

const heard = new WeakMap<Actor, readonly LogoutNotice[]>()

/** Returns the contents of a logout token, in each organisation that it is about; the first is the caller's own. */
export const heardOf = (actor: Actor): readonly LogoutNotice[] => heard.get(actor) ?? []

/** Finds out whose word a logout token is. AB01 for one that no provider of ours has signed for us, as the standard asks. */
export async function hearLogout({ body }: AnonymousCall<undefined, undefined, LogoutBody>, deps: Deps): Promise<Actor> {
  const { iss, aud } = unread(body.logout_token)
  const found = iss === undefined ? [] : await providersOf(deps, { issuer: iss, clientIds: [aud ?? []].flat() })
  const tried = await Promise.allSettled(found.map((provider) => verify(body.logout_token, provider, deps)))
  const said: LogoutNotice[] = []
  for (const one of tried) if (one.status === 'fulfilled') said.push({ actor: await personOf(deps, one.value), ended: one.value })
  const [first] = said
  if (first === undefined) {
    const causes = tried.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    deps.log.warn({ issuer: iss, causes }, 'a logout token was refused')
    throw new ApiError('AB01', 'This is no logout token of an identity provider for this client.', { param: 'logout_token' })
  }
  heard.set(first.actor, said)
  return first.actor
}

/** Returns the person whom a provider means: by their subject, or else by the session of theirs that it has ended. */
async function personOf({ orm }: Deps, ended: EndedSessions): Promise<Actor> {
  const { organisationId, issuer, subject, name } = ended
  const user = await inTenant(orm, organisationId, async (em) => {
    if (subject !== null) return findByIdentity(em, organisationId, { issuer, subject })
    const [session] = await sessionsOfProvider(em, ended)
    return session === undefined ? null : em.findOne(User, { id: session.userId })
  })
  if (user === null) return actorOf(organisationId, { type: 'user', id: organisationId, name: `identity provider ${name}` })
  return actorOf(organisationId, { type: 'user', id: user.id, name: user.email, userId: user.id })
}

/**
 * Ends sessions by the word of a provider, and returns how many; null: its token has come before. A sign-in of the person that is on its way
 * is waited for: its session ends too.
 */
export async function endSessions(em: EntityManager, { vault, clock }: Deps, { actor, ended }: LogoutNotice): Promise<number | null> {
  if (actor.userId !== null) await lockPeople(em, [actor.userId])
  const used = await em.execute<unknown[]>(
    'INSERT INTO used_sign_ins (state_hash, organisation_id, expires_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING organisation_id',
    [
      vault.hashKey(`sso-logout:${ended.organisationId}:${ended.issuer}:${ended.tokenId}`),
      ended.organisationId,
      new Date(clock.now() + 2 * longestAgeS * 1000),
    ],
  )
  return used.length === 0 ? null : revokeProviderSessions(em, ended)
}

function unread(token: string): JWTPayload {
  try {
    return decodeJwt(token)
  } catch {
    return {}
  }
}

const longestAgeS = 300
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

const claims = z
  .object({
    jti: z.string().min(1).max(1000),
    sub: z.string().min(1).optional(),
    sid: z.string().min(1).optional(),
    events: z.looseObject({ 'http://schemas.openid.net/event/backchannel-logout': z.looseObject({}) }),
    // An ID token has one: it is no logout token.
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined, 'neither sub nor sid')

const types: ReadonlySet<string> = new Set(['jwt', 'logout+jwt', 'application/logout+jwt'])

async function verify(token: string, provider: Provider, { egress, clock }: Deps): Promise<EndedSessions> {
  const { issuer, jwks_uri: url } = (await clientOf(egress, provider)).serverMetadata()
  if (url === undefined) throw new Error('the provider has no keys')
  const { organisationId } = provider
  const keys = remoteKeys({
    egress: tenantEgress(egress, provider),
    url,
    owner: organisationId,
    maxAgeMs: 600_000,
    timeoutMs: 5000,
    now: () => clock.now(),
    ...callsTo(provider),
  })
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: provider.clientId,
    algorithms,
    currentDate: new Date(clock.now()),
    clockTolerance: 30,
    maxTokenAge: longestAgeS,
  })
  if (protectedHeader.typ !== undefined && !types.has(protectedHeader.typ.toLowerCase()))
    throw new Error(`typ is ${protectedHeader.typ.slice(0, 60)}`)
  const { jti, sub, sid } = claims.parse(payload)
  return { organisationId, name: provider.name, issuer, subject: sub ?? null, session: sid ?? null, tokenId: jti }
}
