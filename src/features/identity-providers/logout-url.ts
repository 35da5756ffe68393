import type { EntityManager } from '@mikro-orm/postgresql'
import { buildEndSessionUrl, type Configuration } from 'openid-client'
import type { Deps } from '../../app/deps.ts'
import { providerTokenPlace, type Session } from '../sessions/session.entity.ts'
import { clientOf } from './client.ts'
import { servingProvider, standingOf } from './provider.ts'

/** Nobody waits longer for a provider in order to sign out here. */
const patienceMs = 2000
/** A URL takes no longer token. */
const longestHint = 6000

/** Returns where a browser signs out at the provider by which its session began; null: nowhere, or the provider cannot be asked now. */
export async function logoutUrlOf(em: EntityManager, deps: Deps, session: Session): Promise<string | null> {
  if (session.method !== 'oidc') return null
  const standing = await standingOf(deps, { id: session.organisationId })
  const provider = standing && (await servingProvider(em, deps, standing))
  if (!provider) return null
  const client = await soon(clientOf(deps.egress, provider))
  const { issuer, end_session_endpoint } = client?.serverMetadata() ?? {}
  if (client === null || end_session_endpoint === undefined || issuer !== session.issuer) return null
  const token = session.providerToken ? await deps.vault.decrypt(providerTokenPlace(session), session.providerToken) : ''
  return buildEndSessionUrl(client, token === '' || token.length > longestHint ? {} : { id_token_hint: token }).href
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
