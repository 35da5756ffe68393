import { hash } from 'node:crypto'
import { compileCondition } from '../routing/conditions.ts'
import type { BreakerRule } from '../routing/breaker.ts'
import { fallbackAfterFailures, retryAfterFailures } from '../routing/verdict.ts'
import type { GatewayConfig } from './config.schema.ts'
import type { Choice, Leaf, Plan, RetryRule, Strategy } from '../targets/plan.ts'
import { providerFieldNames } from '../providers/provider-fields.ts'

/** The maker of targets, and whose they are. */
export interface PlanContext<Target> {
  /** Distinguishes configs, so that none shares breakers and budgets with another: organisation, workspace and config. */
  readonly owner: string
  /** Makes one target of a config with the fields inherited from around it. `option`: its place in the config. */
  readonly toTarget: (config: GatewayConfig, option: string) => Target
}

/** Compiles a checked config into the targets that a request may go to, and the way to choose one. */
export function compilePlan<Target>(config: GatewayConfig, context: PlanContext<Target>, option = 'config'): Plan<Target> {
  const { strategy, targets } = config
  if (strategy === undefined || targets === undefined) return compileLeaf(config, context, option)
  const plans = targets.map((target, at) => compilePlan(inherited(config, target), context, `${option}.targets[${at}]`))
  const [only] = plans
  if (plans.length === 1 && only !== undefined && strategy.mode !== 'conditional') return only
  const choice: Choice<Target> = {
    kind: 'choice',
    option,
    id: idOf(context.owner, option, strategy),
    strategy: toStrategy(strategy, targets),
    targets: plans,
  }
  return choice
}

/** Compiles the settings of a config for one target, without the targets within it. */
export function compileLeaf<Target>(config: GatewayConfig, { owner, toTarget }: PlanContext<Target>, option = 'config'): Leaf<Target> {
  const breaker = toBreaker(config.cb_config)
  return {
    kind: 'leaf',
    option,
    id: idOf(owner, option, [
      Object.entries(config).filter(([name]) => isAddress(name)),
      config.override_params?.['model'],
      config.cb_config,
    ]),
    target: toTarget(config, option),
    retry: toRetry(config.retry),
    breaker,
  }
}

/** Returns an id in the form of a UUID (version 8): the same in every process, and another when the target is another. It holds no credential, but a digest of all. */
const idOf = (owner: string, option: string, what: unknown): string =>
  hash('sha256', JSON.stringify([owner, option, what]), 'hex').replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')

function toRetry(retry: GatewayConfig['retry']): RetryRule | null {
  const attempts = retry?.attempts ?? 0
  if (retry === undefined || attempts === 0) return null
  const asks = retry.use_retry_after_headers ?? retry.use_retry_after_header
  return {
    attempts,
    after: retryAfterFailures(retry.on_status_codes, retry.on_errors),
    retryAfter: asks === undefined ? 'atLeast' : asks ? 'exact' : 'ignored',
  }
}

const defaultFailures = 5
const leastForShare = 5
const defaultCooldownMs = 30_000
/** A target that fails for a day may be tried once a day. */
const longestCooldownMs = 86_400_000

function toBreaker(rule: GatewayConfig['cb_config']): BreakerRule | null {
  if (rule === undefined) return null
  const share = rule.failure_threshold_percentage === undefined ? null : rule.failure_threshold_percentage / 100
  return {
    failures: rule.failure_threshold ?? (share === null ? defaultFailures : null),
    share,
    leastRequests: rule.minimum_requests ?? (share === null ? 1 : leastForShare),
    cooldownMs: Math.min(rule.cooldown_interval ?? defaultCooldownMs, longestCooldownMs),
    statuses: rule.failure_status_codes === undefined ? null : new Set(rule.failure_status_codes),
  }
}

function toStrategy(strategy: NonNullable<GatewayConfig['strategy']>, targets: readonly GatewayConfig[]): Strategy {
  const { mode, sticky } = strategy
  if (mode === 'fallback') return { mode, after: fallbackAfterFailures(strategy.on_status_codes, strategy.on_errors) }
  if (mode === 'conditional') {
    const places = new Map(targets.map(({ name }, at) => [name, at]))
    return {
      mode,
      conditions: (strategy.conditions ?? []).map(({ query, then }) => ({ when: compileCondition(query), target: places.get(then) ?? 0 })),
      otherwise: places.get(strategy.default) ?? 0,
    }
  }
  if (mode === 'least-latency' || mode === 'least-cost') return { mode }
  const rule = sticky?.enabled === true ? { fields: sticky.hash_fields ?? [], ttlMs: (sticky.ttl ?? 3600) * 1000 } : null
  return { mode: 'loadbalance', weights: targets.map(({ weight = 1 }) => weight), sticky: rule }
}

/** Fields that belong to one credential; a target with a credential of its own takes none of them from above. */
export const isAddress = (name: string): boolean =>
  name === 'provider' || name === 'virtual_key' || name === 'api_key' || name === 'custom_host' || providerFieldNames.has(name)

/** Fields about the config itself, which have no effect on requests. */
const ownOnly = new Set(['strategy', 'targets', 'name', 'weight'])

/** A target with the fields that it inherits from the config around it. */
function inherited(config: GatewayConfig, target: GatewayConfig): GatewayConfig {
  const named = target.provider !== undefined || target.virtual_key !== undefined
  const passed = Object.entries(config).filter(([name]) => !ownOnly.has(name) && !(named && isAddress(name)))
  const override = { ...config.override_params, ...target.override_params }
  const fallback = { ...config.default_params, ...target.default_params }
  const drop = [...(config.drop_params ?? []), ...(target.drop_params ?? [])]
  const breaker = config.strategy?.cb_config
  const own = { override_params: override, default_params: fallback, drop_params: drop }
  return { ...Object.fromEntries(passed), ...(breaker === undefined ? {} : { cb_config: breaker }), ...target, ...own }
}
