import { ApiError } from '../../lib/errors.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { authorize } from '../credentials/authorize.ts'
import type { SigningMeans } from '../credentials/signing.ts'
import { isFields } from '../../lib/json/fields.ts'
import { replaceModel, type RequestBody } from '../wire/body.ts'
import { type AllowedHosts, demandAllowed } from '../egress/allowed-hosts.ts'
import type { Egress, EgressOrigin, EgressRequest } from '../egress/egress.ts'
import { narrowed } from '../egress/narrowed.ts'
import { eachHeader, type HeaderList, headersReplaced, headerValue } from '../wire/header-list.ts'
import type { MatchedOperation } from '../operations/match.ts'
import { authFor, baseUrlOf, joinPath, providerHeaders, spokenAt, withDefaults } from '../providers/endpoint.ts'
import { type Auth, type Credential, noAuth, type Provider } from '../providers/provider.ts'
import { fillTemplate } from '../providers/template.ts'
import { withSecrets } from '../secrets/mapped-credential.ts'
import type { MappedSecret } from '../secrets/secret-reference.ts'
import { deploymentName } from '../targets/azure-deployment.ts'
import type { ProviderView } from '../targets/provider-view.ts'
import type { Target } from '../targets/target.ts'
import type { PreparedRequest } from './prepared.ts'
import { type SecretRenewal, renewed, sameCredential } from './renew-secrets.ts'

/** A request before anything signs it. */
export interface UnsignedRequest {
  readonly method: string
  /** Path and query below `/v1`, as the client sent them. */
  readonly path: string
  readonly operation: MatchedOperation
  readonly target: Target
  readonly body: RequestBody
  /** The provider's own endpoint, of a request that was translated; null: that of the operation. */
  readonly endpoint: { readonly path: string; readonly model: string | null; readonly baseUrl?: string | null } | null
  /** The caller's headers that may go on. */
  readonly forward: readonly string[]
  readonly timeouts: EgressRequest['timeouts']
  /** True if it leaves no state behind, so that it may be sent again when its connection is lost at once. */
  readonly leavesNothing?: boolean
  /** Called when it goes out on a connection. */
  readonly noteSent?: () => void
  readonly egress: Egress
  /** To which hosts the installation, and the caller's organisation, lets requests go; null: to all. */
  readonly allowed: { readonly everywhere: AllowedHosts | null; readonly here: AllowedHosts | null }
}

export interface SendRequest extends UnsignedRequest {
  readonly signing: SigningMeans
}

type Fields = Readonly<Record<string, string>>

/** Turns the caller's request into the provider's: host, path, headers, credential. Throws ApiError, `blocked_host` among others. */
export function prepare(asked: SendRequest): MaybePromise<PreparedRequest> {
  const body = withDeployment(asked)
  const request = body === asked.body ? asked : { ...asked, body }
  return settled(originOf(request), (origin) =>
    request.target.secrets === null ? prepareFor(origin, request) : prepareWithSecrets(origin, request, request.target.secrets),
  )
}

/** Returns the body with the name of the deployment that its model stands for: where the path names none, Azure takes it from there. */
function withDeployment({ target, body }: SendRequest): RequestBody {
  const { bytes, json } = body
  if (target.providerId !== 'azure-openai' || bytes === null || !isFields(json) || typeof json['model'] !== 'string') return body
  const name = deploymentName(target, json['model'])
  if (name === null) return body
  const named = replaceModel(bytes, json['model'], name)
  return { ...body, bytes: named, json: { ...json, model: name }, length: named.length }
}

/** A secret may have been replaced in its manager: a request that the provider refuses for it is sent again with the new one. */
function prepareWithSecrets(origin: EgressOrigin, request: SendRequest, secrets: readonly MappedSecret[]): MaybePromise<PreparedRequest> {
  const { target, signing, egress, allowed } = request
  const reach = narrowed(egress, allowed.here)
  const ready = (credential: Credential): MaybePromise<PreparedRequest> =>
    prepareFor(origin, { ...request, target: { ...target, credential } })
  const reveal = (): MaybePromise<Credential> => withSecrets({ credential: target.credential, secrets }, signing.secrets, reach)
  const renewing: SecretRenewal = {
    isWorth: request.body.stream === null,
    async again(former) {
      await Promise.all(secrets.map(({ reference }) => signing.secrets.renew(reference, reach)))
      const credential = await reveal()
      return sameCredential(credential, former) ? null : { credential, prepared: await ready(credential) }
    },
  }
  return settled(reveal(), (credential) => renewed(() => ready(credential), credential, renewing))
}

function prepareFor(origin: EgressOrigin, request: SendRequest): MaybePromise<PreparedRequest> {
  const { target, egress, method, body, timeouts, leavesNothing = false, noteSent } = request
  const { path, headers } = composeRequest(request, origin)
  const signing = authorize(
    {
      auth: effectiveAuth(target, path),
      credential: target.credential,
      method,
      url: { origin: origin.origin, path },
      headers,
      body: body.bytes,
    },
    { egress, now: Date.now, workload: request.signing.workload, storedBy: target.storedBy },
  )
  return settled(signing, (signed) => ({
    origin,
    url: origin.origin + withoutQuery(path),
    request: {
      method,
      path: signed.path,
      headers: headersReplaced(headers, signed.headers),
      body: body.bytes ?? body.stream,
      leavesNothing,
      noteSent,
      timeouts,
    },
  }))
}

function withoutQuery(path: string): string {
  const at = path.indexOf('?')
  return at === -1 ? path : path.slice(0, at)
}

