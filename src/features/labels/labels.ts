import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { demandNoDependants, findDependants, type Dependant } from '../../app/database/dependants.ts'
import { flushUnique, holdSlug, notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { Label } from './label.entity.ts'

/** The labels that serve in a workspace, the organisation's own among them; of all workspaces when it is null. */
export const labelsOf = (organisationId: string, workspaceId: string | null): FilterQuery<Label> => ({
  organisationId,
  status: 'active',
  ...(workspaceId !== null && { $or: [{ workspaceId: null }, { workspaceId }] }),
})

/** A live label that the caller may see; AB08 otherwise. Locked when it is about to change, and then one that may change. */
export async function findLabel(
  em: EntityManager,
  actor: Actor,
  { id, forWrite = false }: { id: string; forWrite?: boolean },
): Promise<Label> {
  const where = { $and: [labelsOf(actor.organisationId, actor.workspaceId), { id: isUuid(id) ? id.toLowerCase() : null }] }
  const row = isUuid(id) ? await em.findOne(Label, where, forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {}) : null
  if (row === null) throw notFound('label', id)
  if (forWrite) demandChangeable(actor, row)
  return row
}

function demandChangeable(actor: Actor, { isBuiltIn, name, workspaceId }: Label): void {
  if (isBuiltIn) throw new ApiError('AB03', `The label ${name} is part of every organisation and stays as it is.`)
  if (!workspaceId && actor.workspaceId !== null)
    throw new ApiError('AB03', "The organisation's labels are changed with an organisation key.")
}

export interface LabelFields {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly color_code?: string | null | undefined
}

/** Stores a label. The row is written when it returns. */
export async function addLabel(
  em: EntityManager,
  actor: Actor,
  { workspaceId, ...fields }: LabelFields & { readonly name: string; readonly workspaceId: string | null },
): Promise<Label> {
  const { name } = fields
  await demandFreeName(em, { organisationId: actor.organisationId, workspaceId, name })
  const row = em.create(Label, {
    organisationId: actor.organisationId,
    workspaceId,
    name,
    description: fields.description ?? null,
    colorCode: fields.color_code ?? null,
    createdBy: actor.id,
  })
  await flushUnique(em, taken(name), 'name')
  return row
}

/** Changes the fields of the body. */
export async function changeLabel(em: EntityManager, row: Label, fields: LabelFields): Promise<void> {
  const { name } = fields
  if (name !== undefined && name !== row.name) {
    const { organisationId, workspaceId = null } = row
    await demandFreeName(em, { organisationId, workspaceId, name })
  }
  assignDefined(row, { name, description: fields.description, colorCode: fields.color_code })
  await flushUnique(em, taken(name ?? row.name), 'name')
}

const taken = (name: string) => `There is a label "${name}" already.`

interface Home {
  readonly organisationId: string
  readonly workspaceId: string | null
  readonly name: string
}

/** Throws when `prompt@label` would be ambiguous in a workspace: labels of the organisation and of a workspace never share a name. */
async function demandFreeName(em: EntityManager, { organisationId, workspaceId, name }: Home): Promise<void> {
  await holdSlug(em, `labels:${organisationId}`, name)
  const rivals = await em.count(Label, { $and: [labelsOf(organisationId, workspaceId), { name }] })
  if (rivals > 0) throw new ApiError('AB07', taken(name), { param: 'name' })
}

const carriers = `
  SELECT 'prompt', p.id, p.slug || '@' || v.version, p.name, p.workspace_id FROM prompt_versions v JOIN prompts p ON p.id = v.prompt_id
   WHERE v.label_id = ? AND p.status = 'active'`

/** Returns the prompts of which a version carries a label; of one workspace when it is named. */
export const labelDependants = (em: EntityManager, { id }: Label, workspaceId: string | null): Promise<Dependant[]> =>
  findDependants(em, { sql: carriers, values: [id] }, workspaceId)

/** Deletes a label that no version carries; AB07 naming the prompts otherwise. */
export async function archiveLabel(em: EntityManager, row: Label): Promise<void> {
  demandNoDependants('label', await labelDependants(em, row, null))
  row.status = 'archived'
}

/** A label as it is answered. */
export const presentLabel = (row: Label) => ({
  id: row.id,
  name: row.name,
  description: row.description ?? null,
  color_code: row.colorCode ?? null,
  organisation_id: row.organisationId,
  workspace_id: row.workspaceId ?? null,
  is_universal: !row.workspaceId,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  status: row.status,
  object: 'label' as const,
})
