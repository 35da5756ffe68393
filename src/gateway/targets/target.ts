import { ApiError } from '../../lib/errors.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { type TargetAddress, addressingOf, modelReference, type ModelReference, type Reference } from './addressing.ts'
import type { TargetConfig } from '../config/choose.ts'
import { laterBeside, releaseOfField } from '../providers/provider-fields.ts'
import type { KeyView } from '../callers/key.ts'
import type { ProviderSource, ProviderView } from './provider-view.ts'
import { keyless, needsVirtualKey, noCredential, noProvider, twoProviders, unknownSlug } from './target-refusals.ts'
import type { Caller } from '../callers/identify.ts'
import { placeholder } from '../wire/placeholder.ts'
import { bearerToken } from '../wire/bearer.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import type { NamedBy } from '../egress/allowed-hosts.ts'
import { isActingHeader } from '../providers/acting-headers.ts'
import { findProvider } from '../providers/catalog.ts'
import { meantSentence } from '../providers/meant-provider.ts'
import { assertServed } from './retired.ts'
import type { Credential, Provider } from '../providers/provider.ts'
import { nearestName } from '../../lib/text/nearest.ts'
import { keyField, type MappedSecret } from '../secrets/secret-reference.ts'

/** The target of a request: a row of the catalogue, a credential, and the host that may see it. */
export interface Target {
  readonly providerId: string
  readonly provider: Provider
  /** The stored provider, null when the caller brought the credential. */
  readonly view: ProviderView | null
  readonly credential: Credential
  /** Fields of the credential whose values are in external secret managers; null: none. */
  readonly secrets: readonly MappedSecret[] | null
  /** The organisation that stored the credential with an integration or a virtual key; null: the caller brought it. */
  readonly storedBy: string | null
  /** True if the caller brought the credential; false: it is stored, with a provider or in a config. */
  readonly isCallers: boolean
  /** A base URL that replaces the catalogue's, and the field that named it. */
  readonly customHost: { readonly url: string; readonly param: string } | null
  readonly customHeaders: Readonly<Record<string, string>>
  /** The one who named the host, when it is not the catalogue's. */
  readonly namedBy: NamedBy
  /** The provider's name of the model; null when the request names none. */
  readonly model: string | null
  /** The place that the path names, which goes before that of the credential; null: none. Absent: it was not looked for. */
  readonly place?: string | null
  /** True when the body named `@slug/model`, so that the slug must be taken out of it. */
  readonly modelRewritten: boolean
  /** True when its config leaves provisioned throughput out of the costs. */
  readonly skipsPtuCost: boolean
}

export interface TargetRequest {
  readonly caller: Caller
  readonly headers: CallerHeaders
  /** The `model` of a JSON body, as the caller wrote it. */
  readonly model: string | null
  /** True when the operation asks for a stored credential. */
  readonly storedOnly: boolean
  /** The provider of the prompt that the request named. */
  readonly promptProvider: string | null
  readonly snapshot: ProviderSource
  readonly config: TargetConfig | null
  /** Returns whether the level of this installation has the additions of a release. */
  readonly atLeast: (release: string) => boolean
}

const slugPattern = /^[a-zA-Z0-9_-]{1,255}$/
const noFields: Readonly<Record<string, string>> = {}

/**
 * Finds the target in one of the four ways: `x-service-virtual-key`, `x-service-provider: @slug`, a provider's name with the caller's
 * own credential, a provider's name with `x-service-custom-host`; or by `model: "@slug/model"`, or by the config. Throws
 * `missing_provider`, `unknown_provider`, `missing_credential`, `blocked_host`, `invalid_request`.
 */
export function resolveTarget(request: TargetRequest): MaybePromise<Target> {
  const fromModel = modelReference(request.model)
  const addressing = addressingOf(request.headers, request.config, { fromModel, promptProvider: request.promptProvider })
  if (addressing.stored !== null) return stored(request, { ...addressing, stored: addressing.stored }, fromModel)
  if (request.storedOnly && !holdsCredential(addressing)) throw needsVirtualKey()
  if (addressing.provider === null) return refuseUnnamed(request)
  return given(request, { ...addressing, provider: addressing.provider })
}

