import { canonicalHash } from './json/canonical-json.ts'
import type { Fields } from './json/fields.ts'

/** The kinds of things that a server of MCP offers. */
export const capabilityKinds = ['tool', 'prompt', 'resource', 'resource_template'] as const
export type CapabilityKind = (typeof capabilityKinds)[number]

/** The fields of a definition by which a client, or a model, is led: a change of one is a change of the thing. */
const covered = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'execution',
  'icons',
  'arguments',
  'uri',
  'uriTemplate',
  'mimeType',
] as const

/** The field by which a thing is called. */
const inputs = { tool: 'inputSchema', prompt: 'arguments', resource: 'uri', resource_template: 'uriTemplate' } as const

/** The field that identifies a thing on its server: names of resources need not be unique. */
const identities = { tool: 'name', prompt: 'name', resource: 'uri', resource_template: 'uriTemplate' } as const

/** Returns the name of a thing as rights and pins use it; null: it has none. */
export function capabilityName(kind: CapabilityKind, definition: Fields): string | null {
  const name = definition[identities[kind]]
  return typeof name === 'string' && name !== '' ? name : null
}

/** The hashes of a definition: of all that a pin covers, and of the input alone. */
export interface DefinitionHashes {
  readonly hash: string
  readonly inputHash: string
}

/** Returns the hashes of a definition. The order of the members of objects, and numbers written in other ways, make no difference. */
export const hashesOf = (kind: CapabilityKind, definition: Fields): DefinitionHashes => ({
  hash: canonicalHash(pick(definition, covered)),
  inputHash: canonicalHash(definition[inputs[kind]] ?? null),
})

/** Returns the fields of a definition that are kept: those that a pin covers, and the size. */
export const keptFields = (definition: Fields): Fields => pick(definition, [...covered, 'size'])

const pick = (definition: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(
    names.flatMap((name) => (definition[name] === undefined || definition[name] === null ? [] : [[name, definition[name]]])),
  )