/** Returns the checked host of a request. Throws, or rejects with, `blocked_host`. */
export function originOf(request: UnsignedRequest): MaybePromise<EgressOrigin> {
  const { target, egress } = request
  const fields = fieldsOf(target)
  const base = target.customHost ?? { url: catalogueUrl(request, fields), param: 'x-service-provider' }
  const named = target.customHost !== null || (target.provider.baseUrl ?? '').startsWith('{') || namesVariant(target, fields)
  if (named) demandHost(request, base)
  return egress.origin(base.url, base.param, named ? 'by data' : 'by catalogue')
}

/** Returns path and headers of a request in the provider's words, without its credential. */
export function composeRequest(request: UnsignedRequest, { basePath }: EgressOrigin) {
  const fields = fieldsOf(request.target)
  return { path: joinPath(basePath, providerPath(request, fields)), headers: withProviderHeaders(request) }
}

/** Returns the fields of a target's credential over the provider's defaults. */
export const fieldsOf = (target: Target): Fields => additionsOf(target).fields

/** The additions of a provider and a credential to each request. */
interface RequestAdditions {
  readonly fields: Fields
  /** Headers in place of the caller's with their names. */
  readonly set: HeaderList
  /** Headers that give way to the caller's. */
  readonly unlessSent: HeaderList
}

/** Those of stored providers are the same for each request. */
const kept = new WeakMap<ProviderView, RequestAdditions>()

function additionsOf(target: Target): RequestAdditions {
  const { view } = target
  if (view === null || target.credential !== view.credential) return makeAdditions(target)
  const held = kept.get(view)
  if (held !== undefined) return held
  const made = makeAdditions(target)
  kept.set(view, made)
  return made
}

function makeAdditions({ provider, credential, customHeaders }: Target): RequestAdditions {
  const fields = withDefaults(provider, credential.fields)
  const { set, unlessSent } = providerHeaders(provider, fields)
  return { fields, set: [...set, ...Object.entries(customHeaders).flat()], unlessSent }
}

/** Returns true if a field of the credential is the whole address. */
const namesVariant = ({ provider }: Target, fields: Fields): boolean =>
  provider.variants?.some(({ field, baseUrl }) => (baseUrl ?? '').startsWith('{') && (fields[field] ?? '') !== '') ?? false

function demandHost({ target, allowed }: UnsignedRequest, base: { readonly url: string; readonly param: string }): void {
  const host = { ...base, by: target.namedBy }
  demandAllowed(host, allowed.everywhere, 'ALLOWED_CUSTOM_HOSTS')
  demandAllowed(host, allowed.here, 'the organisation (settings.allowed_custom_hosts)')
}

/** Returns the provider's own endpoint of a request: of one that was translated, or of one for its list of models. Null: there is none. */
function endpointOf({ endpoint, method, operation, path, target }: UnsignedRequest): UnsignedRequest['endpoint'] {
  const { lists } = target.provider
  if (endpoint !== null || lists === undefined || operation.name !== 'proxy') return endpoint
  return method === 'GET' && /^\/models(?:\?|$)/.test(path) ? { model: null, ...lists } : null
}

/** The host of an endpoint, which may be another one of the provider's. */
function catalogueUrl(request: UnsignedRequest, fields: Fields): string {
  const { target } = request
  const elsewhere = endpointOf(request)?.baseUrl ?? null
  return elsewhere === null ? ownBaseUrl(target, fields) : fillTemplate(elsewhere, fields)
}

function ownBaseUrl({ provider, providerId }: Target, fields: Fields): string {
  const url = baseUrlOf(provider, fields)
  if (url !== null) return url
  throw new ApiError('missing_provider', `The provider ${providerId} has no host of its own: store one with it (custom_host).`, {
    param: 'custom_host',
  })
}

/** A host of one's own may need no credential at all. */
function effectiveAuth({ provider, credential, customHost }: Target, path: string): Auth {
  const auth = authFor(provider, path)
  const keyed = auth.kind === 'bearer' || auth.kind === 'header'
  return keyed && credential.key === null && customHost !== null ? noAuth : auth
}

/** Returns true if the credential signs the body, so that it must be held. */
export function signsBody(provider: Provider): boolean {
  return provider.auth.kind === 'sigv4' || provider.auth.kind === 'oracle'
}

/** The operation's path in the provider's layout; the caller's own path, byte for byte, for all else. */
function providerPath(request: UnsignedRequest, fields: Fields): string {
  const { path, operation, target } = request
  const { provider, model } = target
  const endpoint = endpointOf(request)
  if (endpoint !== null) return fillTemplate(endpoint.path, fields, endpoint.model)
  const spoken = spokenAt(provider, operation.name, fields)
  if (spoken === null || spoken.path === operation.spec?.path) return path
  const filled = fillTemplate(spoken.path, { ...fields, ...operation.params }, model)
  const at = path.indexOf('?')
  return at === -1 ? filled : filled + (filled.includes('?') ? '&' : '?') + path.slice(at + 1)
}

/** The caller's headers with those that the provider and the stored credential add to them. */
function withProviderHeaders({ forward, target, body }: UnsignedRequest): HeaderList {
  const { set, unlessSent } = additionsOf(target)
  const headers = headersReplaced(forward, set)
  if (unlessSent.length === 0 && body.stream === null) return headers
  const missing: string[] = []
  eachHeader(unlessSent, (name, value) => {
    if (headerValue(headers, name.toLowerCase()) === undefined) missing.push(name, value)
  })
  if (body.stream !== null && body.length !== null) missing.push('content-length', String(body.length))
  return missing.length === 0 ? headers : [...headers, ...missing]
}
