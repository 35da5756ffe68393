import { ApiError } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { saysMore } from '../../lib/json/repeated-key.ts'
import type { CheckedCall } from '../checks/before.ts'
import { type AnswerFacts, answerKey } from '../cache/answer-key.ts'
import { isCacheable } from '../cache/cacheable.ts'
import { likenessOf } from '../cache/likeness.ts'
import type { SimilarityQuery, AnswerCache, Recallable, RecallResult } from '../cache/recall.ts'
import type { AimedCall } from '../call.ts'
import type { SemanticSettings } from '../settings.ts'
import type { SemanticRule } from '../config/compile.ts'
import type { RequestBody } from '../wire/body.ts'
import { type CallerHeaders, valueText } from '../wire/headers.ts'

const longestNamespace = 255

/**
 * Looks for an answer that was given before to the same request, as it would now be sent: after the prompt, the config's changes and the
 * guardrails. Returns null when the config has no cache, or the request is none whose answer may be kept.
 */
export function recallAnswer(checked: CheckedCall, forward: readonly string[], deps: RecallDeps): MaybePromise<RecallResult | null> {
  const request = recallable(checked.aimed, forward, deps.settings.semantic)
  return request === null ? null : deps.answers.recall(request)
}

export interface RecallDeps {
  readonly answers: AnswerCache
  readonly settings: { readonly semantic: SemanticSettings | null }
}

/** Returns the query to the cache for a request; null when no answer of it is kept. */
export function recallable(aimed: AimedCall, forward: readonly string[], semantic: SemanticSettings | null): Recallable | null {
  const { call, target, body } = aimed
  const { exchange, caller, operation, headers, config } = call
  const rule = config?.cache ?? null
  if (rule === null || !isCacheable(operation.spec, body.json)) return null
  const { organisationId, workspaceId } = caller.key
  const scope = { organisationId, workspaceId, namespace: namespaceOf(headers) }
  const compared = comparable(body)
  const similar = rule.semantic
  const facts = { scope, target, method: exchange.method, path: call.upstreamPath, forward }
  return {
    key: answerKey({ ...facts, body: compared }),
    alike:
      semantic === null || similar === null || compared !== body.json ? null : () => alikeOf({ aimed, facts, rule: similar }, semantic),
    scope,
    requestId: exchange.requestId,
    askedAt: exchange.startedAt,
    maxAgeMs: rule.maxAgeMs,
    refresh: headers.service.get('cache-force-refresh')?.toLowerCase() === 'true',
  }
}

interface Comparison {
  readonly aimed: AimedCall
  readonly facts: Omit<AnswerFacts, 'body'>
  readonly rule: SemanticRule
}

/** Returns the similarity query of a request; null when only the answer to an equal one will do. */
function alikeOf({ aimed: { call, body }, facts, rule }: Comparison, settings: SemanticSettings): SimilarityQuery | null {
  const { provider, model, dimensions } = settings
  if (call.operation.spec?.answersAgain !== 'similar') return null
  const likeness = likenessOf(body.json, { ...rule, maxTemperature: rule.maxTemperature ?? settings.maxTemperature })
  if (likeness === null) return null
  const partition = answerKey({ ...facts, body: ['alike', provider, model, dimensions, likeness.rest] })
  return { text: likeness.text, partition, threshold: rule.threshold ?? settings.threshold, asker: call }
}

/**
 * Returns the body to compare by: the value, so that the order of keys makes no difference. Where the value holds less than the text (a key that
 * comes twice, a number that is rounded) the provider may read another value, so the text counts.
 */
function comparable({ bytes, json }: RequestBody): unknown {
  return bytes !== null && saysMore(bytes, json) ? bytes.toString('utf8') : json
}

function namespaceOf({ service }: CallerHeaders): string {
  const namespace = valueText(service.get('cache-namespace') ?? '')
  if (namespace.length <= longestNamespace && !namespace.includes('\0')) return namespace
  throw new ApiError('invalid_request', `x-service-cache-namespace may have ${longestNamespace} characters.`, {
    param: 'x-service-cache-namespace',
  })
}
