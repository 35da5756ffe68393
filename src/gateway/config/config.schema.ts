import { z } from 'zod'
import { toReference } from '../../lib/is-uuid.ts'
import { headerName } from '../../lib/text/header-fields.ts'
import { parseJsonPath } from '../../lib/json/json-path.ts'
import type { Phase } from '../checks/check.ts'
import { checksOf, hook, idleIn, type InlineGuardrail, inlineGuardrail, phasesOf } from '../checks/guardrail.schema.ts'
import { findProvider, laterProviders } from '../providers/catalog.ts'
import { meantSentence } from '../providers/meant-provider.ts'
import { valuesSince } from '../../release/since.ts'
import { asBrought, providerFieldNames, secretConfigFields, skipPtuField, unreadFieldNames } from '../providers/provider-fields.ts'
import { breaker, cache, mirrorShare, retry, strategy } from './strategy.schema.ts'
import { secretField } from '../../lib/json/secret-fields.ts'
import { namesNoUser, userFault } from '../../lib/text/url-user.ts'

/** A guardrail of a config: the slug of a stored one, or the checks themselves. */
export type GuardrailReference = string | InlineGuardrail

/** A gateway config, as it is stored and as `x-service-config` carries it; besides these fields those of the providers. */
export interface GatewayConfig {
  readonly [providerField: string]: unknown
  readonly name?: string | undefined
  readonly weight?: number | undefined
  readonly strategy?: z.output<typeof strategy> | undefined
  readonly targets?: readonly GatewayConfig[] | undefined
  readonly mirror?: MirrorConfig | undefined
  readonly provider?: string | undefined
  readonly api_key?: string | undefined
  readonly virtual_key?: string | undefined
  readonly prompt_id?: string | undefined
  readonly custom_host?: string | undefined
  readonly forward_headers?: readonly string[] | undefined
  readonly retry?: z.output<typeof retry> | undefined
  readonly cache?: z.output<typeof cache> | undefined
  readonly cb_config?: z.output<typeof breaker> | undefined
  readonly request_timeout?: number | undefined
  readonly first_token_timeout?: number | undefined
  readonly override_params?: Readonly<Record<string, unknown>> | undefined
  readonly default_params?: Readonly<Record<string, unknown>> | undefined
  readonly drop_params?: readonly string[] | undefined
  readonly input_guardrails?: readonly GuardrailReference[] | undefined
  readonly output_guardrails?: readonly GuardrailReference[] | undefined
  readonly before_request_hooks?: readonly z.output<typeof hook>[] | undefined
  readonly after_request_hooks?: readonly z.output<typeof hook>[] | undefined
  readonly strict_open_ai_compliance?: boolean | undefined
  readonly strict_translation?: boolean | undefined
  readonly passthrough?: boolean | undefined
  readonly fetch_integrated_models?: boolean | undefined
}

/** Copies of requests for a target whose answers are only logged. */
export interface MirrorConfig {
  readonly target: GatewayConfig
  readonly share?: number | undefined
  readonly billed?: boolean | undefined
}

/** Returns the configs that stand in another, each with its path there. */
export const configsWithin = ({ targets = [], mirror }: GatewayConfig): readonly (readonly [path: string, config: GatewayConfig])[] => [
  ...targets.map((target, at) => [`targets[${at}]`, target] as const),
  ...(mirror === undefined ? [] : [['mirror.target', mirror.target] as const]),
]

/** Returns the paths of the mirrors of a config whose copies count for no budget of the caller. */
export const unbilledMirrors = (config: GatewayConfig): readonly string[] => [
  ...(config.mirror?.billed === false ? ['mirror.billed'] : []),
  ...configsWithin(config).flatMap(([path, inner]) => unbilledMirrors(inner).map((found) => `${path}.${found}`)),
]

/** A name, a setting or a credential: plain ASCII on one line, since it ends up in a URL, a header or a signature. */
const line = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x20-\x7e]*$/, 'Only ASCII characters on one line are allowed.')

