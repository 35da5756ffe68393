import type { ChosenConfig } from './config/choose.ts'
import type { CallerHeaders, KeyHeader } from './headers.ts'
import { type Caller, withoutOwnKeys } from './identify.ts'

const keyHeaders: readonly KeyHeader[] = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']

/**
 * The caller's headers for the provider. Those in which credentials come go on only when `x-service-forward-headers` or the config names
 * them; what authorizes the request takes their place. A key of ours never goes on.
 */
export function forwardedHeaders(headers: CallerHeaders, caller: Caller, config: ChosenConfig | null): readonly string[] {
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
