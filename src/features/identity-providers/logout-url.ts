import type { EntityManager } from '@mikro-orm/postgresql'
import { buildEndSessionUrl, type Configuration } from 'openid-client'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { providerTokenPlace, Session } from '../sessions/session.entity.ts'
import { clientOf } from './client.ts'
import { servingProvider, standingOf, type OrganisationPlace } from './provider.ts'

/** The longest wait for a provider before a person is signed out here. */
const patienceMs = 2000
/** A URL takes no longer token. */
const longestHint = 6000

/** Returns where a browser signs out at the provider by which its session began; null: nowhere, or the provider cannot be asked now. */
export async function logoutUrlOf(deps: Deps, { id, organisationId }: Pick<Session, 'id' | 'organisationId'>): Promise<string | null> {
  const standing = await standingOf(deps, { id: organisationId })
  const begun = standing && (await inTenant(deps.orm, organisationId, (em) => beginOf(em, deps, { id, standing })))
  if (!begun) return null
  const { session, provider } = begun
  const client = await soon(clientOf(deps.egress, provider))
  const { issuer, end_session_endpoint } = client?.serverMetadata() ?? {}
  if (client === null || end_session_endpoint === undefined || issuer !== session.issuer) return null
  const token = session.providerToken ? await deps.vault.decrypt(providerTokenPlace(session), session.providerToken) : ''
  const { post_logout_redirect_uri } = provider
  return buildEndSessionUrl(client, {
    ...(token !== '' && token.length <= longestHint && { id_token_hint: token }),
    ...(post_logout_redirect_uri !== null && { post_logout_redirect_uri }),
  }).href
}

interface LogoutRow {
  readonly id: string
  readonly standing: OrganisationPlace
}

/** Returns a session with the provider by which it began; null: none, or one that does not serve now. */
async function beginOf(em: EntityManager, deps: Deps, { id, standing }: LogoutRow) {
  const session = await em.findOne(Session, { id, method: 'oidc' })
  const provider = session && (await servingProvider(em, deps, { ...standing, type: 'oidc' }))
  return session && provider && { session, provider }
}

async function soon(client: Promise<Configuration>): Promise<Configuration | null> {
  const timer = Promise.withResolvers<null>()
  const timeout = setTimeout(() => timer.resolve(null), patienceMs)
  try {
    return await Promise.race([client.catch(() => null), timer.promise])
  } finally {
    clearTimeout(timeout)
  }
}
