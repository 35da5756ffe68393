import type { ExpiringValue } from '../../../lib/expiring-cache.ts'
import type { MaybePromise } from '../../../lib/maybe-promise.ts'
import { cachesOf } from '../auth-caches.ts'
import type { AuthDeps } from '../auth-request.ts'
import { fingerprint } from '../credential.ts'
import { failed, parseRecord, readAccessToken } from '../token-endpoint.ts'
import type { Workload } from './workload.ts'

const issuer = "Azure's identity service"

/**
 * Returns a token of a managed identity, for a scope such as `https://vault.azure.net/.default`: from the service of App Service
 * and Container Apps where there is one, else from the virtual machine. `clientId`: of a user-assigned identity.
 */
export function managedToken(
  { scope, clientId }: { scope: string; clientId: string | null },
  workload: Workload,
  deps: AuthDeps,
): MaybePromise<string> {
  const id = clientId ?? workload.azure.managedClientId
  const key = fingerprint('azure managed', scope, id)
  return cachesOf(deps.egress).tokens.get(key, deps.now(), () => fetchToken(scope.replace(/\/\.default$/, ''), id, { workload, deps }))
}

interface IdentityContext {
  readonly workload: Workload
  readonly deps: AuthDeps
}

async function fetchToken(resource: string, clientId: string | null, { workload, deps }: IdentityContext): Promise<ExpiringValue<string>> {
  const { endpoint, instance } = workload.azure
  const named = clientId === null ? '' : `&client_id=${encodeURIComponent(clientId)}`
  const query = `resource=${encodeURIComponent(resource)}${named}`
  const { origin, pathname } = new URL(endpoint?.url ?? instance)
  const answer = await workload.metadata
    .ask({
      origin,
      method: 'GET',
      ...(endpoint === null
        ? { path: `/metadata/identity/oauth2/token?api-version=2018-02-01&${query}`, headers: { metadata: 'true' } }
        : { path: `${pathname}?api-version=2019-08-01&${query}`, headers: { 'x-identity-header': endpoint.header.reveal() } }),
    })
    .catch((error: unknown) => {
      throw failed(issuer, 'could not be reached', error)
    })
  if (answer.status !== 200) throw failed(issuer, `answered ${answer.status}`)
  const { token, expiresInMs } = readAccessToken(issuer, answer.text)
  // App Service states when the token ends, and no longer its lifetime.
  const endsAt = Number(parseRecord(answer.text)?.['expires_on']) * 1000
  const left = expiresInMs > 0 ? expiresInMs : endsAt - deps.now()
  // A token lasts a day there, and is given out again for as long: half an hour before its end is early enough.
  return { value: token, usableUntil: deps.now() + Math.max(left - Math.min(left / 2, marginMs), 0) }
}

/** The cache renews them minutes before; until then, and while that fails, they serve. */
const marginMs = 30_000
