import type { Fields } from '../../../lib/json/fields.ts'
import { isFields } from '../../../lib/json/fields.ts'
import { boundItems, type ListKind, listKinds, lists } from '../protocol/capabilities.ts'
import { mcpFault } from '../protocol/faults.ts'
import type { RpcCall } from '../protocol/messages.ts'
import type { CapabilityKind } from '../registry.ts'
import type { McpHead } from './caller.ts'

/** A thing of a server. */
export interface McpThing {
  readonly kind: CapabilityKind
  readonly name: string
}

/** For each list the kind of its items. */
const kindsOfLists: Readonly<Record<ListKind, CapabilityKind>> = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'resource_template',
}

/** Returns the thing that a request is about; null: it names none. */
export function thingOf({ method, params }: RpcCall): McpThing | null {
  if (method === 'tools/call') return named('tool', params['name'])
  if (method === 'prompts/get') return named('prompt', params['name'])
  if (method.startsWith('resources/') && params['uri'] !== undefined) return named('resource', params['uri'])
  const { ref } = params
  if (method !== 'completion/complete' || !isFields(ref)) return null
  return ref['type'] === 'ref/prompt' ? named('prompt', ref['name']) : named('resource_template', ref['uri'])
}

const named = (kind: CapabilityKind, name: unknown): McpThing | null => (typeof name === 'string' ? { kind, name } : null)

type RightsContext = Pick<McpHead, 'server' | 'caller'>

/** Throws for a thing that the caller may not use. Lists leave it out by the same decision. */
export function demandAllowed({ server, caller }: RightsContext, { kind, name }: McpThing): void {
  const decision = server.decide(kind, name, caller.key)
  if (decision === 'allowed') return
  const word = kind === 'resource_template' ? 'resource' : kind
  const reason = decision === 'held' ? `${word}_held` : `${word}_not_allowed`
  const shown = JSON.stringify(name.slice(0, 200))
  throw mcpFault(
    'refusedParams',
    decision === 'held' ? `The ${word} ${shown} waits for an approval.` : `The ${word} ${shown} is not there, or you may not use it.`,
    { reason, [kind === 'resource' ? 'uri' : 'name']: name.slice(0, 200) },
  )
}

/** Returns the result of a list with the things that the caller may use, within the bounds of lists. */
export function allowedItems({ server, caller }: RightsContext, method: string, result: Fields): Fields {
  const list = listKinds.find((kind) => lists[kind].method === method)
  if (list === undefined) return result
  const kind = kindsOfLists[list]
  const items = boundItems(list, result, new Set())
  const shown = items.flatMap((item) => {
    const { definition } = server.judge(kind, item, caller.key)
    return definition === null ? [] : [definition]
  })
  return { ...result, [list]: shown }
}