/** Returns true if a stored config brings the credential. */
const holdsCredential = ({ isStored, credential }: TargetAddress): boolean => isStored && credential !== null

type StoredAddressing = TargetAddress & { readonly stored: Reference }

function stored(request: TargetRequest, addressing: StoredAddressing, fromModel: ModelReference | null): MaybePromise<Target> {
  const { slug } = addressing.stored
  if (!slugPattern.test(slug)) throw unknownSlug(addressing.stored)
  return settled(request.snapshot.provider(scopeOf(request.caller.key), slug), (view) => {
    if (view === null) return refuseUnknown(request, addressing.stored)
    const found = () => targetOf(request, addressing, { view, fromModel })
    if (fromModel === null || fromModel.slug === view.slug || !addressing.stored.param.startsWith('x-service-')) return found()
    return settled(otherProvider(request, fromModel), (other) => {
      if (other !== null) throw twoProviders(addressing.stored, fromModel)
      return found()
    })
  })
}

/** Rejects with the error of a slug that no provider of the workspace has; names the one that was probably meant. */
async function refuseUnknown({ snapshot, caller }: TargetRequest, reference: Reference): Promise<never> {
  const listed = await (async () => snapshot.providers(scopeOf(caller.key)))().catch(() => [])
  throw unknownSlug(
    reference,
    nearestName(
      reference.slug,
      listed.map(({ slug }) => slug),
    ),
  )
}

/** Returns the stored provider that a model names beside a header. Some providers have models of their own that begin with `@`. */
const otherProvider = ({ snapshot, caller }: TargetRequest, { slug }: ModelReference): MaybePromise<ProviderView | null> =>
  slugPattern.test(slug) ? snapshot.provider(scopeOf(caller.key), slug) : null

interface FoundProvider {
  readonly view: ProviderView
  readonly fromModel: ModelReference | null
}

function targetOf(request: TargetRequest, addressing: StoredAddressing, { view, fromModel }: FoundProvider): Target {
  const reference = addressing.stored
  assertUsable(view, reference)
  const provider = catalogRow(request, { id: view.provider, param: reference.param })
  assertSameHost(addressing, view, provider)
  assertServed(provider, { id: view.provider, param: reference.param, host: view.customHost })
  const credential = withDetails(view, provider, { fields: addressing.fields, isStored: (request.config?.slug ?? null) !== null })
  if ((credential.key ?? '') === '' && view.customHost === null && needsKey(provider) && !mapsKey(view)) throw keyless(reference)
  const ours = fromModel !== null && fromModel.slug === view.slug
  return {
    providerId: view.provider,
    provider,
    view,
    credential,
    secrets: view.secrets,
    storedBy: view.organisationId,
    isCallers: false,
    customHost: view.customHost === null ? null : { url: view.customHost, param: 'custom_host' },
    customHeaders: view.customHeaders,
    namedBy: 'stored',
    model: ours ? fromModel.model : request.model,
    modelRewritten: ours,
    skipsPtuCost: skipsPtuCost(request),
  }
}

/** The details that a config gives, and whether it is a stored one. */
interface Details {
  readonly fields: TargetAddress['fields']
  readonly isStored: boolean
}

/** A config may add details that travel as headers of the provider's, unless the request brought it and the credential would act for others; details that decide where a stored credential goes are stored with it. */
function withDetails({ credential, slug }: ProviderView, { fieldHeaders = {} }: Provider, { fields, isStored }: Details): Credential {
  if (fields === noFields || Object.keys(fields).length === 0) return credential
  const mayAdd = (name: string): boolean => Object.hasOwn(fieldHeaders, name) && (isStored || !isActingHeader(fieldHeaders[name] ?? ''))
  const other = Object.keys(fields).find((name) => !mayAdd(name))
  if (other === undefined) return { ...credential, fields: { ...credential.fields, ...fields } }
  throw new ApiError('invalid_request', `${other} is stored with the provider @${slug}; a config that uses it cannot set it too.`, {
    param: other,
  })
}

