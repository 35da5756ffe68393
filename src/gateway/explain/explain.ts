import { ApiError, toApiError } from '../../lib/errors.ts'
import { type Attempt, beginAttempt } from '../attempts/attempt.ts'
import { type CourseDeps, costFactsOf, factsOf } from '../attempts/follow-course.ts'
import { recallable } from '../attempts/recall-answer.ts'
import { requestTimeout } from '../attempts/timeouts.ts'
import { aim } from '../attempts/aim-attempt.ts'
import type { AimedCall, Call, CallHead } from '../call.ts'
import type { CheckedCall } from '../checks/before.ts'
import type { Guardrail } from '../checks/guardrail.ts'
import { type GuardrailPlan, planGuardrails } from '../checks/plan.ts'
import { configOf } from '../config/choose.ts'
import type { TargetFields } from '../config/compile.ts'
import type { Leaf } from '../targets/plan.ts'
import type { Breakers } from '../routing/breaker.ts'
import { costOf } from '../routing/target-prices.ts'
import { copyCall } from '../mirrors/copy-call.ts'
import { checkLocally, type LocalCheckResult } from './check-locally.ts'
import { describeRequest, mostBytes } from './describe-request.ts'
import { asksForOwnModels } from '../models/own-models.ts'
import { orderOf } from './order.ts'

export type ExplainDeps = CourseDeps

const header = 'x-service-explain'

/** Returns true if the caller asks for an explanation of the request. Throws `forbidden` for a key that may not read configs. */
export function asksToExplain({ headers, caller: { key } }: CallHead): boolean {
  const asked = headers.service.get('explain')?.toLowerCase()
  if (asked === undefined || asked === '' || asked === 'false') return false
  if (asked !== 'true') throw new ApiError('invalid_request', `${header} must be true or false.`, { param: header })
  if (key.scopes.has('configs.read')) return true
  throw new ApiError('forbidden', `${header} shows configs and prompts: the key needs the scope configs.read.`, { param: header })
}

function demandShort({ body }: Call): void {
  if ((body?.bytes?.length ?? 0) <= mostBytes) return
  throw new ApiError(
    'payload_too_large',
    `${header} takes a body of at most ${mostBytes} bytes. Explain the request with a shorter text.`,
    {
      param: 'body',
    },
  )
}

/** Explains the way of a request, without a call to a provider: the request for each target, their order, and the reasons. */
export async function explain(call: Call, deps: ExplainDeps): Promise<object> {
  demandShort(call)
  const { caller, operation, course, config, prompt } = call
  const { key } = caller
  const chosen = course ?? config
  const own = asksForOwnModels(call)
  const { steps, conditions } = own ? noStep : course === null ? onlyStep : orderOf(course.plan, chooseDeps(call, deps))
  const targets = await explainTargets(call, steps, deps)
  return {
    object: 'explanation',
    caller: { api_key_id: key.id, type: key.type, organisation_id: key.organisationId, workspace: key.workspaceSlug, user_id: key.userId },
    operation: operation.name,
    metadata: call.metadata,
    config: chosen === null ? null : { slug: chosen.slug, version: chosen.version, source: chosen.slug === null ? 'request' : 'stored' },
    prompt: presentPrompt(prompt),
    answered_by: own ? 'gatehouse' : 'provider',
    conditions,
    targets,
  }
}

const presentPrompt = (prompt: Call['prompt']) => (prompt === null ? null : { slug: prompt.slug, version_id: prompt.versionId })

/** Gatehouse answers such a request itself. */
const noStep = { steps: [], conditions: [] } as const
const onlyStep = { steps: [{ leaf: null, reason: 'It is the only target.' }], conditions: [] } as const

const chooseDeps = (call: Call, deps: ExplainDeps) => ({
  ...deps.routing.of(call.caller.key.organisationId),
  facts: factsOf(call),
  cost: ({ target }: Leaf<TargetFields>) => costOf(target, costFactsOf(call, deps)),
  random: Math.random,
  now: Date.now,
  note: () => {},
})

interface ExplainedStep {
  readonly leaf: Leaf<TargetFields> | null
  readonly reason: string
}

