import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { metaKeys } from '../protocol/envelope.ts'
import { mcpFault } from '../protocol/faults.ts'
import { callText, type RpcAnswer, type RpcCall, type RpcId } from '../protocol/messages.ts'
import type { ChangeFilter, UpstreamLink } from '../upstream/upstream-request.ts'
import { servedChanges, toldFilter, wantsAny, wantsChange } from './changes.ts'
import { guardOf, unaskedFilter } from './guard.ts'
import { watchBounds } from './local-sessions.ts'
import { noteSent } from './call-notes.ts'
import type { ModernWork } from './modern-work.ts'
import { demandAllowed, inTurns } from './rights.ts'

/** A client names no more resources in one subscription. */
const mostResources = 100

/** Passes changes on to a modern client until it leaves, or the server ends. */
export async function listenAsModern(
  { parts, head, asked, call, reply, signal, noted }: ModernWork,
  link: UpstreamLink,
): Promise<RpcAnswer> {
  const filter = servedChanges(link.facts, readFilter(call.params['notifications']))
  const { resourceSubscriptions: uris } = filter
  for await (const step of inTurns(head.caller.key.organisationId, uris, () => !signal.aborted))
    for (const uri of step) demandAllowed(head, { kind: 'resource', name: uri })
  if (uris.length > 0) await (await guardOf(parts.deps, head, { call, noted }))?.look({ uri: uris })
  const passed = await unaskedFilter(parts.deps, head)
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const remove = parts.standing.add({ head, watched: () => filter.resourceSubscriptions, withdraw: end, end })
  const { id } = asked
  const say = (told: RpcCall): void => reply.say(callText(stamped(told, id)))
  try {
    if (!reply.begin()) throw mcpFault('invalidRequest', 'A subscription is a stream: accept text/event-stream.')
    if (wantsAny(filter)) noteSent(noted)
    const stop = wantsAny(filter)
      ? await link.listen({
          filter,
          notify: (told) => {
            const shown = passed(told)
            if (shown !== null && wantsChange(filter, told.method, told.params)) say(shown)
          },
          ended: end,
        })
      : null
    say({ method: 'notifications/subscriptions/acknowledged', params: { notifications: toldFilter(filter) } })
    signal.addEventListener('abort', () => end(), { once: true })
    if (stop !== null && !signal.aborted) await over
    stop?.()
    return { result: { resultType: 'complete', _meta: { [metaKeys.subscription]: id, [metaKeys.server]: link.facts.serverInfo } } }
  } finally {
    remove()
  }
}

function readFilter(wanted: unknown): ChangeFilter {
  if (!isFields(wanted)) throw mcpFault('invalidParams', 'params.notifications must be an object that names the changes to hear of.')
  const { resourceSubscriptions = [] } = wanted
  if (!isTexts(resourceSubscriptions) || resourceSubscriptions.length > mostResources)
    throw mcpFault('invalidParams', `params.notifications.resourceSubscriptions must be a list of at most ${mostResources} addresses.`)
  for (const uri of resourceSubscriptions) demandShort(uri)
  const flag = (name: string): boolean => flagOf(wanted, name)
  return {
    toolsListChanged: flag('toolsListChanged'),
    promptsListChanged: flag('promptsListChanged'),
    resourcesListChanged: flag('resourcesListChanged'),
    resourceSubscriptions,
  }
}

/** Throws for an address that is too long to be kept for as long as its client wants to hear of it. */
export function demandShort(uri: string): void {
  if (Buffer.byteLength(uri) > watchBounds.bytesOfOne)
    throw mcpFault('invalidParams', `The address of a resource to hear of may have ${watchBounds.bytesOfOne} bytes.`, { param: 'uri' })
}

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((item) => typeof item === 'string')

function flagOf(wanted: Fields, name: string): boolean {
  const value = wanted[name] ?? false
  if (typeof value !== 'boolean') throw mcpFault('invalidParams', `params.notifications.${name} must be true or false.`)
  return value
}

/** Names the subscription of a notification. */
const stamped = ({ method, params }: RpcCall, id: RpcId): RpcCall => ({
  method,
  params: { ...params, _meta: { ...(isFields(params['_meta']) && params['_meta']), [metaKeys.subscription]: id } },
})
