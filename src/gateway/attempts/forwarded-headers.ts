import type { Verdict } from '../checks/check.ts'
import type { TargetConfig } from '../config/choose.ts'
import { isActingHeader } from '../providers/acting-headers.ts'
import { headersWithout, someHeader } from '../wire/header-list.ts'
import { type CallerHeaders, keyHeaders } from '../wire/headers.ts'
import type { Caller } from '../callers/identify.ts'
import { withoutOwnKeys } from '../callers/own-keys.ts'
import type { AimedCall } from '../call.ts'

/** The changes of guardrails to the headers for the provider. */
export interface CheckedHeaders {
  /** Headers that they add, in place of the caller's of that kind. */
  readonly added: readonly NonNullable<Verdict['headers']>[]
  /** True if the answer is held for guardrails, so that it must come as plain bytes. */
  readonly holdsAnswer: boolean
}

/**
 * Returns the caller's headers for the provider. Headers with credentials go on only when `x-service-forward-headers` or the config
 * names them; the headers that authorize the request take their place. Those that set for whom a provider acts, or who pays, go with the
 * caller's own credential; beside a stored one only when a stored config names them. A key of ours never goes on.
 */
export function forwardedHeaders({ call, target }: AimedForHeaders, { added, holdsAnswer }: CheckedHeaders): readonly string[] {
  const { headers, caller, config } = call
  const named = namedHeaders(headers, caller, config)
  const checked = added.reduce(withChecked, target.isCallers ? named : withoutActing(named, config))
  return holdsAnswer ? [...headersWithout(checked, (name) => name === 'accept-encoding'), 'accept-encoding', 'identity'] : checked
}

type AimedForHeaders = Pick<AimedCall, 'call'> & { readonly target: Pick<AimedCall['target'], 'isCallers'> }

/** A caller's own config can set no more than its headers. */
function withoutActing(headers: readonly string[], config: TargetConfig | null): readonly string[] {
  const allowed = config === null || config.slug === null ? none : config.forwardHeaders
  const drops = (name: string): boolean => isActingHeader(name) && !allowed.has(name)
  return someHeader(headers, (name) => drops(name.toLowerCase())) ? headersWithout(headers, drops) : headers
}

const none: ReadonlySet<string> = new Set()

/** Puts the facts of guardrails about the caller in place of the caller's own claims. */
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
