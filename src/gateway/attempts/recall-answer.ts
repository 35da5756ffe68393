import { ApiError } from '../../lib/errors.ts'
import { repeatedKey } from '../../lib/json/repeated-key.ts'
import type { CheckedCall } from '../checks/before.ts'
import { answerKey } from '../cache/answer-key.ts'
import { isCacheable } from '../cache/cacheable.ts'
import type { AnswerCache, Recallable, Recalled } from '../cache/recall.ts'
import type { AimedCall } from '../call.ts'
import type { RequestBody } from '../wire/body.ts'
import { type CallerHeaders, valueText } from '../wire/headers.ts'

const longestNamespace = 255

/**
 * Looks for an answer that was given before to the same request, as it would now be sent: after the prompt, the config's changes and the
 * guardrails. Returns null when the config has no cache, or the request is none whose answer may be kept.
 */
export async function recallAnswer(checked: CheckedCall, forward: readonly string[], answers: AnswerCache): Promise<Recalled | null> {
  const request = recallable(checked.aimed, forward)
  return request === null ? null : answers.recall(request)
}

/** Returns what the cache is asked for a request; null when no answer of it is kept. */
export function recallable({ call, target, body }: AimedCall, forward: readonly string[]): Recallable | null {
  const { exchange, caller, operation, headers, config } = call
  const rule = config?.cache ?? null
  if (rule === null || !isCacheable(operation.spec, body.json)) return null
  const { organisationId, workspaceId } = caller.key
  const scope = { organisationId, workspaceId, namespace: namespaceOf(headers) }
  const { method } = exchange
  return {
    key: answerKey({ scope, target, method, path: call.upstreamPath, forward, body: comparable(body) }),
    scope,
    requestId: exchange.requestId,
    askedAt: exchange.startedAt,
    maxAgeMs: rule.maxAgeMs,
    refresh: headers.service.get('cache-force-refresh')?.toLowerCase() === 'true',
  }
}

/** A number of more digits than a process can tell apart. */
const longNumber = /[\d.]{16}|\d[eE]/

/**
 * Returns the body to compare by: the value, so that the order of keys makes no difference. Where the value says less than the text (a key
 * that comes twice, a number that is rounded) the provider may read another value, so the text counts.
 */
function comparable({ bytes, json }: RequestBody): unknown {
  if (bytes === null) return json
  const text = bytes.toString('utf8')
  return longNumber.test(text) || repeatedKey(text, json) !== null ? text : json
}

function namespaceOf({ service }: CallerHeaders): string {
  const namespace = valueText(service.get('cache-namespace') ?? '')
  if (namespace.length <= longestNamespace && !namespace.includes('\0')) return namespace
  throw new ApiError('invalid_request', `x-service-cache-namespace may have ${longestNamespace} characters.`, {
    param: 'x-service-cache-namespace',
  })
}
