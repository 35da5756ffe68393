import { ApiError } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { TargetConfig } from '../config/choose.ts'
import type { KeyView } from '../callers/key.ts'
import type { GuardrailSource } from './guardrail-source.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import type { Phase } from './check.ts'
import type { Guardrail } from './guardrail.ts'
import { idleIn } from './guardrail.schema.ts'
import { checksOf } from './run.ts'

/** The guardrails of one request. */
export interface GuardrailPlan {
  readonly input: readonly Guardrail[]
  readonly output: readonly Guardrail[]
  /** True when streams keep strictly to the OpenAI format, without events of ours. */
  readonly strict: boolean
}

/** The facts that name the guardrails of a request. */
export interface PlanFacts {
  readonly key: KeyView
  readonly headers: CallerHeaders
  /** Those of the config, or of the server of MCP. */
  readonly config: NamedByConfig | null
}

type NamedByConfig = Pick<TargetConfig, 'inputGuardrails' | 'outputGuardrails' | 'strictOpenAiCompliance'>

/**
 * The guardrails of a request: those of the config, then those of the organisation and of the workspace, which so judge the request as it is sent;
 * one that is named twice runs once. Null when there are none. Throws `invalid_request` for one that does not exist, or has no check for its phase
 * any more: a guardrail is never left out in silence.
 */
export function planGuardrails(facts: PlanFacts, snapshot: GuardrailSource): MaybePromise<GuardrailPlan | null> {
  return namesAny(facts.key, facts.config) ? loadPlan(facts, snapshot) : null
}

async function loadPlan({ key, headers, config }: PlanFacts, snapshot: GuardrailSource): Promise<GuardrailPlan | null> {
  const [input, output] = await Promise.all([
    load({ chosen: config?.inputGuardrails ?? [], imposed: key.defaults?.inputGuardrails ?? [] }, 'input', { key, snapshot }),
    load({ chosen: config?.outputGuardrails ?? [], imposed: key.defaults?.outputGuardrails ?? [] }, 'output', { key, snapshot }),
  ])
  const plan = {
    input: withChecks(input, 'input'),
    output: withChecks(output, 'output'),
    strict: isStrict(headers, config),
  }
  return plan.input.length + plan.output.length === 0 ? null : plan
}

/** Most requests have none, and to load none would cost ten promises. */
const namesAny = ({ defaults }: KeyView, config: NamedByConfig | null): boolean =>
  isAny(config?.inputGuardrails) || isAny(config?.outputGuardrails) || isAny(defaults?.inputGuardrails) || isAny(defaults?.outputGuardrails)

const isAny = (named: readonly unknown[] | undefined): boolean => named !== undefined && named.length > 0

const isStrict = ({ service }: CallerHeaders, config: NamedByConfig | null): boolean =>
  config?.strictOpenAiCompliance ?? service.get('strict-open-ai-compliance') !== 'false'

interface GuardrailSources {
  readonly key: KeyView
  readonly snapshot: GuardrailSource
}

interface GuardrailNames {
  /** The guardrails of the config. */
  readonly chosen: readonly (string | Guardrail)[]
  /** The guardrails of the organisation and the workspace: callers can neither take them away, nor add any behind them. */
  readonly imposed: readonly string[]
}

/** A stored guardrail runs once, as late as it is named; one in a config always runs, under any name. */
async function load({ chosen, imposed }: GuardrailNames, phase: Phase, { key, snapshot }: GuardrailSources): Promise<readonly Guardrail[]> {
  const found = new Set<Guardrail>()
  const named = new Map<string, Guardrail>()
  for (const entry of [...chosen, ...imposed]) {
    const guardrail = typeof entry === 'string' ? await stored(entry, key, snapshot) : entry
    if (!guardrail.phases.has(phase)) throw unusable(`Requests must pass the guardrail ${quoted(guardrail.id)}. ${idleIn[phase]}`)
    const earlier = typeof entry === 'string' ? named.get(guardrail.id) : undefined
    if (earlier !== undefined) found.delete(earlier)
    found.add(guardrail)
    if (typeof entry === 'string') named.set(guardrail.id, guardrail)
  }
  return [...found]
}

async function stored(reference: string, { organisationId, workspaceId }: KeyView, snapshot: GuardrailSource): Promise<Guardrail> {
  const found = await snapshot.guardrail({ organisationId, workspaceId }, reference)
  if (found !== null) return found
  throw unusable(`There is no guardrail ${quoted(reference)} in this workspace, and requests must pass it.`)
}

const quoted = (reference: string): string => JSON.stringify(reference.slice(0, 60))

const unusable = (why: string) =>
  new ApiError('invalid_request', `${why} Take it out of the config or the defaults that name it.`, { param: 'guardrails' })

/** Returns whether a request's body has to be read before the call. */
export const readsBody = ({ input }: GuardrailPlan): boolean =>
  input.some((guardrail) => checksOf(guardrail, 'input').some(({ definition }) => definition.readsBody))

const withChecks = (guardrails: readonly Guardrail[], phase: Phase): readonly Guardrail[] =>
  guardrails.filter((guardrail) => checksOf(guardrail, phase).length > 0)
