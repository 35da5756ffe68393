import type { EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'

/**
 * True for a person (`u`, of the organisation `o`) who has no password and no passkey here: the identity provider decides whether they come in,
 * because they have signed in by it or it has made them, and the organisation does not let them sign in beside it. An identity that is known by
 * tokens alone opens no session, and so it takes no password away.
 */
export const isBound = `
  (EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id AND NOT i.by_token) OR EXISTS (SELECT FROM scim_users s WHERE s.id = u.id))
  AND o.settings -> 'session_settings' -> 'allow_passwords_beside_provider' IS DISTINCT FROM 'true'::jsonb`

const query = `SELECT 1 FROM users u JOIN organisations o ON o.id = u.organisation_id WHERE u.id = ? AND ${isBound}`

/** Returns true for a person who signs in by an identity provider alone. */
export const isOfProvider = async (em: EntityManager, userId: string): Promise<boolean> =>
  (await em.execute<unknown[]>(query, [userId])).length > 0

/** Throws AB03 for a person who signs in by an identity provider alone. */
export async function demandNoProvider(em: EntityManager, userId: string): Promise<void> {
  if (await isOfProvider(em, userId)) throw boundToProvider()
}

/** Returns the refusal of a password, or a passkey, of a person who signs in by an identity provider alone. */
export const boundToProvider = (): ApiError =>
  new ApiError(
    'AB03',
    'You sign in by your identity provider here, and not with a password or a passkey of Gatehouse. An owner may allow it: settings.session_settings.allow_passwords_beside_provider. While the provider is away, an owner gets in by a link of an operator: gatehouse owner link.',
    { param: 'password' },
  )
