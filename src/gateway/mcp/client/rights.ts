import type { Fields } from '../../../lib/json/fields.ts'
import { isFields } from '../../../lib/json/fields.ts'
import { capabilityName } from '../../../lib/mcp-definition.ts'
import { longTurns } from '../../../lib/shares/long-turns.ts'
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

/** The place in which a request names the thing that it is about. */
interface NamedPlace {
  readonly kind: CapabilityKind
  readonly field: string
}

/** By method. */
const namings: ReadonlyMap<unknown, NamedPlace> = new Map<unknown, NamedPlace>([
  ['tools/call', { kind: 'tool', field: 'name' }],
  ['prompts/get', { kind: 'prompt', field: 'name' }],
  ['resources/read', { kind: 'resource', field: 'uri' }],
  ['resources/subscribe', { kind: 'resource', field: 'uri' }],
  ['resources/unsubscribe', { kind: 'resource', field: 'uri' }],
])

/** By the type of the `ref` of `completion/complete`. */
const refs: ReadonlyMap<unknown, NamedPlace> = new Map<unknown, NamedPlace>([
  ['ref/prompt', { kind: 'prompt', field: 'name' }],
  ['ref/resource', { kind: 'resource_template', field: 'uri' }],
])

/** Returns the thing that a request is about; null: it names none, or in no known form. */
export function thingOf(call: RpcCall): McpThing | null {
  const found = foundThing(call)
  return typeof found === 'string' ? null : found
}

/** Throws for a request about a thing that the caller may not use, and for one that should name a thing and does so in no known form. */
export function demandThing(context: RightsContext, call: RpcCall): McpThing | null {
  const found = foundThing(call)
  if (typeof found === 'string') throw mcpFault('invalidParams', found, { param: paramOf(call) })
  if (found !== null) demandAllowed(context, found)
  return found
}

const paramOf = ({ method }: RpcCall): string => namings.get(method)?.field ?? 'ref'

/** Returns the thing of a request, or the fault in its name; null: its method is about none. */
function foundThing({ method, params }: RpcCall): McpThing | string | null {
  const naming = namings.get(method)
  if (naming !== undefined) return named(naming.kind, params[naming.field], `params.${naming.field}`)
  if (method !== 'completion/complete') return null
  const { ref } = params
  const referred = isFields(ref) ? refs.get(ref['type']) : undefined
  if (!isFields(ref) || referred === undefined) return `params.ref must be an object with the type ${[...refs.keys()].join(' or ')}.`
  return named(referred.kind, ref[referred.field], `params.ref.${referred.field}`)
}

const named = (kind: CapabilityKind, name: unknown, field: string): McpThing | string =>
  typeof name === 'string' && name !== '' ? { kind, name } : `${field} must be a text that is not empty.`

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

/** A decision on a long address takes a millisecond or two. */
const inStep = 8

/** Yields things to decide on in steps that take turns at the event loop, for as long as the decisions are wanted. */
export async function* inTurns<Thing>(owner: string, things: readonly Thing[], isWanted: () => boolean): AsyncGenerator<readonly Thing[]> {
  for (let at = 0; at < things.length; at += inStep) {
    await longTurns.step(owner, { isWanted })
    if (!isWanted()) return
    yield things.slice(at, at + inStep)
  }
}

/** The names of a list that are compared at once have so many letters: it takes a few milliseconds. */
const manyLetters = 8192

type ListContext = Pick<McpHead, 'server' | 'caller' | 'exchange'>

/** Returns the result of a list with the things that the caller may use, within the bounds of lists. */
export async function allowedItems(head: ListContext, method: string, result: Fields): Promise<Fields> {
  const list = listKinds.find((kind) => lists[kind].method === method)
  if (list === undefined) return result
  return { ...result, [list]: await shownItems(head, kindsOfLists[list], boundItems(list, result, new Set())) }
}

/** Returns the definitions of the items that the caller may use. */
export async function shownItems(
  { server, caller, exchange }: ListContext,
  kind: CapabilityKind,
  items: readonly Fields[],
): Promise<readonly Fields[]> {
  const letters = items.reduce((sum, item) => sum + (capabilityName(kind, item)?.length ?? 0), 0)
  const shown: Fields[] = []
  for await (const step of letters > manyLetters ? inTurns(caller.key.organisationId, items, () => !exchange.closed) : [items])
    for (const item of step) {
      const { definition } = server.judge(kind, item, caller.key)
      if (definition !== null) shown.push(definition)
    }
  return shown
}
