import { offersElsewhere } from '../providers/serving.ts'
import { namesNoTarget } from '../targets/addressing.ts'
import { isRestricted, readsForm, refuseUnreadable } from '../targets/model-access.ts'
import { isUrlEncoded } from '../dialects/model-names.ts'
import { jsonGuard } from '../targets/unseen-models.ts'
import { ApiError } from '../../lib/errors.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import { signsBody } from '../outgoing/prepare.ts'
import type { Call, CallHead } from '../call.ts'
import { readsBody } from '../checks/plan.ts'
import type { GatewaySettings } from '../settings.ts'
import type { Target } from '../targets/target.ts'
import { clientGone } from '../wire/collect.ts'
import { type BodyOptions, isReadableJson, mayHoldWords, readBody, type RequestBody } from '../wire/body.ts'
import { isForm } from '../wire/form.ts'
import { headersWithout } from '../wire/header-list.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import { formCheck } from '../bounds/form-bounds.ts'
import type { Task } from '../operations/operations.ts'
import { type FormModel, noFormModel, takeModelOfForm } from './form-model.ts'
import { takeModelOfPath } from '../targets/google-paths.ts'
import { workOf } from '../operations/work.ts'

/**
 * Reads the call that a request makes. A JSON body is read here, because it may name the target. Any other is opened by `openBody` when
 * the target is known: it is held only for those who must read it.
 */
export function readCall(head: CallHead, settings: GatewaySettings): MaybePromise<Call> {
  const { model, path: upstreamPath } = takeModelOfPath(head.path)
  const asking = { operation: head.operation, exchange: head.exchange, upstreamPath }
  const readsJson = head.operation.name === 'promptComplete' || isReadableJson(head.headers)
  if (readsJson)
    return settled(read(head, settings, { maxHeldBytes: 0 }), (body) => {
      const unfolded = body.kind === 'json' && head.headers.contentEncoding !== ''
      const work = workOf(asking, body.json)
      const headers = unfolded ? withoutEncoding(head.headers) : head.headers
      return { ...head, headers, upstreamPath, work, model, body, shortenedBy: 0, ...nothingMade }
    })
  return settled(model === null ? modelOfForm(head) : noFormModel, (form) => ({
    ...head,
    upstreamPath,
    work: workOf(asking, undefined),
    model: model ?? form.model,
    body: null,
    shortenedBy: form.shortenedBy,
    ...nothingMade,
  }))
}

const nothingMade = { prompt: null, promptRequest: null, previousResponse: null, mirror: null } as const

/** The target of a body that is no JSON, and its readers. */
export interface BodyTarget {
  readonly target: Target
  /** True when a limit in money depends on the contents of the form. */
  readonly isBounded: boolean
  /** True when policies read the models of the body. */
  readonly namesModels: boolean
}

/** Opens a body that is no JSON for its target. Can be done once. */
export function openBody(call: Call, opening: BodyTarget, settings: GatewaySettings): MaybePromise<RequestBody> {
  refuseSealed(call, opening.target)
  if (isReadForPolicies(call, opening)) refuseEncoded(call.headers, 'A policy for models reads this request')
  const { operation, headers, shortenedBy } = call
  return read(call, settings, {
    ...holding(call, opening, settings),
    shortenedBy,
    inspects: inspectionOf(call, opening, formCheck(operation, headers)),
  })
}

/** Returns what looks at the bytes of a body that is no JSON: the check of its fields, and that of policies and targets that must know its models. */
function inspectionOf(call: Call, opening: BodyTarget, check: BodyOptions['inspects']): BodyOptions['inspects'] {
  const isRestrictedTarget = isRestricted(opening.target)
  if (isForm(call.headers.contentType) || !(isRestrictedTarget || isReadForPolicies(call, opening))) return check
  const guard = jsonGuard(
    isRestrictedTarget ? `The models of @${opening.target.view?.slug ?? ''} are restricted` : 'A policy for models applies',
  )
  return (chunk) => {
    guard(chunk)
    check?.(chunk)
  }
}

/** Returns true for a body that policies must read for its model. An upload of a file runs none. */
const isReadForPolicies = ({ operation }: Call, { namesModels }: BodyTarget): boolean => namesModels && operation.name !== 'uploadFile'

/** Returns true for a form that policies must read for its model. */
const readsFormForPolicies = (call: Call, opening: BodyTarget): boolean =>
  isReadForPolicies(call, opening) && (isForm(call.headers.contentType) || isUrlEncoded(call.headers.contentType))

/** Throws `unsupported_media_type` for a body that guardrails or the rules of a target's models must read, and cannot. */
export function refuseSealed({ headers, guardrails }: Call, target: Target): void {
  if (guardrails !== null && readsBody(guardrails)) refuseEncoded(headers, 'Guardrails read this request')
  refuseUnreadable(target, headers)
}

