import type { EntityManager, EntityMetadata } from '@mikro-orm/postgresql'
import type { Dependant } from '../../app/database/dependants.ts'
import { ApiError } from '../../lib/errors.ts'
import { Collection } from '../collections/collection.entity.ts'
import { IntegrationWorkspace } from '../integrations/integration-workspace.entity.ts'
import { McpIntegrationWorkspace } from '../mcp-integrations/mcp-integration-workspace.entity.ts'
import type { Workspace } from './workspace.entity.ts'

/** So many of each kind are named when a workspace is not empty. */
const named = 10
const listed = 100

/** The contents that came with the workspace or by themselves: they are deleted with it, and do not prevent its deletion. */
const incidental: Readonly<Record<string, (row: object) => boolean>> = {
  collections: (row) => Reflect.get(row, 'isDefault') === true,
  providers: (row) => Reflect.get(row, 'isDefault') === true,
}

interface Content {
  readonly table: string
  readonly noun: string
  readonly rows: readonly object[]
}

/** All rows of a workspace that can be archived, of every feature: the entity has a workspace, and a status for it. */
const isContent = ({ properties, abstract }: EntityMetadata): boolean =>
  !abstract && Object.hasOwn(properties, 'workspaceId') && Reflect.get(properties, 'status')?.items?.includes('archived') === true

async function contentsOf(em: EntityManager, workspace: Workspace): Promise<readonly Content[]> {
  const contents: Content[] = []
  for (const meta of [...em.getMetadata().getAll().values()].filter(isContent)) {
    const rows = await em.find<object>(meta.class, { workspaceId: workspace.id, status: { $ne: 'archived' } })
    if (rows.length > 0) contents.push({ table: meta.tableName, noun: meta.tableName.replaceAll('_', ' '), rows })
  }
  return contents
}

const nameOf = (row: object): string => String(Reflect.get(row, 'slug') ?? Reflect.get(row, 'name') ?? Reflect.get(row, 'id'))

/** AB07 that names the contents of the workspace. */
export async function demandEmpty(em: EntityManager, workspace: Workspace): Promise<void> {
  const contents = (await contentsOf(em, workspace))
    .map(({ table, noun, rows }) => ({ table, noun, rows: rows.filter((row) => incidental[table]?.(row) !== true) }))
    .filter(({ rows }) => rows.length > 0)
  if (contents.length === 0) return
  const list = contents.map(({ noun, rows }) => {
    const more = rows.length > named ? `, and ${rows.length - named} more` : ''
    return `${noun} (${rows.slice(0, named).map(nameOf).join(', ')}${more})`
  })
  throw new ApiError('AB07', `The workspace still has ${list.join('; ')}. Delete them first, or set force_delete.`, {
    param: 'force_delete',
    details: { used_by: contents.flatMap(({ table, rows }) => rows.map((row) => toDependant(row, { table, workspace }))).slice(0, listed) },
  })
}

const toDependant = (row: object, { table, workspace }: { readonly table: string; readonly workspace: Workspace }): Dependant => ({
  kind: table.replace(/ies$/, 'y').replace(/s$/, ''),
  id: String(Reflect.get(row, 'id')),
  slug: textOrNull(Reflect.get(row, 'slug')),
  name: textOrNull(Reflect.get(row, 'name')) ?? nameOf(row),
  workspace: workspace.slug,
})

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Archives all that is in the workspace, and takes its access away; a deleted row keeps no secret. */
export async function archiveContents(em: EntityManager, workspace: Workspace): Promise<void> {
  em.remove(await em.find(IntegrationWorkspace, { workspaceId: workspace.id }))
  em.remove(await em.find(McpIntegrationWorkspace, { workspaceId: workspace.id }))
  for (const { rows } of await contentsOf(em, workspace)) {
    for (const row of rows) {
      const erased = secretsOf(em, row).map((name) => [name, null])
      em.assign(row, { status: 'archived', ...Object.fromEntries(erased) })
    }
  }
}

/** Restores the contents that every workspace has. */
export async function restoreIncidental(em: EntityManager, workspace: Workspace): Promise<void> {
  for (const row of await em.find(Collection, { workspaceId: workspace.id, isDefault: true })) row.status = 'active'
}

const secretsOf = (em: EntityManager, row: object): readonly string[] =>
  em
    .getMetadata()
    .get(row.constructor)
    .props.filter(({ runtimeType, nullable }) => nullable === true && (runtimeType === 'Buffer' || runtimeType === 'Uint8Array'))
    .map(({ name }) => name)
