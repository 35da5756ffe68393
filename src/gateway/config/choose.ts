import { hash } from 'node:crypto'
import { ApiError } from '../../lib/errors.ts'
import { parseJson } from '../../lib/json/json.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { joinFaults, schemaFaults, toIssues } from '../../lib/json/schema-faults.ts'
import { createWeighed } from '../../lib/collections/weighed.ts'
import { atLevel } from '../../release/at-level.ts'
import { type CheckUrl, inlineUrls } from '../checks/secrets.ts'
import { pathText } from '../../lib/json/json-path.ts'
import type { ConfigSource, ConfigView } from './config-source.ts'
import type { KeyView, RequestDefaults } from '../callers/key.ts'
import { type AllowedHosts, demandAllowed } from '../egress/allowed-hosts.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import { withPatterns } from '../patterns/pattern-making.ts'
import { type ActiveConfig, compileConfig, type TargetFields } from './compile.ts'
import { configsWithin, type GatewayConfig, gatewayConfig, unbilledMirrors } from './config.schema.ts'
import type { Leaf } from '../targets/plan.ts'

interface ConfigIdentity {
  /** Null for one that the request itself brought. */
  readonly slug: string | null
  /** The version of a stored config. */
  readonly version: number | null
  /** True if it goes before the request's own choice of its target: it was asked for, or may not be overridden. */
  readonly binding: boolean
  /** True if the key may use no other, so that the request may not loosen its bounds. */
  readonly locked: boolean
}

/** The config of a request, and how much it decides. */
export interface ChosenConfig extends ActiveConfig, ConfigIdentity {
  /** URLs that its own checks would call, when the request itself brought it. */
  readonly urls: readonly CheckUrl[]
}

/** The fields of one target, the config that they come from, and whether the config goes before the request (`binding`) or cannot be replaced (`locked`). */
export interface TargetConfig extends TargetFields, ConfigIdentity {}

/** Returns the settings of a chosen config for one of its targets. */
export const configOf = ({ slug, version, binding, locked: isLocked }: ConfigIdentity, { target }: Leaf<TargetFields>): TargetConfig => ({
  ...target,
  slug,
  version,
  binding,
  locked: isLocked,
})

/** Returns the target of a config without choices and retries; null for any other. */
export const onlyTry = ({ plan }: ActiveConfig): Leaf<TargetFields> | null =>
  plan.kind === 'leaf' && plan.retry === null && plan.breaker === null && plan.target.firstTokenTimeoutMs === null ? plan : null

/** Lets the installation and the organisation check the hosts that the checks of a request's own config would call. Throws `blocked_host`. */
export function demandInlineHosts(
  { urls }: ChosenConfig,
  { allowedHosts }: { readonly allowedHosts: AllowedHosts | null },
  key: KeyView,
): void {
  for (const { path, url } of urls) {
    const host = { url, param: pathText(path), by: 'request' } as const
    demandAllowed(host, allowedHosts, 'ALLOWED_CUSTOM_HOSTS')
    demandAllowed(host, key.allowedHosts, 'the organisation (settings.allowed_custom_hosts)')
  }
}

export interface ChooseDeps {
  readonly snapshot: ConfigSource
  /** The release whose fields a config may have. */
  readonly level: () => string
}

const header = 'x-service-config'

/**
 * The config that a request asks for, by slug or as JSON, else the one that its key starts from; null when there is neither. Throws
 * `invalid_request`, `forbidden` for a config that the key or its workspace does not allow, `not_implemented` for one that no request can use yet.
 */
export function chooseConfig(headers: CallerHeaders, key: KeyView, deps: ChooseDeps): MaybePromise<ChosenConfig | null> {
  const asked = headers.service.get('config') ?? ''
  const { defaults } = key
  const given = defaults === null || defaults.config === null ? null : { reference: defaults.config, locked: defaults.configLocked }
  if (asked === '') return given === null ? null : settled(stored(key, given.reference, deps), (view) => started(view, given))
  if (defaults?.configLocked !== true)
    return asked.trimStart().startsWith('{') ? settled(inline(asked, key, deps), usable) : askedFor(asked, key, deps)
  if (given === null) throw bound('no config, as long as its workspace has no default')
  return settled(stored(key, given.reference, deps), (view) => locked(view, asked, given.reference))
}

function askedFor(slug: string, key: KeyView, deps: ChooseDeps): MaybePromise<ChosenConfig> {
  return settled(stored(key, slug, deps), (view) => {
    if (view === null) throw unknownConfig(slug)
    return chosen(view, { binding: true, locked: false })
  })
}

function started(view: ConfigView | null, { reference, locked: isLocked }: { reference: string; locked: boolean }): ChosenConfig {
  if (view === null) throw goneDefault(reference)
  return chosen(view, { binding: isLocked, locked: isLocked })
}

/** The default is all that this key may use; to name it is no harm. */
function locked(view: ConfigView | null, asked: string, reference: string): ChosenConfig {
  if (view === null) throw goneDefault(reference)
  if (asked === view.slug || asked === view.id) return chosen(view, { binding: true, locked: true })
  throw bound(`the config ${JSON.stringify(view.slug)}`)
}

