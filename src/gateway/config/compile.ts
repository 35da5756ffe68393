import { parseJsonPath, type Step } from '../../lib/json/json-path.ts'
import { compileInline, type Guardrail } from '../checks/guardrail.ts'
import type { InlineGuardrail } from '../checks/guardrail.schema.ts'
import type { GatewayConfig, GuardrailReference } from './config.schema.ts'
import { providerFieldNames, providerFieldsOf } from './provider-fields.ts'

type Parameters = Readonly<Record<string, unknown>>

/** What a config makes of a body's parameters. */
export interface BodyChanges {
  /** Set, whatever the caller sent. */
  readonly override: Parameters
  /** Set where the caller sent nothing. */
  readonly fallback: Parameters
  readonly drop: readonly (readonly Step[])[]
}

/** How long answers may be given again. */
export interface CacheRule {
  readonly maxAgeMs: number
}

/** What a config makes of a request: its fields, with those of its only target merged in. */
export interface ActiveConfig {
  /** Where in the config this stands: `config`, or `config.targets[0]`. */
  readonly option: string
  /** The part that this release stores and does not carry out; null when there is none. */
  readonly unsupported: string | null
  /** A row of the catalogue, or `@slug`. */
  readonly provider: string | null
  readonly virtualKey: string | null
  readonly apiKey: string | null
  readonly customHost: string | null
  /** Details of the provider, as a credential's fields. */
  readonly fields: Readonly<Record<string, string>>
  /** Headers that go on although they may hold a credential, in lower case. */
  readonly forwardHeaders: ReadonlySet<string>
  readonly requestTimeoutMs: number | null
  readonly changes: BodyChanges | null
  /** Null: no answer is kept. */
  readonly cache: CacheRule | null
  /** Slugs or ids of stored guardrails, and guardrails of the config itself. */
  readonly inputGuardrails: readonly (string | Guardrail)[]
  readonly outputGuardrails: readonly (string | Guardrail)[]
  /** Whether answers keep strictly to the OpenAI format; null: as the request says. */
  readonly strictOpenAiCompliance: boolean | null
}

/** Makes a checked config ready for use: once when it is loaded, not for each request. */
export function compileConfig(config: GatewayConfig): ActiveConfig {
  const { merged, option, unsupported } = onlyTarget(config, 'config')
  return {
    option,
    unsupported,
    provider: merged.provider ?? null,
    virtualKey: merged.virtual_key ?? null,
    apiKey: merged.api_key ?? null,
    customHost: merged.custom_host ?? null,
    fields: providerFieldsOf(merged),
    forwardHeaders: new Set(merged.forward_headers?.map((name) => name.toLowerCase())),
    requestTimeoutMs: merged.request_timeout ?? null,
    changes: bodyChanges(merged),
    cache: cacheRule(merged),
    inputGuardrails: guardrails(`${option}.input_guardrails`, merged.input_guardrails, merged.before_request_hooks),
    outputGuardrails: guardrails(`${option}.output_guardrails`, merged.output_guardrails, merged.after_request_hooks),
    strictOpenAiCompliance: merged.strict_open_ai_compliance ?? null,
  }
}

interface Found {
  readonly merged: GatewayConfig
  readonly option: string
  readonly unsupported: string | null
}

/** Goes down as long as there is nothing to choose between. */
function onlyTarget(config: GatewayConfig, option: string): Found {
  const unsupported = unsupportedPart(config, option)
  const [target] = config.targets ?? []
  if (unsupported !== null || target === undefined) return { merged: config, option, unsupported }
  return onlyTarget(inherited(config, target), `${option}.targets[0]`)
}

interface LaterPart {
  readonly part: string
  /** When a request is refused for it, for the guide. */
  readonly when: string
  readonly asksFor: (config: GatewayConfig) => boolean
}

/** Routing, retries and caching are other steps of the pipeline than these: a config may hold them, and cannot be used with them yet. */
export const laterParts: readonly LaterPart[] = [
  {
    part: 'strategy',
    when: 'when there is something to choose: several targets, or the mode `conditional`',
    asksFor: ({ strategy, targets = [] }) => strategy?.mode === 'conditional' || targets.length > 1,
  },
  { part: 'retry', when: 'when `attempts` is more than 0', asksFor: ({ retry }) => (retry?.attempts ?? 0) > 0 },
  { part: 'cache', when: 'when its mode is `semantic`', asksFor: ({ cache }) => cache?.mode === 'semantic' },
  {
    part: 'cb_config',
    when: 'when it is given, in a strategy too',
    asksFor: ({ cb_config: breaker, strategy }) => breaker !== undefined || strategy?.cb_config !== undefined,
  },
  { part: 'prompt_id', when: 'when it is given', asksFor: ({ prompt_id: prompt }) => prompt !== undefined },
  { part: 'fetch_integrated_models', when: 'when it is true', asksFor: ({ fetch_integrated_models: models }) => models === true },
]

function unsupportedPart(config: GatewayConfig, option: string): string | null {
  const found = laterParts.find(({ asksFor }) => asksFor(config))
  return found === undefined ? null : `${option}.${found.part}`
}

/** Fields that belong to one credential; a target with a credential of its own takes none of them from above. */
const isAddress = (name: string): boolean =>
  name === 'provider' || name === 'virtual_key' || name === 'api_key' || name === 'custom_host' || providerFieldNames.has(name)

/** What is about the config itself, and not about what requests become. */
const ownOnly = new Set(['strategy', 'targets', 'name', 'weight'])

/** A target with what it takes over from the config around it. */
function inherited(config: GatewayConfig, target: GatewayConfig): GatewayConfig {
  const named = target.provider !== undefined || target.virtual_key !== undefined
  const passed = Object.entries(config).filter(([name]) => !ownOnly.has(name) && !(named && isAddress(name)))
  const override = { ...config.override_params, ...target.override_params }
  const fallback = { ...config.default_params, ...target.default_params }
  const drop = [...(config.drop_params ?? []), ...(target.drop_params ?? [])]
  return { ...Object.fromEntries(passed), ...target, override_params: override, default_params: fallback, drop_params: drop }
}

function guardrails(
  place: string,
  named: readonly GuardrailReference[] = [],
  hooks: readonly InlineGuardrail[] = [],
): readonly (string | Guardrail)[] {
  const own = (entry: GuardrailReference, at: number) => (typeof entry === 'string' ? entry : compileInline(entry, `${place}[${at}]`))
  return [...named, ...hooks].map(own)
}

/** Seconds for which answers are kept when the config does not say. */
const defaultMaxAge = 604_800

const cacheRule = ({ cache }: GatewayConfig): CacheRule | null =>
  cache === undefined ? null : { maxAgeMs: (cache.max_age ?? defaultMaxAge) * 1000 }

function bodyChanges({
  override_params: override = {},
  default_params: fallback = {},
  drop_params: drop = [],
}: GatewayConfig): BodyChanges | null {
  if (Object.keys(override).length + Object.keys(fallback).length + drop.length === 0) return null
  return { override, fallback, drop: drop.map((path) => parseJsonPath(path) ?? []) }
}