const url = line
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'This is not an http or https URL.')
  .refine(namesNoUser, userFault)

const storedSlug = /^@[a-zA-Z0-9_-]{1,255}$/
const provider = valuesSince(
  laterProviders,
  line.refine((name) => storedSlug.test(name) || findProvider(name) !== null, {
    error: ({ input }) =>
      `There is no such provider in the catalogue.${meantSentence(String(input))} A stored one is named with @, as in @my-provider.`,
  }),
)
const slug = z.string().regex(/^@?[a-zA-Z0-9_-]{1,255}$/, 'This is no slug: letters, digits, _ and - only.')
const bodyPath = z
  .string()
  .max(1000)
  .refine((text) => parseJsonPath(text) !== null, 'This is no path: write tools[*].function.strict.')
const parameters = z.record(z.string().min(1).max(255), z.unknown())
const guardrailSlug = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,255}$/, 'This is no slug: letters, digits, _ and - only.')
  .overwrite(toReference)
const guardrails = (when: string) =>
  z
    .array(z.union([guardrailSlug, inlineGuardrail]))
    .max(50)
    .optional()
    .meta({ description: `Guardrails ${when} the call: slugs of stored guardrails, or inline guardrails.` })
const hooks = (when: string) =>
  z
    .array(hook)
    .max(50)
    .optional()
    .meta({ description: `Guardrails ${when} the call, in the form of older configs.` })

const ownFields = {
  name: z.string().min(1).max(255).optional().meta({ description: 'The name of the target, for conditions and for `last-used-option`.' }),
  weight: z.number().min(0).max(1_000_000).optional().meta({ description: 'Its share of the requests with `loadbalance`; 1 by default.' }),
  strategy: strategy.optional().meta({ description: 'The way to choose one of several targets.' }),
  provider: provider.optional().meta({ description: 'A provider of the catalogue, or a stored provider: `@slug`.' }),
  api_key: secretField(line).optional().meta({ description: 'The key for that provider.' }),
  virtual_key: slug.optional().meta({ description: 'A stored provider by its slug, as older configs name it.' }),
  prompt_id: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'The prompt that makes chat completions of requests: an id or slug, also with `@latest`, `@12` or `@label`.' }),
  custom_host: url.optional().meta({ description: 'The base URL of the provider. A stored credential never goes there.' }),
  forward_headers: z.array(headerName).max(100).optional().meta({
    description:
      'Headers of the caller that the provider gets although they may contain a credential or, beside a stored one, choose the payer.',
  }),
  retry: retry.optional().meta({ description: 'The number of retries of a call.' }),
  cache: cache.optional().meta({ description: 'The cache for answers.' }),
  cb_config: breaker.optional().meta({ description: 'The circuit breaker: when a failing target gets no requests for a while.' }),
  request_timeout: z
    .int()
    .min(1)
    .max(999_999_999)
    .optional()
    .meta({ description: 'The maximum time in milliseconds until the answer begins.' }),
  first_token_timeout: z
    .int()
    .min(1)
    .max(999_999_999)
    .optional()
    .meta({ description: 'The maximum time in milliseconds until the first token of a stream.' }),
  override_params: parameters.optional().meta({ description: 'Parameters of the body that replace those of the caller.' }),
  default_params: parameters.optional().meta({ description: 'Parameters of the body that apply if the caller sends none.' }),
  drop_params: z
    .array(bodyPath)
    .max(100)
    .optional()
    .meta({ description: 'Paths that are removed from the body: `tools[*].function.strict`.' }),
  input_guardrails: guardrails('before'),
  output_guardrails: guardrails('after'),
  before_request_hooks: hooks('before'),
  after_request_hooks: hooks('after'),
  strict_open_ai_compliance: z
    .boolean()
    .optional()
    .meta({ description: 'True: answers strictly follow the OpenAI format, without events of the gateway in streams.' }),
  strict_translation: z.boolean().optional().meta({
    description:
      'True: a field that only steers, and has no place in the format of the provider, is refused in place of being dropped. The header `x-service-strict-translation` goes before it, unless the key may use no other config.',
  }),
  passthrough: z
    .boolean()
    .optional()
    .meta({ description: 'True: requests are sent unchanged; not together with targets, parameters or guardrails.' }),
  fetch_integrated_models: z.boolean().optional().meta({ description: 'True: lists of models are those of the integrations.' }),
}

