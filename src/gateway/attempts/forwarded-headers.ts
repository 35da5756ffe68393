import type { Verdict } from '../checks/check.ts'
import type { TargetConfig } from '../config/choose.ts'
import { headersWithout } from '../wire/header-list.ts'
import { type CallerHeaders, keyHeaders } from '../wire/headers.ts'
import type { Caller } from '../callers/identify.ts'
import { withoutOwnKeys } from '../callers/own-keys.ts'
import type { Call } from '../call.ts'

/** The changes of guardrails to the headers for the provider. */
export interface CheckedHeaders {
  /** Headers that they add, in place of the caller's of that kind. */
  readonly added: readonly NonNullable<Verdict['headers']>[]
  /** True if the answer is held for guardrails, so that it must come as plain bytes. */
  readonly holdsAnswer: boolean
}

/**
 * Returns the caller's headers for the provider. Those in which credentials come go on only when `x-service-forward-headers` or the config
 * names them; what authorizes the request takes their place. A key of ours never goes on.
 */
export function forwardedHeaders({ headers, caller, config }: Call, { added, holdsAnswer }: CheckedHeaders): readonly string[] {
  const checked = added.reduce(withChecked, namedHeaders(headers, caller, config))
  return holdsAnswer ? [...headersWithout(checked, (name) => name === 'accept-encoding'), 'accept-encoding', 'identity'] : checked
}

/** Puts what guardrails say of the caller in place of what the caller says of itself. */
const withChecked = (headers: readonly string[], { added, replaces }: NonNullable<Verdict['headers']>): readonly string[] => [
  ...headersWithout(headers, (name) => name.startsWith(replaces)),
  ...added,
]

function namedHeaders(headers: CallerHeaders, caller: Caller, config: TargetConfig | null): readonly string[] {
  const asked = headers.service.get('forward-headers')
  const named = config === null || config.forwardHeaders.size === 0 ? null : config.forwardHeaders
  if (asked === undefined && named === null) return withoutOwnKeys(headers.forward, caller)
  const names = new Set([...(named ?? []), ...(asked ?? '').split(',').map((name) => name.trim().toLowerCase())])
  const added = keyHeaders.flatMap((name) => {
    const value = names.has(name) ? headers.keys[name] : undefined
    return value === undefined ? [] : [name, value]
  })
  return withoutOwnKeys([...headers.forward, ...added], caller)
}
