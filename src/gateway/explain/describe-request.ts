import { isFields } from '../../lib/json/fields.ts'
import { forwardedHeaders } from '../attempts/forwarded-headers.ts'
import { composeRequest, originOf } from '../outgoing/prepare.ts'
import { countCall } from '../attempts/count-tokens.ts'
import { translateCall, type TranslatedCall, translatedHeaders } from '../attempts/translation.ts'
import type { AttemptDeps } from '../attempts/try-target.ts'
import type { AimedCall } from '../call.ts'
import type { CheckedCall } from '../checks/before.ts'
import { authFor } from '../providers/endpoint.ts'
import type { Auth } from '../providers/provider.ts'
import { loggedHeaders } from '../wire/headers.ts'

/** The explanation holds the body of each target, and there may be a hundred. */
export const mostBytes = 128 * 1024

/** Returns the request that a target would be sent, its credentials masked, and the caller's headers in it. Null: no provider would be asked. */
export async function describeRequest(
  { aimed, headers: added }: Pick<CheckedCall, 'aimed' | 'headers'>,
  deps: AttemptDeps,
): Promise<{ readonly request: object | null; readonly forward: readonly string[] }> {
  const own = forwardedHeaders(aimed, { added, holdsAnswer: false })
  const counted = countCall(aimed, deps.settings.maxJsonBytes)
  if (counted?.kind === 'estimated') return { request: null, forward: own }
  const translated = counted?.call ?? translationOf(aimed, deps)
  const forward = translated === null ? own : translatedHeaders(own, translated)
  return { request: await describe(aimed, { translated, forward }, deps), forward }
}

const translationOf = (aimed: AimedCall, { settings, responses, prices }: AttemptDeps): TranslatedCall | null =>
  translateCall(aimed, { maxHeldBytes: settings.maxJsonBytes, keepsResponses: responses.keeps, prices, opensAfterMs: null })

interface SendFacts {
  readonly translated: TranslatedCall | null
  readonly forward: readonly string[]
}

async function describe({ call, target, body }: AimedCall, { translated, forward }: SendFacts, { egress, settings }: AttemptDeps) {
  const sent = {
    method: call.exchange.method,
    path: call.upstreamPath,
    operation: call.operation,
    timeouts: { firstByteMs: 0, idleMs: 0 },
    forward,
    egress: egress.ownedBy(call.caller.key.organisationId),
    allowed: { everywhere: settings.allowedHosts, here: call.caller.key.allowedHosts },
    target,
    body: translated?.body ?? body,
    endpoint: translated,
  }
  const origin = await originOf(sent)
  const { path, headers } = composeRequest(sent, origin)
  return {
    method: sent.method,
    url: origin.origin + (path.split('?', 1)[0] ?? path),
    headers: {
      ...withoutStored(loggedHeaders(headers), Object.keys(target.customHeaders)),
      ...credentialHeader(authFor(target.provider, path)),
    },
    body: (sent.body.bytes?.length ?? 0) > mostBytes ? null : (sent.body.json ?? null),
    changed_params: changedParams(call.body?.json, body.json),
    ...losses(translated),
  }
}

/** Returns whether the request has another format than the caller's, and its losses. */
const losses = (translated: TranslatedCall | null): object =>
  translated === null
    ? { translated: false, dropped_params: [] }
    : { translated: !translated.sameDialect, dropped_params: translated.dropped }

const masked = '[credential]'

/** Values of headers that are stored with a provider may be secrets under any name. */
const withoutStored = (headers: Readonly<Record<string, string>>, stored: readonly string[]) => {
  const names = new Set(stored.map((name) => name.toLowerCase()))
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, names.has(name) ? '[stored]' : value]))
}

/** The header in which the credential would go. */
function credentialHeader(auth: Auth): Readonly<Record<string, string>> {
  if (auth.kind === 'none') return {}
  if (auth.kind === 'header') return { [auth.name.toLowerCase()]: masked }
  return { authorization: masked }
}

/** Returns the parameters of the body that the config sets, changes or drops. */
function changedParams(asked: unknown, sent: unknown): { readonly set: readonly string[]; readonly dropped: readonly string[] } {
  if (!isFields(asked) || !isFields(sent)) return { set: [], dropped: [] }
  return {
    set: Object.keys(sent).filter((name) => !Object.hasOwn(asked, name) || JSON.stringify(asked[name]) !== JSON.stringify(sent[name])),
    dropped: Object.keys(asked).filter((name) => !Object.hasOwn(sent, name)),
  }
}