const longText = z.string().min(1).max(20_000)
const fieldTypes: Readonly<Record<string, z.ZodType>> = {
  vertex_service_account_json: z.union([longText, z.record(z.string(), z.unknown())]),
  oracle_private_key: longText,
  azure_entra_client_certificate: longText,
  azure_foundry_url: url,
  huggingface_base_url: url,
  vertex_skip_ptu_cost_attribution: z.union([z.boolean(), line]),
}

const hidden = (name: string, schema: z.ZodType): z.ZodType => (secretConfigFields.has(name) ? secretField(schema) : schema)

const providerFields = Object.fromEntries(
  [...providerFieldNames, ...unreadFieldNames, skipPtuField].map((name) => [
    name,
    hidden(name, asBrought(name, { type: fieldTypes[name] ?? line, text: line })).optional(),
  ]),
)

/** Fields that have no effect on requests by themselves. */
const idle = new Set(['name', 'weight', 'strict_open_ai_compliance', skipPtuField, ...unreadFieldNames])

const notWithPassthrough = [
  'strategy',
  'targets',
  'override_params',
  'default_params',
  'drop_params',
  'input_guardrails',
  'output_guardrails',
  'before_request_hooks',
  'after_request_hooks',
]

/** The most targets of one level. */
const maxTargets = 100

/** Checks a config, targets within targets included. Issues carry the path of the field. */
export const gatewayConfig: z.ZodType<GatewayConfig> = z
  .strictObject({
    ...providerFields,
    ...ownFields,
    get targets() {
      return z
        .array(gatewayConfig)
        .min(1)
        .max(maxTargets)
        .optional()
        .meta({ description: 'Configs within this one, from which the strategy chooses; they inherit the fields that they do not set.' })
    },
    get mirror() {
      return z
        .strictObject({ target: gatewayConfig, ...mirrorShare })
        .optional()
        .meta({ description: 'Sends copies of requests to a further target, whose answers are only logged.' })
    },
  })
  .superRefine((config: GatewayConfig, context) => {
    for (const [path, message] of faultsOf(config)) context.addIssue({ code: 'custom', path: [...path], message })
  })
  .meta({
    id: 'GatewayConfig',
    description: 'How a request is changed before it is sent: its target, credential, parameters, timeouts and guardrails.',
  })

type Fault = readonly [path: readonly (string | number)[], message: string]

function faultsOf(config: GatewayConfig): readonly Fault[] {
  const meaningful = Object.entries(config).some(([name, value]) => value !== undefined && !idle.has(name))
  if (!meaningful) return [[[], 'The config has no effect: give at least a provider, targets, parameters or guardrails.']]
  return [...strategyFaults(config), ...passthroughFaults(config), ...guardrailFaults(config), ...mirrorFaults(config)]
}

function strategyFaults({ strategy: chosen, targets }: GatewayConfig): readonly Fault[] {
  if (chosen === undefined) return targets === undefined ? [] : [[['strategy'], 'Targets need a strategy.']]
  if (targets === undefined) return [[['targets'], 'A strategy needs targets.']]
  if (leavesOf(targets) > mostTargets)
    return [[['targets'], `There are more than ${mostTargets} targets in all, each within others counted.`]]
  if (chosen.mode === 'single' && targets.length > 1) return [[['targets'], 'The strategy single takes one target.']]
  if (chosen.mode === 'loadbalance' && targets.every(({ weight = 1 }) => weight === 0))
    return [[['targets'], 'The weights of all targets are 0, so that none would ever be chosen.']]
  return [...(chosen.mode === 'conditional' ? sharedNames(targets) : []), ...unknownNames(chosen, targets)]
}

