import { ApiError } from '../../lib/errors.ts'
import type { ChosenConfig, TargetConfig } from '../config/choose.ts'
import { leavesOf } from './plan.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import { secretFields } from '../providers/fields.ts'
import type { Credential } from '../providers/provider.ts'

/** A stored provider by its slug, and the field that named it. */
export interface Reference {
  readonly slug: string
  readonly param: string
}

/** How a request names its target: by its headers, its model, or its config. */
export interface TargetAddress {
  /** A virtual key, or `@slug`. */
  readonly stored: Reference | null
  /** A row of the catalogue. */
  readonly provider: { readonly id: string; readonly param: string } | null
  readonly customHost: { readonly url: string; readonly param: string } | null
  /** The credential of a config; null: the caller's own. */
  readonly credential: Credential | null
  /** True when the config with the address is a stored one. */
  readonly isStored: boolean
  /** Details of the provider that a config gives. */
  readonly fields: Readonly<Record<string, string>>
}

const noFields: Readonly<Record<string, string>> = {}

/** `@slug/model` names the stored provider in the body itself. */
export interface ModelReference extends Reference {
  readonly model: string
}

/** The stored provider that a model names; null when it names none. */
export function modelReference(model: string | null): ModelReference | null {
  if (model === null || !model.startsWith('@')) return null
  const slash = model.indexOf('/')
  return slash < 2 || slash === model.length - 1 ? null : { slug: model.slice(1, slash), model: model.slice(slash + 1), param: 'model' }
}

/** The names of a target beside those in headers. */
export interface NamedOtherwise {
  readonly fromModel: ModelReference | null
  /** The provider of a prompt, in whose place no header puts another. */
  readonly promptProvider: string | null
}

/** How a request names its target. A config goes first when it was asked for, or is binding; else the request itself decides. */
export function addressingOf(headers: CallerHeaders, config: TargetConfig | null, named: NamedOtherwise): TargetAddress {
  const said = named.promptProvider === null ? saidInHeaders(headers, named.fromModel) : saidInPrompt(headers, named)
  if (config === null) return said
  const saidNothing = said.stored === null && said.provider === null
  if (!namesTarget(config)) return withDetails(config, said)
  return config.binding || saidNothing ? saidInConfig(config, said) : said
}

interface AddressSources {
  readonly headers: CallerHeaders
  readonly config: TargetConfig | null
  readonly course: ChosenConfig | null
}

/** Returns true if neither the headers nor the config of a request name its target, so that its model has to; of several, any of them. */
export function namesNoTarget({ headers, config, course }: AddressSources): boolean {
  const { stored, provider } = addressingOf(headers, config, { fromModel: null, promptProvider: null })
  if (stored !== null || provider !== null) return false
  return course === null || leavesOf(course.plan).some(({ target }) => !namesTarget(target))
}

/** A config that names no target may still have details of it. */
function withDetails(config: TargetConfig, said: TargetAddress): TargetAddress {
  const host = hostOf(config)
  return { ...said, customHost: config.binding ? (host ?? said.customHost) : (said.customHost ?? host), fields: config.fields }
}

function saidInHeaders({ service }: CallerHeaders, fromModel: ModelReference | null): TargetAddress {
  const named = present(service.get('provider'))
  const virtualKey = service.get('virtual-key') ?? ''
  const stored =
    virtualKey !== ''
      ? { slug: withoutAt(virtualKey), param: 'x-service-virtual-key' }
      : named?.startsWith('@')
        ? { slug: named.slice(1), param: 'x-service-provider' }
        : null
  const host = service.get('custom-host') ?? ''
  return {
    stored: stored ?? (named === null ? fromModel : null),
    provider: named === null || named.startsWith('@') ? null : { id: named, param: 'x-service-provider' },
    customHost: host === '' ? null : { url: host, param: 'x-service-custom-host' },
    credential: null,
    isStored: false,
    fields: noFields,
  }
}

/** An empty header, as of an unset variable, counts as absent. */
const present = (value: string | undefined): string | null => (value === undefined || value === '' ? null : value)

/** A prompt's own provider, unless the model names one. */
const saidInPrompt = (headers: CallerHeaders, { fromModel, promptProvider }: NamedOtherwise): TargetAddress => ({
  ...saidInHeaders(headers, null),
  stored: fromModel ?? { slug: withoutAt(promptProvider ?? ''), param: 'virtual_key' },
  provider: null,
})

const namesTarget = ({ provider, virtualKey, apiKey }: Pick<TargetConfig, 'provider' | 'virtualKey' | 'apiKey'>): boolean =>
  provider !== null || virtualKey !== null || apiKey !== null

function saidInConfig(config: TargetConfig, said: TargetAddress): TargetAddress {
  const isStored = config.slug !== null
  const credential = credentialOf(config)
  if (credential !== null && isStored) refuseOtherHost(config, said)
  const shared = { customHost: hostOf(config) ?? said.customHost, credential, isStored, fields: config.fields }
  const stored = referenceOf(config)
  if (stored !== null) return { ...shared, stored, provider: null }
  const { provider } = config
  return { ...shared, stored: null, provider: provider === null ? said.provider : { id: provider, param: paramOf(config, 'provider') } }
}

/** A stored provider that a config names. */
function referenceOf(config: TargetConfig): Reference | null {
  const { virtualKey, provider } = config
  if (virtualKey !== null) return { slug: withoutAt(virtualKey), param: paramOf(config, 'virtual_key') }
  return provider?.startsWith('@') === true ? { slug: withoutAt(provider), param: paramOf(config, 'provider') } : null
}

function credentialOf({ apiKey, fields }: TargetConfig): Credential | null {
  const keyed = apiKey !== null || Object.keys(fields).some((name) => secretFields.has(name))
  return keyed ? { key: apiKey, fields } : null
}

/** A stored credential goes where it was stored for. */
function refuseOtherHost({ customHost, slug }: TargetConfig, said: TargetAddress): void {
  if (said.customHost === null || said.customHost.url === customHost) return
  const message = `The credential of the config ${slug} is only sent to the host of the config. Leave ${said.customHost.param} out.`
  throw new ApiError('blocked_host', message, { param: said.customHost.param })
}

const hostOf = (config: TargetConfig) =>
  config.customHost === null ? null : { url: config.customHost, param: paramOf(config, 'custom_host') }

const paramOf = ({ option }: TargetConfig, field: string) => `${option}.${field}`

const withoutAt = (slug: string) => (slug.startsWith('@') ? slug.slice(1) : slug)