const scopeOf = (key: KeyView) => ({ organisationId: key.organisationId, workspaceId: key.workspaceId })

function assertUsable(view: ProviderView, { slug, param }: Reference): void {
  if (!view.allowed)
    throw new ApiError(
      'forbidden',
      `This workspace has no access to the integration of the provider @${slug}. An administrator gives it.`,
      { param },
    )
  if (view.status === 'expired' || (view.expiresAt !== null && view.expiresAt <= Date.now()))
    throw new ApiError('forbidden', `The provider @${slug} has expired.`, { param })
}

/** A stored credential goes to the host stored with it and nowhere else; the caller cannot change that. */
function assertSameHost({ customHost }: TargetAddress, view: ProviderView, provider: Provider): void {
  if (customHost === null) return
  const allowed = view.customHost ?? provider.baseUrl
  if (allowed === null || !sameUrl(customHost.url, allowed))
    throw new ApiError(
      'blocked_host',
      `A stored credential is only sent to the host stored with it. Leave ${customHost.param} out, or store the host with the provider.`,
      { param: customHost.param },
    )
}

const normalUrl = (text: string): string => (URL.canParse(text) ? new URL(text).href.replace(/\/$/, '') : text)
const sameUrl = (a: string, b: string): boolean => normalUrl(a) === normalUrl(b)

type GivenAddressing = TargetAddress & { readonly provider: NonNullable<TargetAddress['provider']> }

function given(request: TargetRequest, addressing: GivenAddressing): Target {
  const { id, param } = addressing.provider
  const { headers, caller, model, config } = request
  const { customHost, fields } = addressing
  const provider = catalogRow(request, { id, param })
  assertServed(provider, { id, param, host: customHost })
  if (customHost === null && provider.baseUrl === null)
    throw new ApiError('missing_provider', `The provider ${id} has no host of its own. Send x-service-custom-host with its URL.`, {
      param: 'x-service-custom-host',
    })
  const credential = addressing.credential ?? callerCredential(headers, caller, { provider, fields, atLeast: request.atLeast })
  demandLevel(credential.fields, request.atLeast)
  if (credential.key === null && customHost === null && needsKey(provider)) throw noCredential(id)
  return {
    providerId: id,
    provider,
    view: null,
    credential,
    secrets: null,
    storedBy: null,
    isCallers: !holdsCredential(addressing),
    customHost,
    customHeaders: noFields,
    namedBy: namesHost(config, customHost) ? 'stored' : 'request',
    model,
    modelRewritten: false,
    skipsPtuCost: skipsPtuCost(request),
  }
}

/** Returns true if a stored config names the host. */
const namesHost = (config: TargetRequest['config'], customHost: TargetAddress['customHost']): boolean =>
  config !== null && config.slug !== null && config.customHost !== null && config.customHost === customHost?.url

const skipsPtuCost = ({ config }: TargetRequest): boolean => config?.skipsPtuCost ?? false

const mapsKey = ({ secrets }: ProviderView): boolean => secrets?.some(({ field }) => field === keyField) ?? false

const needsKey = (provider: Provider): boolean => provider.auth.kind === 'bearer' || provider.auth.kind === 'header'

interface CredentialContext {
  readonly provider: Provider
  readonly fields: TargetAddress['fields']
  readonly atLeast: TargetRequest['atLeast']
}

interface EarlyValue {
  readonly field: string
  readonly value: string
  readonly release: string
}

/** A detail that the level does not have, or a value of it. */
function tooEarly(name: string, { field, value, release }: EarlyValue): ApiError {
  const param = `x-service-${name}`
  const what = releaseOfField(field, '') === null ? `${param}: ${value}` : param
  return new ApiError('invalid_request', `${what} comes with release ${release}, which is above the level of this installation.`, { param })
}