const chosen = ({ active, slug, version }: ConfigView, standing: Pick<ConfigIdentity, 'binding' | 'locked'>): ChosenConfig =>
  usable({ ...active, slug, version, urls: [], ...standing })

const bound = (what: string) => new ApiError('forbidden', `This API key is bound to ${what}. Leave ${header} out.`, { param: header })

const stored = ({ organisationId, workspaceId }: KeyView, reference: string, { snapshot }: ChooseDeps) =>
  snapshot.config({ organisationId, workspaceId }, reference)

const MiB = 1024 * 1024
/**
 * Clients send the same config with every request; it is kept by its text once it came again, as long as the level stays: configs that are always new
 * are never kept.
 */
const checked = createWeighed<{ readonly release: string; readonly config: ChosenConfig }>({ most: 32 * MiB, mostOfOne: 8 * MiB })
/** The texts that came once, by hash. */
const seen = createWeighed<true>({ most: 10_000, mostOfOne: 10_000 })

/** The bytes that are made of each character of a text, about. */
const perCharacter = 10

function inline(text: string, { organisationId, workspaceId, settings }: KeyView, { level }: ChooseDeps): MaybePromise<ChosenConfig> {
  if (settings.block_inline_config)
    throw new ApiError('forbidden', `Configs in ${header} are not allowed here. Store the config, and send its slug.`, { param: header })
  const release = level()
  const place = `${workspaceId} ${text}`
  const known = checked.get(organisationId, place)
  if (known?.release === release) return known.config
  const json = parsedHeader(text)
  const passing = isNew(organisationId, text)
  return settled(
    withPatterns({ owner: organisationId, passing }, () => toChosen(json, release, `${organisationId} ${workspaceId}`)),
    ({ result: config, bytes }) => {
      if (!passing) checked.set(organisationId, place, { value: { release, config }, weight: text.length * perCharacter + bytes })
      return config
    },
  )
}

function isNew(organisationId: string, text: string): boolean {
  const key = hash('sha256', text, 'base64')
  const known = seen.get(organisationId, key) === true
  if (!known) seen.set(organisationId, key, { value: true, weight: 1 })
  return !known
}

function toChosen(json: unknown, release: string, owner: string): ChosenConfig {
  const parsed = parseGiven(atLevel(gatewayConfig, release, 'request'), json)
  if (parsed.success) {
    refuseUnbilled(parsed.data)
    return { ...compileConfig(parsed.data, owner), slug: null, version: null, urls: ownUrls(parsed.data), binding: true, locked: false }
  }
  const faults = schemaFaults(parsed.error, { value: json, above: 'config', whole: 'config' })
  const said = joinFaults(faults.map(({ param, message }) => `${param}: ${message}`))
  const [first] = faults
  const details = { issues: toIssues(faults) }
  throw new ApiError('invalid_request', `The config in ${header} is not valid: ${said}.`, { param: first?.param ?? 'config', details })
}

/** Only those who may change budgets decide that copies are free of them. */
function refuseUnbilled(config: GatewayConfig): void {
  const [path] = unbilledMirrors(config)
  if (path === undefined) return
  const message = `Only a stored config may leave the copies of a mirror out of budgets. Take "billed": false out, or store the config and send its slug.`
  throw new ApiError('invalid_request', message, { param: `config.${path}` })
}

const guardrailFields = ['input_guardrails', 'output_guardrails', 'before_request_hooks', 'after_request_hooks'] as const

const ownUrls = (config: GatewayConfig): readonly CheckUrl[] => [
  ...guardrailFields.flatMap((name) => (config[name] ?? []).flatMap((guardrail, at) => inlineUrls(guardrail, [name, at]))),
  ...configsWithin(config).flatMap(([, inner]) => ownUrls(inner)),
]

/** Header values are latin1 on the wire, and clients put UTF-8 into them. */
function parsedHeader(text: string): unknown {
  try {
    return parseJson(Buffer.from(text, 'latin1'))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError('invalid_request', error.message.replace('The request body', `The config in ${header}`), {
      param: header,
      cause: error,
    })
  }
}

function usable(config: ChosenConfig): ChosenConfig {
  if (config.unsupported === null) return config
  throw new ApiError('not_implemented', `This release stores ${config.unsupported} and cannot carry it out yet. Use a config without it.`, {
    param: config.unsupported,
  })
}

const unknownConfig = (slug: string) =>
  new ApiError('invalid_request', `There is no config ${JSON.stringify(slug.slice(0, 60))} in this workspace.`, { param: header })

const goneDefault = (reference: string) =>
  new ApiError('invalid_request', `The config ${JSON.stringify(reference)}, which this API key starts from, does not exist any more.`, {
    param: header,
  })

/** Returns whether a request may have a config at all; asked of every request. */
export const mayHaveConfig = (headers: CallerHeaders, { defaults }: { readonly defaults: RequestDefaults | null }): boolean =>
  defaults !== null || headers.service.has('config')
