import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { answeredWork } from '../answers/answer-fault.ts'
import { sendForPlain } from '../answers/plain-stream.ts'
import type { AimedCall } from '../call.ts'
import type { CheckedCall } from '../checks/before.ts'
import type { AnswerCache, RecallResult } from '../cache/recall.ts'
import { listen } from '../cache/recorder.ts'
import { replay } from '../cache/replay.ts'
import type { SigningMeans } from '../credentials/signing.ts'
import type { Egress, EgressCall, EgressHandler, EgressRequest } from '../egress/egress.ts'
import type { GatewaySettings } from '../settings.ts'
import { HeardResponse } from '../stored-responses/heard-response.ts'
import type { PriceSource } from '../prices/price-source.ts'
import type { ResponseStore } from '../stored-responses/response-store.ts'
import { wayOf } from './answer-way.ts'
import type { Attempt } from './attempt.ts'
import type { Mirrors } from '../mirrors/mirrors.ts'
import { countCall } from './count-tokens.ts'
import { sendParts } from './send-parts.ts'
import { sendInSteps } from './send-steps.ts'
import { promptsCall } from './prompts-call.ts'
import { type TaskCall, taskCall } from './task-call.ts'
import { prepare, type SendRequest } from '../outgoing/prepare.ts'
import type { PreparedRequest } from '../outgoing/prepared.ts'
import { leavesNothing } from './report.ts'
import { translateCall, type TranslatedCall, type TranslationOptions } from './translation.ts'
import { recallAnswer } from './recall-answer.ts'

/** Starts an answer: a provider's, or one that is kept. */
export type AnswerSource = (handler: EgressHandler) => EgressCall

export interface SourceDeps {
  readonly egress: Egress
  readonly signing: SigningMeans
  readonly answers: AnswerCache
  readonly mirrors: Mirrors
  readonly settings: GatewaySettings
  readonly responses: ResponseStore
  readonly prices: PriceSource
}

export interface SourceOptions {
  readonly attempt: Attempt
  /** The caller's headers that go on. */
  readonly forward: readonly string[]
  /** True if guardrails hold the answer, so that it is read before it goes on. */
  readonly isHeld: boolean
  readonly timeouts: EgressRequest['timeouts']
  /** The longest wait for the first content of a stream until its head goes on; null: any. */
  readonly opensAfterMs: number | null
}

/** Returns where the answer of an attempt comes from. The request is made only when there is no answer to give again. */
export function answerSource(checked: CheckedCall, options: SourceOptions, deps: SourceDeps): MaybePromise<AnswerSource> {
  const { config } = checked.aimed.call
  if (config === null || config.cache === null) return prepareSource(checked, options, deps)
  return settled(recallAnswer(checked, options.forward, deps), (recalled) => {
    if (recalled === null) return prepareSource(checked, options, deps)
    const { answer } = (options.attempt.recalled = recalled)
    return answer === null ? heardSource(recalled, checked, { options, deps }) : (handler) => replay(answer, handler)
  })
}

interface SourceContext {
  readonly options: SourceOptions
  readonly deps: SourceDeps
}

/** Returns a provider's answer, of which the cache gets a copy. */
async function heardSource(recalled: RecallResult, checked: CheckedCall, { options, deps }: SourceContext): Promise<AnswerSource> {
  try {
    const send = await prepareSource(checked, options, deps)
    const { maxBodyBytes, heard } = recalled
    const work = answeredWork(checked.aimed.call)
    return (handler) => listen({ maxBodyBytes, heard, work }, send, handler)
  } catch (error) {
    recalled.heard(null)
    throw error
  }
}

function prepareSource(
  checked: CheckedCall,
  { attempt, forward, isHeld, timeouts, opensAfterMs }: SourceOptions,
  { egress, signing, settings, mirrors, responses, prices }: SourceDeps,
): MaybePromise<AnswerSource> {
  const { call, target, body } = checked.aimed
  const counted = countCall(checked.aimed, settings.maxJsonBytes)
  if (counted?.kind === 'estimated') return (handler) => replay(counted.answer, handler)
  const options = { maxHeldBytes: settings.maxJsonBytes, keepsResponses: responses.keeps, prices, opensAfterMs }
  const task = counted === null ? partsOf(checked.aimed, options) : null
  const translated = (attempt.translated = counted?.call ?? task ?? translateCall(checked.aimed, options))
  const way = wayOf(checked.aimed, forward, translated)
  if (translated?.keeps === true) attempt.heard = new HeardResponse(translated.stream)
  const request: SendRequest = {
    method: call.exchange.method,
    path: call.upstreamPath,
    operation: call.operation,
    timeouts,
    leavesNothing: leavesNothing(call),
    noteSent: () => void (attempt.reachedAt ??= performance.now()),
    forward: way.forward,
    egress: egress.ownedBy(call.caller.key.organisationId),
    signing,
    allowed: { everywhere: settings.allowedHosts, here: call.caller.key.allowedHosts },
    target,
    body: translated?.body ?? body,
    endpoint: translated,
  }
  return settled(prepare(request), (prepared) => {
    attempt.prepared = prepared
    mirrors.copy(checked)
    return (handler: EgressHandler) => {
      attempt.sentAt = performance.now()
      const plain = isHeld || translated !== null || way.forward !== forward
      const send = plain
        ? plainSender(call.caller.key.organisationId, senderOf(request, translated, options.maxHeldBytes))
        : senderOf(request, translated, options.maxHeldBytes)
      if (task !== null) return sendTask(task, { request, prepared, handler, send })
      return send(prepared, way.answerFor(handler))
    }
  })
}

/** Returns a call that several calls do together, or one that is answered whole; null: it is none. */
const partsOf = (aimed: AimedCall, options: TranslationOptions): TaskCall | null =>
  taskCall(aimed, options.maxHeldBytes) ?? promptsCall(aimed, options)

interface SentTask {
  readonly request: SendRequest
  /** Its first call. */
  readonly prepared: PreparedRequest
  readonly handler: EgressHandler
  readonly send: Sender
}

type Sender = (prepared: PreparedRequest, handler: EgressHandler) => EgressCall

const sendOnce: Sender = ({ origin, request }, handler) => origin.send(request, handler)

/** Returns the sender of a call: once, or in the steps that its provider needs. */
function senderOf(request: SendRequest, translated: TranslatedCall | null, maxHeldBytes: number): Sender {
  const steps = translated?.steps
  return steps === undefined ? sendOnce : (prepared, handler) => sendInSteps({ steps, request, prepared, handler, maxHeldBytes })
}

/** For answers that are read here. */
const plainSender =
  (owner: string, send: Sender): Sender =>
  (prepared, handler) =>
    sendForPlain(owner, (plain) => send(prepared, plain), handler)

const sendTask = (task: TaskCall, { request, prepared, handler, send }: SentTask): EgressCall =>
  sendParts({
    count: task.bodies.length,
    answer: task.joinedFor(handler),
    first: prepared,
    prepare: (part) => prepare({ ...request, body: task.bodies[part] ?? request.body }),
    send,
  })
