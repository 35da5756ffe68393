import { isFields } from '../../lib/json/fields.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { AimedCall, Call } from '../call.ts'
import { withoutSlugOfPath } from './google-paths.ts'
import type { MatchedOperation } from '../operations/match.ts'
import type { GatewaySettings } from '../settings.ts'
import { modelOf, replaceModel, type RequestBody } from '../wire/body.ts'
import { spokenAt } from '../providers/endpoint.ts'
import { translates } from '../providers/serving.ts'
import { addressingOf, modelReference } from './addressing.ts'
import { atDeployment, choosesDeployment } from './azure-deployment.ts'
import { admitChanged, admitModel, type ModelRequest, modelRequest, namesIn } from './model-access.ts'
import type { ProviderSource } from './provider-view.ts'
import { cannotBeAsked, refuseOperation } from './refuse-operation.ts'
import { resolveTarget, type Target } from './target.ts'

/** The sources with which a target is found. */
export interface TargetDeps {
  readonly snapshot: ProviderSource
  readonly settings: Pick<GatewaySettings, 'dedicatedValidation' | 'atLeast'>
}

/** Finds the target of a call whose path, form or body names this model. */
export const findTarget = (
  { caller, headers, config, prompt, operation }: Call,
  model: string | null,
  { snapshot, settings: { dedicatedValidation, atLeast } }: TargetDeps,
): MaybePromise<Target> =>
  resolveTarget({
    caller,
    headers,
    config,
    promptProvider: prompt?.virtualKey ?? null,
    model,
    storedOnly: operation.spec?.virtualKey === true && dedicatedValidation === 'strict',
    snapshot,
    atLeast,
  })

/** Returns true if a call names its target itself, by headers, prompt or model. */
export function namesOwnTarget({ headers, prompt, model, body }: Call): boolean {
  const fromModel = modelReference(model ?? modelOf(body?.json))
  const { stored, provider } = addressingOf(headers, null, { fromModel, promptProvider: prompt?.virtualKey ?? null })
  return stored !== null || provider !== null
}

/** Returns the call in the form of this target: with the provider's name of the model, at the model's own host. Throws `forbidden`. */
export function admit(call: Call, target: Target, opened: RequestBody): AimedCall {
  if (call.isOwed === true) return { call, target, body: withPlainModel(opened, target) }
  assertServed(target, call.operation)
  const named = call.model === null ? opened : withoutSlugOfPath(opened, call.model)
  const body = withPlainModel(named, target)
  const request = modelRequest(call, body)
  return { call, body, target: deployed(admitModel(target, request), request) }
}

const deployed = (target: Target, request: ModelRequest): Target =>
  choosesDeployment(target) ? atDeployment(target, namesIn(target, request)) : target

/** The same for a body that guardrails changed: it may name another model than the one that was admitted. */
export function recheckModel(aimed: AimedCall): AimedCall {
  const request = modelRequest(aimed.call, aimed.body)
  return { ...aimed, target: deployed(admitChanged(aimed.target, request), request) }
}

/** Takes the slug out of a model `@slug/model`, which only we understand. */
function withPlainModel(body: RequestBody, target: Target): RequestBody {
  const named = modelOf(body.json)
  if (
    !target.modelRewritten ||
    target.model === null ||
    named !== `@${target.view?.slug}/${target.model}` ||
    body.bytes === null ||
    !isFields(body.json)
  )
    return body
  const bytes = replaceModel(body.bytes, named, target.model)
  return { ...body, bytes, json: { ...body.json, model: target.model }, length: bytes.length }
}

/** Refuses an operation that a provider surely does not have. */
function assertServed(target: Target, { name, spec }: MatchedOperation): void {
  const { provider, model } = target
  if (name === 'proxy' || spec === null || spokenAt(provider, name) !== null || !cannotBeAsked(target, spec)) return
  if (spec.task === 'token-count' || translates(provider, { operation: name, model })) return
  refuseOperation(target, name)
}
