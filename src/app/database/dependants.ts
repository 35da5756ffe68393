import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'

/** Something that would not work, or would hang in the air, without another resource. */
export const dependantSchema = z
  .object({
    kind: z.string().meta({ description: 'What it is, e.g. `config`, `prompt`, `api_key`.' }),
    id: z.uuid(),
    slug: z.string().nullable(),
    name: z.string(),
    workspace: z.string().nullable().meta({ description: 'The slug of its workspace; null: of the organisation.' }),
  })
  .meta({ id: 'Dependant', description: 'Something that depends on another resource.' })

export type Dependant = z.output<typeof dependantSchema>

/** The field of single reads that lists the dependants of the resource, when the query asks for it. */
export const usedByField = { used_by: z.array(dependantSchema).optional().meta({ description: 'When asked for; at most 100.' }) }

/** The query of single reads that can list the dependants of the resource. */
export const usedByQuery = {
  include_used_by: z
    .stringbool()
    .default(false)
    .meta({ description: 'Whether the answer lists the dependants of the resource, in `used_by`.' }),
}

const most = 100

/** A query for rows of kind, id, slug, name and workspace id, in this order, with `?` for its values. */
export interface DependantsQuery {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Returns the dependants that a query finds, by kind and name, each once; those of one workspace when it is named. */
export function findDependants(
  em: EntityManager,
  { sql, values }: DependantsQuery,
  workspaceId: string | null = null,
): Promise<Dependant[]> {
  return em.execute<Dependant[]>(
    `SELECT DISTINCT d.kind, d.id, d.slug, d.name, w.slug AS workspace
       FROM (${sql}) AS d (kind, id, slug, name, workspace_id) LEFT JOIN workspaces w ON w.id = d.workspace_id
      WHERE ?::uuid IS NULL OR d.workspace_id = ?
      ORDER BY d.kind, d.name, d.id LIMIT ${most}`,
    [...values, workspaceId, workspaceId],
  )
}

const named = 20

const nouns: Readonly<Record<string, string>> = { api_key: 'API key', virtual_key: 'virtual key', mcp_server: 'MCP server' }

/** A stored provider goes by the name that requests give it, all else by the name that people do. */
const inWords = ({ kind, slug, name }: Dependant): string =>
  `${nouns[kind] ?? kind} ${kind === 'provider' || kind === 'virtual_key' ? `@${slug}` : `"${name}"`}`

/** Throws AB07 for a resource that has dependants: the message names some of them, `used_by` lists them. */
export function demandNoDependants(noun: string, dependants: readonly Dependant[]): void {
  if (dependants.length === 0) return
  const rest = dependants.length > named ? ` and ${dependants.length - named} more` : ''
  const names = dependants.slice(0, named).map(inWords)
  throw new ApiError('AB07', `These still depend on this ${noun}: ${names.join(', ')}${rest}. Change or delete them first.`, {
    details: { used_by: dependants },
  })
}
