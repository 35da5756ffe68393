import type { EntityManager } from '@mikro-orm/postgresql'
import { route, type Actor } from '../../app/route.ts'
import type { KeyView } from '../../gateway/ports.ts'
import { User } from '../users/user.entity.ts'
import { introspectionBody, introspectionView, type Introspection } from './introspection.schema.ts'

/** The scopes for introspection: those for reading users. */
export const introspectionScopes = ['organisation_users.read', 'workspace_users.read']

export const introspectToken = route({
  method: 'POST',
  path: '/oauth/introspect',
  summary: 'Show whether an API key or a JSON Web Token is valid, its holder and its scopes',
  permission: introspectionScopes,
  resource: 'token',
  effect: 'none',
  takes: 'form',
  body: introspectionBody,
  response: introspectionView,
})(async ({ em, actor, body, callerOf }): Promise<Introspection> => {
  const key = await callerOf(body.token)
  if (key === null || !sees(actor, key)) return { active: false }
  return { ...presentKey(key), ...(await presentHolder(em, key)) }
})

/** Returns true if the actor may see the key; all others count as unknown. */
const sees = (actor: Actor, key: KeyView): boolean =>
  key.organisationId === actor.organisationId && (actor.workspaceId === null || key.workspaceId === actor.workspaceId)

function presentKey({ token, ...key }: KeyView): Introspection {
  return {
    active: true,
    token_type: token === undefined ? 'api_key' : 'jwt',
    scope: [...key.scopes].join(' '),
    client_id: key.id,
    organisation_id: key.organisationId,
    workspace_id: key.workspaceId,
    user_id: key.userId,
    ...(key.expiresAt !== null && { exp: toSeconds(key.expiresAt) }),
    ...(token !== undefined && {
      exp: toSeconds(token.expiresAt),
      aud: [...token.audience],
      ...(token.subject !== null && { sub: token.subject }),
      ...(token.issuer !== null && { iss: token.issuer }),
      ...(token.issuedAt !== null && { iat: toSeconds(token.issuedAt) }),
      ...(token.notBefore !== null && { nbf: toSeconds(token.notBefore) }),
    }),
  }
}

const toSeconds = (ms: number): number => Math.floor(ms / 1000)

async function presentHolder(em: EntityManager, { token, userId, name }: KeyView): Promise<Introspection | object> {
  const user = userId === null ? null : await em.findOne(User, { id: userId })
  const fullName = [user?.firstName, user?.lastName].filter((part) => typeof part === 'string' && part !== '').join(' ')
  const named = user?.email ?? (token === undefined ? null : name)
  return { email: user?.email ?? token?.email ?? null, username: fullName === '' ? named : fullName }
}
