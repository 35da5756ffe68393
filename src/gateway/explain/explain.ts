import { ApiError, toApiError } from '../../lib/errors.ts'
import { type Attempt, beginAttempt } from '../attempts/attempt.ts'
import { factsOf } from '../attempts/follow-course.ts'
import { recallable } from '../attempts/recall-answer.ts'
import { requestTimeout } from '../attempts/timeouts.ts'
import { aim, type AttemptDeps } from '../attempts/try-target.ts'
import type { AimedCall, Call, CallHead } from '../call.ts'
import type { Guardrail } from '../checks/guardrail.ts'
import { planGuardrails } from '../checks/plan.ts'
import { configOf } from '../config/choose.ts'
import type { TargetFields } from '../config/compile.ts'
import type { Leaf } from '../config/plan.ts'
import type { RoutingState } from '../routing/state.ts'
import { leavesNothing } from '../front/operations.ts'
import { copyCall } from '../mirrors/copy-call.ts'
import { describeRequest, mostBytes } from './describe-request.ts'
import { asksForOwnModels } from '../models/own-models.ts'
import { orderOf } from './order.ts'

export type ExplainDeps = AttemptDeps & { readonly routing: RoutingState }

const header = 'x-service-explain'

/** Returns true if the caller asks what would become of the request. Throws `forbidden` for a key that may not read configs. */
export function asksToExplain({ headers, caller: { key } }: CallHead): boolean {
  const asked = headers.service.get('explain')?.toLowerCase()
  if (asked === undefined || asked === '' || asked === 'false') return false
  if (asked !== 'true') throw new ApiError('invalid_request', `${header} must be true or false.`, { param: header })
  if (key.scopes.has('configs.read')) return true
  throw new ApiError('forbidden', `${header} tells of configs and prompts: the key needs the scope configs.read.`, { param: header })
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

/** Explains what would become of a request, and calls nobody: what each target would be sent, in what order, and why. */
export async function explain(call: Call, deps: ExplainDeps): Promise<object> {
  demandShort(call)
  const { caller, operation, course, config, prompt } = call
  const { key } = caller
  const slug = (course ?? config)?.slug ?? null
  const own = asksForOwnModels(call)
  const { steps, conditions } = own ? noStep : course === null ? onlyStep : orderOf(course.plan, chooseDeps(call, deps))
  const targets = await explainTargets(call, steps, deps)
  return {
    object: 'explanation',
    caller: { api_key_id: key.id, type: key.type, organisation_id: key.organisationId, workspace: key.workspaceSlug, user_id: key.userId },
    operation: operation.name,
    metadata: call.metadata,
    config: course === null && config === null ? null : { slug, source: slug === null ? 'request' : 'stored' },
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

const chooseDeps = (call: Call, { routing }: ExplainDeps) => ({
  ...routing,
  facts: factsOf(call),
  cost: () => null,
  random: Math.random,
  now: Date.now,
  note: () => {},
})

interface Explained {
  readonly leaf: Leaf<TargetFields> | null
  readonly reason: string
}

/** Explains one target after the other: a body that is no JSON is opened for the first, and is part of the call from then on. */
async function explainTargets(call: Call, steps: readonly Explained[], deps: ExplainDeps): Promise<readonly object[]> {
  const explained: object[] = []
  let { body } = call
  for (const step of steps) {
    const attempt = beginAttempt(step.leaf?.option ?? call.config?.option ?? 'config', body)
    explained.push({ ...describeStep(step, attempt, deps), ...(await explainTarget({ ...call, body }, { step, attempt }, deps)) })
    body = attempt.opened ?? body
  }
  body?.stream?.destroy()
  return explained
}

const describeStep = ({ leaf, reason }: Explained, { option }: Attempt, deps: ExplainDeps) => ({
  option,
  reason,
  retries: leaf?.retry?.attempts ?? 0,
  breaker: leaf === null || leaf.breaker === null ? null : breakerState(leaf.id, deps),
})

interface Aiming {
  readonly step: Explained
  readonly attempt: Attempt
}

async function explainTarget(call: Call, { step: { leaf }, attempt }: Aiming, deps: ExplainDeps): Promise<object> {
  const { headers, caller, course } = call
  const config = leaf === null || course === null ? call.config : configOf(course, leaf)
  try {
    const named = { key: caller.key, headers, config }
    const guardrails = deps.settings.acts.guardrails() ? await planGuardrails(named, deps.snapshot) : null
    const aimed = await aim({ ...call, config, guardrails }, attempt, deps)
    const { request, forward } = await describeRequest(aimed, deps)
    return {
      provider: aimed.target.providerId,
      provider_slug: aimed.target.view?.slug ?? null,
      model: aimed.target.model,
      prompt: presentPrompt(attempt.prompt),
      timeout: requestTimeout(headers, config, deps.settings),
      guardrails: { input: (guardrails?.input ?? []).map(present), output: (guardrails?.output ?? []).map(present) },
      cache: await explainCache(aimed, forward, deps),
      mirror: await explainMirror(aimed, deps),
      request,
      error: null,
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
async function explainMirror(aimed: AimedCall, deps: ExplainDeps): Promise<object | null> {
  const { call } = aimed
  const rule = call.config?.mirror ?? null
  if (rule === null || !leavesNothing.has(call.operation.name)) return null
  const { share, billed, target } = rule
  try {
    const copy = copyCall({ aimed, headers: [] }, rule, call.exchange)
    const copied = await aim(copy, beginAttempt(target.option, copy.body), deps)
    const { request } = await describeRequest(copied, deps)
    const { providerId, view, model } = copied.target
    return { option: target.option, share, billed, provider: providerId, provider_slug: view?.slug ?? null, model, request, error: null }
  } catch (thrown) {
    return { option: target.option, share, billed, error: presentError(thrown) }
  }
}

const breakerState = (id: string, { routing }: ExplainDeps): string => {
  const now = Date.now()
  return routing.breakers.states(now).find(({ target }) => target === id)?.state ?? 'closed'
}

const present = ({ id, name, deny, async: isAsync, checks }: Guardrail) => ({
  id,
  name,
  deny,
  async: isAsync,
  checks: checks.map(({ definition }) => ({ id: definition.id, calls_out: definition.timeoutMs !== null })),
})

async function explainCache(aimed: AimedCall, forward: readonly string[], { answers }: ExplainDeps): Promise<object> {
  const request = recallable(aimed, forward)
  if (request === null) return { status: 'DISABLED', key: null }
  if (request.refresh) return { status: 'REFRESH', key: request.key }
  return { status: (await answers.holds(request)) ? 'HIT' : 'MISS', key: request.key }
}
