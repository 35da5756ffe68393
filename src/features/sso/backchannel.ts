import type { EntityManager } from '@mikro-orm/postgresql'
import { decodeJwt, jwtVerify, type JWTPayload } from 'jose'
import { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor, Identifying } from '../../app/route.ts'
import { remoteKeys } from '../../gateway/callers/tokens/jwks.ts'
import { ApiError } from '../../lib/errors.ts'
import { callsTo, clientOf, providersOf, type Provider } from '../identity-providers/index.ts'
import { revokeProviderSessions } from '../sessions/index.ts'
import { findByIdentity } from '../users/index.ts'
import { actorOf } from './actor.ts'
import type { LogoutBody } from './sso.schema.ts'

/** The sessions that a provider has ended: one of its own, or all of a person. */
export interface Ended {
  readonly organisationId: string
  /** As people know the provider. */
  readonly name: string
  readonly issuer: string
  readonly subject: string | null
  readonly session: string | null
  /** The id of the token, which serves once. */
  readonly tokenId: string
}

const heard = new WeakMap<Actor, readonly Ended[]>()

export const endedBy = (actor: Actor): readonly Ended[] => heard.get(actor) ?? []

/** Finds out whose word a logout token is. AB01 for one that no provider of ours has signed for us, as the standard asks. */
export async function hearLogout({ body }: Identifying<undefined, undefined, LogoutBody>, deps: Deps): Promise<Actor> {
  const { iss, aud } = unread(body.logout_token)
  const found = iss === undefined ? [] : await providersOf(deps, { issuer: iss, clientIds: [aud ?? []].flat() })
  const tried = await Promise.allSettled(found.map((provider) => verify(body.logout_token, provider, deps)))
  const ended = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const [first] = ended
  if (first === undefined) {
    const causes = tried.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    deps.log.warn({ issuer: iss, causes }, 'a logout token was refused')
    throw new ApiError('AB01', 'This is no logout token of an identity provider for this client.', { param: 'logout_token' })
  }
  const { organisationId, issuer, subject } = first
  const user =
    subject === null ? null : await inTenant(deps.orm, organisationId, (em) => findByIdentity(em, organisationId, { issuer, subject }))
  const name = user?.email ?? `identity provider ${first.name}`
  const actor = actorOf(organisationId, { type: 'user', id: user?.id ?? organisationId, name })
  heard.set(actor, ended)
  return actor
}

/** Ends sessions by the word of a provider. A token that comes again ends nothing. */
export async function endSessions(em: EntityManager, { vault, clock }: Deps, ended: Ended) {
  const used = await em.execute<unknown[]>(
    'INSERT INTO used_sign_ins (state_hash, organisation_id, expires_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING organisation_id',
    [
      vault.hashKey(`sso-logout:${ended.organisationId}:${ended.issuer}:${ended.tokenId}`),
      ended.organisationId,
      new Date(clock.now() + 2 * longestAgeS * 1000),
    ],
  )
  if (used.length > 0) await revokeProviderSessions(em, ended)
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

async function verify(token: string, provider: Provider, { egress, clock }: Deps): Promise<Ended> {
  const { issuer, jwks_uri: url } = (await clientOf(egress, provider)).serverMetadata()
  if (url === undefined) throw new Error('the provider has no keys')
  const { organisationId } = provider
  const keys = remoteKeys({
    egress,
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