/** Throws when a detail is given beside another, and the level does not have it there. */
function demandLevel(fields: Credential['fields'], atLeast: TargetRequest['atLeast']): void {
  const later = laterBeside(fields, atLeast)
  if (later === null) return
  const { name, release, beside } = later
  const said = `${name} comes with release ${release} beside ${beside}, and this installation is at an earlier level.`
  throw new ApiError('invalid_request', said, { param: name })
}

/** The caller's own credential: the first header that holds one, no key of ours; and the detail headers as fields. */
function callerCredential(
  { service, keys }: CallerHeaders,
  { holdsOwnKey }: Caller,
  { provider, fields: details, atLeast }: CredentialContext,
): Credential {
  const { 'x-api-key': xApiKey, 'api-key': apiKey, 'x-goog-api-key': googleKey } = keys
  const authorization = holdsOwnKey(keys.authorization ?? '') ? undefined : keys.authorization
  const native = provider.auth.kind === 'azure' ? [apiKey] : [googleKey, xApiKey, apiKey]
  const sent = [bearerToken(authorization), otherScheme(authorization), ...native]
  const key = sent.find((value) => value !== undefined && value !== '' && value !== placeholder && !holdsOwnKey(value)) ?? null
  const fields: Record<string, string> = {}
  for (const [name, value] of service) {
    if (reserved.has(name)) continue
    const field = name.replaceAll('-', '_')
    const release = releaseOfField(field, value)
    if (release !== null && !atLeast(release)) throw tooEarly(name, { field, value, release })
    fields[field] = value
  }
  return { key, fields: details === noFields ? fields : { ...fields, ...details } }
}

/** `Authorization: Key abc` and the like: the part behind the scheme. An empty `Bearer`, as of an unset variable, is no key. */
function otherScheme(authorization: string | undefined): string | undefined {
  if (authorization === undefined || bearerToken(authorization) !== undefined) return undefined
  if (/^bearer *$/i.test(authorization)) return undefined
  return authorization.split(' ')[1] ?? authorization
}

/** Our own headers that are no detail of the provider. */
const reserved = new Set([
  'api-key',
  'provider',
  'virtual-key',
  'config',
  'custom-host',
  'forward-headers',
  'sensitive-headers',
  'metadata',
  'trace-id',
  'span-id',
  'parent-span-id',
  'span-name',
  'cache-namespace',
  'cache-force-refresh',
  'request-timeout',
  'strict-open-ai-compliance',
  'strict-translation',
  'debug',
  'explain',
  'fetch-integrated-models',
  'cache',
  'cache-ttl',
  'retry-count',
  'mode',
  'package-version',
  'runtime',
  'runtime-version',
  'runtime-arch',
  'runtime-os',
])

function catalogRow({ atLeast }: TargetRequest, { id, param }: NamedProvider): Provider {
  const provider = findProvider(id)
  if (provider === null)
    throw new ApiError(
      'unknown_provider',
      `The provider ${JSON.stringify(id.slice(0, 60))} is not in the catalogue.${meantSentence(id)} A stored provider is named with @, as in @my-provider.`,
      { param },
    )
  if (provider.since !== undefined && !atLeast(provider.since))
    throw new ApiError(
      'unknown_provider',
      `The provider ${id} comes with release ${provider.since}, which is above the level of this installation.`,
      { param },
    )
  return provider
}

interface NamedProvider {
  readonly id: string
  readonly param: string
}

/** Rejects with the error of a request that names no provider. */
async function refuseUnnamed(request: TargetRequest): Promise<never> {
  const { model, caller, snapshot, headers } = request
  const isStored = async (slug: string) => slugPattern.test(slug) && (await snapshot.provider(scopeOf(caller.key), slug)) !== null
  throw await noProvider({ model, headers, isStored })
}
