import { parseJsonPath, type Step } from '../../lib/json/json-path.ts'
import { compileInline, type Guardrail } from '../checks/guardrail.ts'
import type { InlineGuardrail } from '../checks/guardrail.schema.ts'
import { compileLeaf, compilePlan, isAddress } from './compile-plan.ts'
import { configsWithin, type GatewayConfig, type GuardrailReference } from './config.schema.ts'
import type { Leaf, Plan } from '../targets/plan.ts'
import { providerFieldsOf, skipPtuField } from '../providers/provider-fields.ts'

export type Parameters = Readonly<Record<string, unknown>>

/** Changes of a config to a body's parameters. */
export interface BodyChanges {
  /** Set in place of the caller's own. */
  readonly override: Parameters
  /** Set where the caller sent none. */
  readonly fallback: Parameters
  readonly drop: readonly (readonly Step[])[]
}

/** The rule for cached answers. */
export interface CacheRule {
  readonly maxAgeMs: number
  /** Null: only to equal requests. */
  readonly semantic: SemanticRule | null
}

/** How alike two requests must be for one answer. */
export interface SemanticRule {
  /** The least cosine of two texts; null: the installation's. */
  readonly threshold: number | null
  /** Null: the installation's. */
  readonly maxTemperature: number | null
  /** True: also requests with tools, or with images and other media. Parts that are no text must be equal. */
  readonly tools: boolean
  readonly media: boolean
}

/** A target that gets copies of requests, whose answers are only logged. */
export interface MirrorRule {
  readonly target: TargetFields
  /** 0 to 1. */
  readonly share: number
  /** True if copies count for the limits and budgets of the caller. */
  readonly billed: boolean
  /** True if the target has an address of its own, so that no header of the caller that names or opens another goes there. */
  readonly elsewhere: boolean
}

/** The fields of one target, with those around it merged in. */
export interface TargetFields {
  /** The place in the config: `config`, or `config.targets[0]`. */
  readonly option: string
  /** A row of the catalogue, or `@slug`. */
  readonly provider: string | null
  readonly virtualKey: string | null
  /** The prompt that makes chat completions of requests: `id`, `id@latest`, `id@12` or `id@label`. */
  readonly promptId: string | null
  readonly apiKey: string | null
  readonly customHost: string | null
  /** Details of the provider, as a credential's fields. */
  readonly fields: Readonly<Record<string, string>>
  /** Headers that go on although they may hold a credential, in lower case. */
  readonly forwardHeaders: ReadonlySet<string>
  readonly requestTimeoutMs: number | null
  /** The longest wait for the first token of a stream, or for the head of any other answer. */
  readonly firstTokenTimeoutMs: number | null
  readonly changes: BodyChanges | null
  /** Null: no answer is kept. */
  readonly cache: CacheRule | null
  /** Null: no request is copied. */
  readonly mirror: MirrorRule | null
  /** Slugs or ids of stored guardrails, and guardrails of the config itself. */
  readonly inputGuardrails: readonly (string | Guardrail)[]
  readonly outputGuardrails: readonly (string | Guardrail)[]
  /** True when answers keep strictly to the OpenAI format; null: the request decides. */
  readonly strictOpenAiCompliance: boolean | null
  /** True when the list of models is that of all stored providers, and not that of the target. */
  readonly fetchIntegratedModels: boolean
  /** True when usage that the provider reports as provisioned throughput is free. */
  readonly skipsPtuCost: boolean
  /** True when a translation drops no steering field. */
  readonly strictTranslation: boolean
}

/** A config that is ready for use. */
export interface ActiveConfig {
  /** The part that this release stores and does not carry out; null when there is none. */
  readonly unsupported: string | null
  readonly plan: Plan<TargetFields>
  /** The config without its targets, for a request that names its target itself, and need not go by the config. */
  readonly alone: Leaf<TargetFields>
}

/**
 * Makes a checked config ready for use: once when it is loaded, not for each request. `owner` distinguishes configs, so that none shares breakers and
 * budgets with another.
 */
export const compileConfig = (config: GatewayConfig, owner = ''): ActiveConfig => ({
  unsupported: unsupportedParts(config)[0] ?? null,
  plan: compilePlan(config, { owner, toTarget }),
  alone: compileLeaf(config, { owner, toTarget }),
})