/** A body that cannot be read must not be sent past its reader. `because` begins the message. */
function refuseEncoded({ contentEncoding }: CallerHeaders, because: string): void {
  if (contentEncoding === '') return
  throw new ApiError('unsupported_media_type', `${because}: send its body without content-encoding.`, {
    param: 'content-encoding',
  })
}

/** Looks into a form when no header names its target. */
const modelOfForm = (head: CallHead): MaybePromise<FormModel> =>
  isForm(head.headers.contentType) && head.headers.contentEncoding === '' && namesNoTarget(head)
    ? takeModelOfForm(head.exchange.body, head.headers.contentType, head.caller.key.organisationId)
    : noFormModel

type HoldOptions = Pick<BodyOptions, 'maxHeldBytes' | 'letsLongOnesPass' | 'shortenedBy' | 'watches' | 'inspects'>

/** A form that is translated is held: no provider takes more of audio and images. */
const longestForm = 32 * 1024 * 1024

/** Returns how much is held of a form whose model must be known; null: it need not be. */
function longestNaming(call: Call, opening: BodyTarget, { maxUploadBytes, maxJsonBytes }: GatewaySettings): number | null {
  const { headers } = call
  const isRead = readsFormForPolicies(call, opening)
  if (readsForm(opening.target, headers) || (isRead && isForm(headers.contentType))) return maxUploadBytes
  return (isRead || isRestricted(opening.target)) && isUrlEncoded(headers.contentType) ? maxJsonBytes : null
}

/** How much is held of a body that is no JSON. Guardrails read the part of uploads that is held anyhow, or is no longer than other bodies may be. */
function holding(call: Call, opening: BodyTarget, settings: GatewaySettings): HoldOptions {
  const { operation, headers, guardrails, work } = call
  const { target, isBounded } = opening
  const named = longestNaming(call, opening, settings)
  if (named !== null) return { maxHeldBytes: named }
  if (isForm(headers.contentType) && offersElsewhere(target.provider, operation.name)) return { maxHeldBytes: longestForm }
  if (signsBody(target.provider)) return { maxHeldBytes: settings.maxJsonBytes }
  const reads = guardrails !== null && readsBody(guardrails)
  const held = { maxHeldBytes: reads ? settings.maxJsonBytes : 0, letsLongOnesPass: !mayHoldWords(headers.contentType) }
  if (!pricedForms.has(work?.task)) return held
  return { ...held, watches: true, ...(isBounded && { maxHeldBytes: Math.max(held.maxHeldBytes, longestForm) }) }
}

/** Returns true for a form that determines the cost of its answer: the model, and the requested amount. */
export const isPricedForm = ({ work, headers: { contentType, contentEncoding } }: Pick<Call, 'work' | 'headers'>): boolean =>
  pricedForms.has(work?.task) && isForm(contentType) && contentEncoding === ''

/** Returns true for a form that must be read to estimate its cost. The length of a recording is enough, when its model is known. */
export function mustBeRead(call: Pick<Call, 'work' | 'headers' | 'exchange'>, { model }: Pick<Target, 'model'>): boolean {
  if (!isPricedForm(call)) return false
  return model === null || !ofRecordings.has(call.work?.task) || call.exchange.header('content-length') === undefined
}

const ofRecordings: ReadonlySet<Task | null | undefined> = new Set<Task>(['transcription', 'translation'])

/** The tasks whose price stands in the form: the length of a recording, and the model, where the answer does not state them. */
const pricedForms: ReadonlySet<Task | null | undefined> = new Set<Task | null | undefined>([
  ...ofRecordings,
  'image-edit',
  'image-variation',
])

function read(
  { exchange, headers, caller, work }: CallHead & Partial<Pick<Call, 'work'>>,
  { maxJsonBytes, maxUploadBytes }: GatewaySettings,
  held: HoldOptions,
): MaybePromise<RequestBody> {
  const { contentType, contentEncoding } = headers
  const owner = caller.key.organisationId
  const turn = (bytes: number) => turnToRead(exchange, owner, bytes)
  return readBody(exchange, {
    contentType,
    contentEncoding,
    maxJsonBytes,
    maxUploadBytes,
    owner,
    turn,
    ...held,
    watches: pricedForms.has(work?.task),
  })
}

/** Waits for the turn to parse a long body; null: it is short. A caller that has left by then needs none. */
function turnToRead(exchange: CallHead['exchange'], owner: string, bytes: number): Promise<void> | null {
  const turn = longTurns.before(owner, bytes, { isWanted: () => !exchange.closed })
  return turn === null ? null : unlessLeft(exchange, turn)
}

async function unlessLeft(exchange: CallHead['exchange'], turn: Promise<void>): Promise<void> {
  await turn
  if (exchange.closed) throw clientGone()
}

/** A body that was decompressed to be read goes on as plain bytes. */
const withoutEncoding = (headers: CallerHeaders): CallerHeaders => ({
  ...headers,
  contentEncoding: '',
  forward: headersWithout(headers.forward, (name) => name === 'content-encoding'),
})