/** Explains one target after the other: a body that is no JSON is opened for the first, and is part of the call from then on. */
async function explainTargets(call: Call, steps: readonly ExplainedStep[], deps: ExplainDeps): Promise<readonly object[]> {
  const explained: object[] = []
  const { breakers } = deps.routing.of(call.caller.key.organisationId)
  let { body } = call
  for (const step of steps) {
    const attempt = beginAttempt(step.leaf?.option ?? call.config?.option ?? 'config', body)
    explained.push({ ...describeStep(step, attempt, breakers), ...(await explainTarget({ ...call, body }, { step, attempt }, deps)) })
    body = attempt.opened ?? body
  }
  body?.stream?.destroy()
  return explained
}

const describeStep = ({ leaf, reason }: ExplainedStep, { option }: Attempt, breakers: Breakers) => ({
  option,
  reason,
  retries: leaf?.retry?.attempts ?? 0,
  breaker: leaf === null || leaf.breaker === null ? null : breakerState(leaf.id, breakers),
})

interface AimInput {
  readonly step: ExplainedStep
  readonly attempt: Attempt
}

async function explainTarget(call: Call, { step: { leaf }, attempt }: AimInput, deps: ExplainDeps): Promise<object> {
  const { headers, caller, course } = call
  const config = leaf === null || course === null ? call.config : configOf(course, leaf)
  try {
    const named = { key: caller.key, headers, config }
    const guardrails = deps.settings.acts.guardrails() ? await planGuardrails(named, deps.snapshot) : null
    const aimed = await aim({ ...call, config, guardrails }, attempt, deps)
    const { checked, found } = await checkLocally(aimed, guardrails, deps)
    const { request, forward } = await describeRequest(checked, deps)
    const { denial } = checked
    return {
      provider: aimed.target.providerId,
      provider_slug: aimed.target.view?.slug ?? null,
      model: aimed.target.model,
      prompt: presentPrompt(attempt.prompt),
      timeout: requestTimeout(headers, config, deps.settings),
      guardrails: presentGuardrails(guardrails, found),
      cache: await explainCache(checked.aimed, forward, deps),
      mirror: denial === null ? await explainMirror(checked, deps) : null,
      request: denial === null ? request : null,
      error: denial === null ? null : presentError(denial),
    }
  } catch (thrown) {
    return { error: presentError(thrown) }
  }
}

function presentError(thrown: unknown): object {
  const { code, message, param } = toApiError(thrown)
  return { code, message, param }
}

/** Explains the copy of a request that a mirror would be sent; null: none would be made. */
async function explainMirror(checked: CheckedCall, deps: ExplainDeps): Promise<object | null> {
  const { call } = checked.aimed
  const rule = call.config?.mirror ?? null
  if (rule === null || call.operation.spec?.leavesNothing !== true) return null
  const { share, billed, target } = rule
  try {
    const copy = copyCall(checked, rule, call.exchange)
    const copied = await aim(copy, beginAttempt(target.option, copy.body), deps)
    const { request } = await describeRequest({ aimed: copied, headers: [] }, deps)
    const { providerId, view, model } = copied.target
    return { option: target.option, share, billed, provider: providerId, provider_slug: view?.slug ?? null, model, request, error: null }
  } catch (thrown) {
    return { option: target.option, share, billed, error: presentError(thrown) }
  }
}

const breakerState = (id: string, breakers: Breakers): string => {
  const now = Date.now()
  return breakers.states(now).find(({ target }) => target === id)?.state ?? 'closed'
}

const presentGuardrails = (guardrails: GuardrailPlan | null, found: LocalCheckResult['found']) => ({
  input: (guardrails?.input ?? []).map((guardrail) => present(guardrail, found.get(guardrail))),
  output: (guardrails?.output ?? []).map((guardrail) => present(guardrail)),
})

/** A guardrail that asks a service is named and not run; so is one for which the request would not wait. */
const notRun = { verdict: null, transformed: null } as const

interface VerdictFound {
  readonly verdict: boolean | null
  readonly transformed: boolean | null
}

const present = ({ id, name, deny, async: isAsync, checks }: Guardrail, { verdict, transformed }: VerdictFound = notRun) => ({
  id,
  name,
  deny,
  async: isAsync,
  checks: checks.map(({ definition }) => ({ id: definition.id, calls_out: definition.timeoutMs !== null })),
  verdict,
  transformed,
})

async function explainCache(aimed: AimedCall, forward: readonly string[], { answers, settings }: ExplainDeps): Promise<object> {
  const request = recallable(aimed, forward, settings.semantic)
  if (request === null) return { status: 'DISABLED', key: null }
  if (request.refresh) return { status: 'REFRESH', key: request.key }
  return { status: (await answers.holds(request)) ? 'HIT' : 'MISS', key: request.key }
}