const toTarget = (config: GatewayConfig, option: string): TargetFields => ({
  ...toPlainTarget(config, option),
  mirror: mirrorRule(config, option),
})

/** Makes the rule of a mirror. Its requests are changed already, and so its target takes over where it goes alone. */
function mirrorRule(config: GatewayConfig, option: string): MirrorRule | null {
  const { mirror } = config
  if (mirror === undefined) return null
  const { target, share = 1, billed = true } = mirror
  const elsewhere = Object.keys(target).some(isAddress)
  const above = Object.entries(config).filter(([name]) => name === 'request_timeout' || (!elsewhere && isAddress(name)))
  return {
    target: toPlainTarget({ ...Object.fromEntries(above), ...target }, `${option}.mirror.target`),
    share,
    billed,
    elsewhere,
  }
}

/** Fields of providers may be texts, as headers are. */
const isTrue = (value: unknown): boolean => value === true || value === 'true'

const toPlainTarget = (config: GatewayConfig, option: string): TargetFields => ({
  option,
  provider: config.provider ?? null,
  virtualKey: config.virtual_key ?? null,
  promptId: config.prompt_id ?? null,
  apiKey: config.api_key ?? null,
  customHost: config.custom_host ?? null,
  fields: providerFieldsOf(config),
  forwardHeaders: new Set(config.forward_headers?.map((name) => name.toLowerCase())),
  requestTimeoutMs: config.request_timeout ?? null,
  firstTokenTimeoutMs: config.first_token_timeout ?? null,
  changes: bodyChanges(config),
  cache: cacheRule(config),
  mirror: null,
  inputGuardrails: guardrails(`${option}.input_guardrails`, config.input_guardrails, config.before_request_hooks),
  outputGuardrails: guardrails(`${option}.output_guardrails`, config.output_guardrails, config.after_request_hooks),
  strictOpenAiCompliance: config.strict_open_ai_compliance ?? null,
  fetchIntegratedModels: config.fetch_integrated_models ?? false,
  skipsPtuCost: isTrue(config[skipPtuField]),
  strictTranslation: config.strict_translation ?? false,
})

interface LaterPart {
  readonly part: string
  /** When a request is refused for it, for the guide. */
  readonly when: string
  readonly asksFor: (config: GatewayConfig) => boolean
}

/** Parts that a config may hold, and with which it cannot be used yet. */
export const laterParts: readonly LaterPart[] = []

/** Returns the parts of a config, and of the targets within it, that cannot be carried out. */
export const unsupportedParts = (config: GatewayConfig, option = 'config'): readonly string[] => [
  ...laterParts.filter(({ asksFor }) => asksFor(config)).map(({ part }) => `${option}.${part}`),
  ...configsWithin(config).flatMap(([at, inner]) => unsupportedParts(inner, `${option}.${at}`)),
]

function guardrails(
  place: string,
  named: readonly GuardrailReference[] = [],
  hooks: readonly InlineGuardrail[] = [],
): readonly (string | Guardrail)[] {
  const own = (entry: GuardrailReference, at: number) => (typeof entry === 'string' ? entry : compileInline(entry, `${place}[${at}]`))
  return [...named, ...hooks].map(own)
}

/** Seconds for which answers are kept by default. */
const defaultMaxAge = 604_800

const cacheRule = ({ cache }: GatewayConfig): CacheRule | null =>
  cache === undefined ? null : { maxAgeMs: (cache.max_age ?? defaultMaxAge) * 1000, semantic: semanticRule(cache) }

function semanticRule(rule: NonNullable<GatewayConfig['cache']>): SemanticRule | null {
  const { mode, similarity_threshold: threshold, max_temperature: maxTemperature, include = [] } = rule
  if (mode === 'simple') return null
  return {
    threshold: threshold ?? null,
    maxTemperature: maxTemperature ?? null,
    tools: include.includes('tools'),
    media: include.includes('media'),
  }
}

function bodyChanges({
  override_params: override = {},
  default_params: fallback = {},
  drop_params: drop = [],
}: GatewayConfig): BodyChanges | null {
  if (Object.keys(override).length + Object.keys(fallback).length + drop.length === 0) return null
  return { override, fallback, drop: drop.map((path) => parseJsonPath(path) ?? []) }
}
