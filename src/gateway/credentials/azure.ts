import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import type { Credential } from '../providers/provider.ts'
import type { AuthDeps, AuthProof, AuthRequest } from './auth-request.ts'
import { entraToken } from './entra.ts'
import { field, malformed, requireField, requireKey } from './credential.ts'
import { readToken } from './web-identity.ts'
import { managedToken } from './workload/azure-identity.ts'
import { demandTrusted, demandWorkload } from './workload/trusted-host.ts'
import type { Workload } from './workload/workload.ts'

const defaultScope = 'https://cognitiveservices.azure.com/.default'

type KeyHeader = 'api-key' | 'authorization'

/** A given token, a token of Entra for an application or for the workload itself, or the resource's key; by `azure_auth_mode`. */
export function authorizeAzure(request: AuthRequest, keyHeaders: readonly KeyHeader[], deps: AuthDeps): MaybePromise<AuthProof> {
  const { credential, url } = request
  const given = field(credential, 'azure_ad_token')
  if (given !== null) return withToken(url.path, tokenText(given))
  const mode = field(credential, 'azure_auth_mode') ?? 'default'
  if (mode !== 'default') {
    const target = { origin: url.origin, param: 'azure_auth_mode', services: azureModels }
    return settled(azureToken(mode, { credential, target }, deps), (token) => withToken(url.path, token))
  }
  const key = requireKey(credential)
  return { headers: keyHeaders.flatMap((name) => [name, name === 'authorization' ? `Bearer ${key}` : key]), path: url.path }
}

const withToken = (path: string, token: string): AuthProof => ({ headers: ['authorization', `Bearer ${token}`], path })

function tokenText(given: string): string {
  const token = given.replace(/^Bearer /i, '')
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw malformed('azure_ad_token', 'is not a token')
}

interface AzureRequest {
  readonly credential: Credential
  /** The host to which the token goes, and those to which one of the workload itself may go. */
  readonly target: { readonly origin: string; readonly param: string; readonly services: RegExp }
}

/** Returns a token of Entra, by an `azure_auth_mode` that is not the key. */
export function azureToken(mode: string, { credential, target }: AzureRequest, deps: AuthDeps): MaybePromise<string> {
  const scope = field(credential, 'azure_entra_scope') ?? defaultScope
  if (mode === 'entra') return applicationToken(credential, scope, deps)
  if (mode !== 'managed' && mode !== 'workload' && mode !== 'entraFederated')
    throw malformed('azure_auth_mode', 'is none of default, entra, entraFederated, managed and workload')
  const workload = demandWorkload(deps, 'azure_auth_mode')
  demandTrusted(target.origin, target, workload)
  if (mode === 'managed') return managedToken({ scope, clientId: field(credential, 'azure_managed_client_id') }, workload, deps)
  return workloadToken(credential, scope, { workload, deps })
}

/** Azure's own services of models; not API Management and managed endpoints, whose owners see the requests. */
const azureModels =
  /^[a-z0-9-]+\.(?:openai\.azure\.(?:com|us|cn)|cognitiveservices\.azure\.(?:com|us|cn)|services\.ai\.azure\.com|(?:[a-z0-9-]+\.)?inference\.ai\.azure\.com)$/

const applicationToken = (credential: Credential, scope: string, deps: AuthDeps): MaybePromise<string> =>
  entraToken(
    {
      tenant: requireField(credential, 'azure_entra_tenant_id'),
      clientId: requireField(credential, 'azure_entra_client_id'),
      scope,
      proof: applicationProof(credential),
    },
    deps,
  )

function applicationProof(credential: Credential) {
  const certificate = field(credential, 'azure_entra_client_certificate')
  if (certificate !== null) return { kind: 'certificate' as const, pem: certificate }
  return { kind: 'secret' as const, secret: requireField(credential, 'azure_entra_client_secret') }
}

/** The token that the platform writes for the workload stands for the secret of the application that trusts it. */
function workloadToken(
  credential: Credential,
  scope: string,
  { workload, deps }: { readonly workload: Workload; readonly deps: AuthDeps },
): MaybePromise<string> {
  const { azure } = workload
  const tenant = field(credential, 'azure_entra_tenant_id') ?? azure.tenantId ?? requireField(credential, 'azure_entra_tenant_id')
  const clientId =
    field(credential, 'azure_workload_client_id') ??
    field(credential, 'azure_entra_client_id') ??
    azure.clientId ??
    requireField(credential, 'azure_workload_client_id')
  const file = azure.federatedTokenFile ?? workload.serviceAccountTokenFile
  return entraToken({ tenant, clientId, scope, proof: { kind: 'assertion', file, read: () => readToken(file, 'Microsoft Entra') } }, deps)
}
