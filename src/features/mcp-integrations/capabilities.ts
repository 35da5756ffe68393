import type { EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { CapabilityKind } from '../../lib/mcp-definition.ts'
import { McpCapability } from './mcp-capability.entity.ts'

/** A capability without its definition. */
export type KnownCapability = Pick<McpCapability, 'id' | 'type' | 'name' | 'enabled' | 'hash' | 'inputHash' | 'isRemoved'>

/** Reads the capabilities of an integration by name, without their definitions. */
export const readKnown = (em: EntityManager, integrationId: string, type?: CapabilityKind): Promise<KnownCapability[]> =>
  em.find(
    McpCapability,
    { integrationId, ...(type !== undefined && { type }) },
    {
      fields: ['id', 'type', 'name', 'enabled', 'hash', 'inputHash', 'isRemoved'],
      orderBy: { name: 'asc', type: 'asc' },
      disableIdentityMap: true,
    },
  )

/** Returns the condition of a list on a capability. */
export const isWanted =
  ({ type, search = '' }: { readonly type?: CapabilityKind | undefined; readonly search?: string | undefined }) =>
  (one: { readonly type: CapabilityKind; readonly name: string }): boolean =>
    (type === undefined || one.type === type) && one.name.toLowerCase().includes(search.toLowerCase())

/** Names a capability among those of its integration. */
export const keyOf = ({ type, name }: { readonly type: CapabilityKind; readonly name: string }): string => `${type} ${name}`

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const list = (value: unknown): unknown[] | null => (Array.isArray(value) ? value : null)

/** A definition as it is answered. */
export const presentDefinition = (type: CapabilityKind, name: string, definition: Fields) => ({
  name,
  type,
  title: text(definition['title']) ?? (text(definition['name']) === name ? null : text(definition['name'])),
  description: text(definition['description']),
  icons: list(definition['icons']),
  input_schema: definition['inputSchema'] ?? null,
  output_schema: definition['outputSchema'] ?? null,
  execution: definition['execution'] ?? null,
  annotations: definition['annotations'] ?? null,
  arguments: list(definition['arguments']),
  uri: text(definition['uri']),
  uri_template: text(definition['uriTemplate']),
  mime_type: text(definition['mimeType']),
  size: typeof definition['size'] === 'number' ? definition['size'] : null,
})

/** The facts of the registry beside the definition. */
export const presentSeen = ({
  hash,
  tokens,
  firstSeenAt,
  changedAt,
}: Pick<McpCapability, 'hash' | 'tokens' | 'firstSeenAt' | 'changedAt'>) => ({
  hash,
  tokens,
  first_seen_at: firstSeenAt.toISOString(),
  changed_at: changedAt.toISOString(),
})

interface CountedCapability {
  readonly type: CapabilityKind
  readonly enabled: boolean
}

/** Counts capabilities by their kinds. */
export function countsOf(rows: readonly CountedCapability[]) {
  const count = (type: CapabilityKind) => {
    const own = rows.filter((row) => row.type === type)
    return { total: own.length, enabled: own.filter(({ enabled }) => enabled).length }
  }
  return { tools: count('tool'), prompts: count('prompt'), resources: count('resource'), resource_templates: count('resource_template') }
}

interface Setting {
  readonly name: string
  readonly type: CapabilityKind
}

/** Returns settings by their keys. AB01 for one that comes twice. */
export function settingsByKey<One extends Setting>(settings: readonly One[]): ReadonlyMap<string, One & { readonly at: number }> {
  const named = new Map<string, One & { readonly at: number }>()
  for (const [at, setting] of settings.entries()) {
    const key = keyOf(setting)
    if (named.has(key)) throw new ApiError('AB01', `capabilities[${at}] comes twice.`, { param: `capabilities[${at}].name` })
    named.set(key, { ...setting, at })
  }
  return named
}

/** AB08 for a setting of a thing that no sync has found. */
export const notOffered = (at: number, name: string): ApiError =>
  new ApiError('AB08', `The server is not known to offer "${name.slice(0, 255)}". POST /v1/mcp-integrations/{id}/sync asks it anew.`, {
    param: `capabilities[${at}].name`,
  })
