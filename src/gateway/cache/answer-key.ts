import { canonicalHash } from '../../lib/json/canonical-json.ts'
import type { Target } from '../targets/target.ts'
import type { AnswerScope } from './answer-store.ts'
import { eachHeader } from '../wire/header-list.ts'
import { sortShort } from '../../lib/collections/sort-short.ts'

/** All that an answer depends on. */
export interface AnswerFacts {
  readonly scope: AnswerScope
  readonly target: Target
  /** Method, path and query, as they go to the provider. */
  readonly method: string
  readonly path: string
  /** The caller's headers that go on, flat, with those that guardrails added. */
  readonly forward: readonly string[]
  /** The body after prompt, changes of the config and guardrails, as JSON or as a text. */
  readonly body: unknown
}

/**
 * Returns the key of an answer, 43 characters. Two requests have one key only if they are of one workspace and namespace, go to one host with one
 * credential, and have equal bodies: the order of keys makes no difference.
 */
export function answerKey({ scope, target, method, path, forward, body }: AnswerFacts): string {
  const { organisationId, workspaceId, namespace } = scope
  const { providerId, view, credential, customHost, customHeaders } = target
  const facts = [
    [organisationId, workspaceId, namespace],
    [providerId, view?.id ?? null, credential, customHost?.url ?? null, customHeaders],
    [method, path, steering(forward)],
    body,
  ]
  return canonicalHash(facts)
}

/** Headers by which no provider changes its answer. They tell of the client, its network, or this one request. */
const inert = new Set([
  'accept-language',
  'baggage',
  'content-length',
  'date',
  'idempotency-key',
  'origin',
  'priority',
  'referer',
  'request-id',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-client-request-id',
  'x-request-id',
])
const inertPrefixes = ['x-stainless-', 'sec-', 'x-goog-api-client', 'x-amzn-trace-id', 'x-b3-', 'x-datadog-', 'sentry-']

/** Returns the other headers, sorted: clients write them in any order. */
function steering(forward: readonly string[]): readonly (readonly [string, string])[] {
  const kept: [string, string][] = []
  eachHeader(forward, (sent, value) => {
    const name = sent.toLowerCase()
    if (!isInert(name)) kept.push([name, value])
  })
  return sortShort(kept, isBefore)
}

const isBefore = (one: readonly [string, string], other: readonly [string, string]): boolean => one[0] < other[0]

const isInert = (name: string): boolean => inert.has(name) || inertPrefixes.some((prefix) => name.startsWith(prefix))
