import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import type { AimedCall, Call } from '../call.ts'
import { changeBody } from '../config/change-body.ts'
import type { TargetConfig } from '../config/choose.ts'
import { modelInPath } from '../dialects/model-names.ts'
import { checkBody } from '../front/check-body.ts'
import { withModelOfConfig } from '../front/model-of-config.ts'
import { isPricedForm, mustBeRead, openBody } from '../front/read-call.ts'
import { boundForm } from '../limits/form-bound.ts'
import { isOfMoney } from '../limits/limit.ts'
import { type PolicySource, type PolicyView, readsModels } from '../limits/policy.ts'
import { expandConfigPrompt } from '../prompts/expand.ts'
import type { PromptSource } from '../prompts/prompt-source.ts'
import type { GatewaySettings } from '../settings.ts'
import { admit, findTarget, namesOwnTarget } from '../targets/aim.ts'
import type { ProviderSource } from '../targets/provider-view.ts'
import type { Target } from '../targets/target.ts'
import { modelOf, type RequestBody } from '../wire/body.ts'
import type { Attempt } from './attempt.ts'

export interface AimDeps {
  readonly snapshot: ProviderSource & PromptSource & PolicySource
  readonly settings: GatewaySettings
}

/** Finds the target of a call, and fits its body to this target. */
export function aim(call: Call, attempt: Attempt, deps: AimDeps): MaybePromise<AimedCall> {
  if (!namesPrompt(call)) return aimPlain(call, attempt, deps)
  return expandConfigPrompt(call, call.config, deps).then((expanded) => {
    attempt.prompt = expanded.prompt
    return aimPlain(expanded, attempt, deps)
  })
}

function aimPlain(asked: Call, attempt: Attempt, deps: AimDeps): MaybePromise<AimedCall> {
  const { snapshot, settings } = deps
  const call = withModelOfConfig(asked)
  const changed = call.body === null ? null : (attempt.body = withChanges(call, call.body))
  if (changed !== null && call.prompt === null) checkBody(call, changed, settings)
  return settled(findTarget(call, call.model ?? modelOf(changed?.json), { snapshot, settings }), (target) => {
    attempt.target = target
    return changed === null ? openFor(target, { call, attempt }, deps) : noteAimed(attempt, admit(call, target, changed))
  })
}

interface BodyOpening {
  readonly call: Call
  readonly attempt: Attempt
}

/** Opens a body that is no JSON, now that its target is known. */
async function openFor(target: Target, { call, attempt }: BodyOpening, { snapshot, settings }: AimDeps): Promise<AimedCall> {
  const policies = settings.acts.policies() ? ((await snapshot.policies(call.caller.key)) ?? none) : none
  const isBounded = mustBeRead(call, target) && mayBeBounded(call, target, policies)
  attempt.body = attempt.opened = await openBody(call, { target, isBounded, namesModels: readsModels(policies) }, settings)
  const body = (attempt.body = withChanges(call, attempt.body))
  checkBody(call, body, settings)
  return noteAimed(attempt, admit(call, target, body))
}

/** Returns true if a limit in money may apply to a call. Whether the conditions of a policy hold is not known yet. */
const mayBeBounded = ({ caller: { key } }: Call, { view }: Target, policies: readonly PolicyView[]): boolean =>
  (key.limits ?? []).some(isOfMoney) || (view?.limits ?? []).some(isOfMoney) || policies.some(({ limit }) => isOfMoney(limit))

const none: readonly PolicyView[] = []

type PromptCall = Call & { readonly config: TargetConfig & { readonly promptId: string } }

/** Returns true if the config makes the request by a prompt. An optional prompt gives way to the names in the request. */
const namesPrompt = (call: Call): call is PromptCall =>
  call.config !== null && call.config.promptId !== null && (call.config.binding || !namesOwnTarget(call))

const withChanges = ({ config }: Call, body: RequestBody): RequestBody =>
  config === null || config.changes === null ? body : changeBody(body, config.changes)

/** Notes the request of an attempt, and its target. */
export function noteAimed(attempt: Attempt, aimed: AimedCall): AimedCall {
  attempt.target = withModel(aimed)
  attempt.body = aimed.body
  attempt.path = aimed.call.upstreamPath
  return aimed
}

/**
 * Returns the target as limits, prices and the log see it: with the model that the request names. On a path that is the provider's own, its model
 * goes before that of the body, which such a provider does not read. A form names the model where a header found the target.
 */
export function withModel({ target, call, body }: AimedCall): Target {
  if (call.operation.spec === null) {
    const place = placeInPath(call.upstreamPath)
    const model = modelInPath(call.upstreamPath) ?? target.model
    if (place !== null || model !== target.model) return { ...target, model, place }
  }
  if (target.model !== null) return target
  return body.kind === 'bytes' && isPricedForm(call) ? { ...target, model: modelInForm(body, call.headers) } : target
}

/** The place that a path of Vertex AI's names. */
const inPath = /\/locations\/([a-z]+(?:-[a-z]+\d+)?)\//
const placeInPath = (path: string): string | null => (path.includes('/locations/') ? (inPath.exec(path)?.[1] ?? null) : null)

/** Returns the model that a form names; null: it names none, or cannot be read for certain. */
const modelInForm = ({ bytes }: RequestBody, { contentType }: Call['headers']): string | null =>
  (bytes === null ? null : boundForm(bytes, contentType))?.model ?? null