/** One request may be sent to each of them. */
const mostTargets = 100

const leavesOf = (targets: readonly GatewayConfig[]): number =>
  targets.reduce((sum, { targets: inner }) => sum + (inner === undefined ? 1 : leavesOf(inner)), 0)

/** A conditional strategy chooses by name, so that each name must stand for one target. */
function sharedNames(targets: readonly GatewayConfig[]): readonly Fault[] {
  const names = targets.map(({ name }) => name)
  return names.flatMap((name, at): readonly Fault[] =>
    name !== undefined && names.indexOf(name) !== at ? [[['targets', at, 'name'], 'Another target has this name.']] : [],
  )
}

/** In any mode, a field that names a target names an existing one. */
function unknownNames(chosen: z.output<typeof strategy>, targets: readonly GatewayConfig[]): readonly Fault[] {
  const unknown = (wanted: string | undefined) => wanted !== undefined && targets.every(({ name }) => name !== wanted)
  return [
    ...(chosen.conditions ?? []).flatMap(({ then }, at): readonly Fault[] =>
      unknown(then) ? [[['strategy', 'conditions', at, 'then'], 'No target has this name.']] : [],
    ),
    ...(unknown(chosen.default) ? [[['strategy', 'default'], 'No target has this name.'] as const] : []),
  ]
}

function passthroughFaults(config: GatewayConfig): readonly Fault[] {
  if (config.passthrough !== true) return []
  return notWithPassthrough
    .filter((name) => config[name] !== undefined)
    .map((name): Fault => [[name], 'A config with passthrough makes no changes: take one of the two out.'])
}

/** The fields by which the target of a mirror sets the destination of copies, and their changes. */
const mirrorFields: ReadonlySet<string> = new Set([
  'name',
  'provider',
  'virtual_key',
  'api_key',
  'custom_host',
  'forward_headers',
  'request_timeout',
  'override_params',
  'default_params',
  'drop_params',
  ...providerFieldNames,
])

const credentials = ['virtual_key', 'api_key', ...secretConfigFields]

function* mirrorFaults({ mirror }: GatewayConfig): Generator<Fault> {
  if (mirror === undefined) return
  const { target } = mirror
  for (const [name, value] of Object.entries(target))
    if (value !== undefined && !mirrorFields.has(name))
      yield [['mirror', 'target', name], 'The target of a mirror only sets the destination of copies, and their changes: take this out.']
  const { provider: named, custom_host: host } = target
  const isOther = (named !== undefined && !named.startsWith('@')) || host !== undefined
  if (isOther && credentials.every((name) => target[name] === undefined))
    yield [
      ['mirror', 'target'],
      'The credential of the caller goes to no mirror: name a stored provider (@slug) or a virtual_key, or give an api_key.',
    ]
}

/** The fields of a config that hold guardrails, by the phase in which they run. */
const listsOf = {
  input: ['input_guardrails', 'before_request_hooks'],
  output: ['output_guardrails', 'after_request_hooks'],
} as const satisfies Readonly<Record<Phase, readonly (keyof GatewayConfig)[]>>

/** A guardrail of the config's own has something to do where it stands, and shares its id with no other. */
const guardrailFaults = (config: GatewayConfig): readonly Fault[] => [...faultsIn(config, 'input'), ...faultsIn(config, 'output')]

function* faultsIn(config: GatewayConfig, phase: Phase): Generator<Fault> {
  const ids = new Set<string>()
  for (const field of listsOf[phase])
    for (const [at, entry] of (config[field] ?? []).entries()) {
      if (typeof entry === 'string') continue
      if (!phasesOf(checksOf(entry)).has(phase)) yield [[field, at], idleIn[phase]]
      if (entry.id !== undefined && ids.has(entry.id)) yield [[field, at, 'id'], 'Another guardrail has this id.']
      if (entry.id !== undefined) ids.add(entry.id)
    }
}
