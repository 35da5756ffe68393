import type { Call } from '../call.ts'
import type { CheckedCall } from '../checks/before.ts'
import type { TargetConfig } from '../config/choose.ts'
import type { MirrorRule } from '../config/compile.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { headersWithout } from '../wire/header-list.ts'
import { type CallerHeaders, isCredentialHeader } from '../wire/headers.ts'

/** Headers of ours about the logging and measuring of a call, not about its target. */
const kept = new Set([
  'debug',
  'sensitive-headers',
  'strict-open-ai-compliance',
  'strict-translation',
  'request-timeout',
  'trace-id',
  'span-name',
])

/**
 * Returns the copy of a call for a mirror, after the config and the guardrails of the caller. It has no guardrails of its own, since its answer is
 * only logged, and can be tried once.
 */
export function copyCall(
  { aimed: { call, body }, headers: added }: Pick<CheckedCall, 'aimed' | 'headers'>,
  rule: MirrorRule,
  exchange: Exchange,
): Call {
  const changed = added.reduce(
    (headers, { added: set, replaces }) => [...headersWithout(headers, (name) => name.startsWith(replaces)), ...set],
    call.headers.forward,
  )
  const headers = { ...call.headers, forward: headersWithout(changed, (name) => name === 'idempotency-key') }
  return {
    ...call,
    exchange,
    headers: rule.elsewhere ? withoutAddress(headers) : headers,
    config: configOf(call, rule),
    course: null,
    guardrails: null,
    body,
    mirror: { of: call.exchange.requestId, billed: rule.billed },
  }
}

const configOf = ({ config }: Call, { target }: MirrorRule): TargetConfig => ({
  ...target,
  slug: config?.slug ?? null,
  version: config?.version ?? null,
  binding: true,
  locked: false,
})

/** Credentials of the caller, and all that names its target, belong to that target. */
const withoutAddress = (headers: CallerHeaders): CallerHeaders => ({
  ...headers,
  keys: {},
  service: new Map([...headers.service].filter(([name]) => kept.has(name))),
  forward: headersWithout(headers.forward, isCredentialHeader),
})
