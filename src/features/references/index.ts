import type { EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { ConfigEntity } from '../configs/config.entity.ts'
import { GuardrailEntity } from '../guardrails/guardrail.entity.ts'

/** Whose references these are: a workspace's or, when `workspaceId` is null, the organisation's. */
export interface Home {
  readonly organisationId: string
  readonly workspaceId: string | null
}

/** Which of these slugs and ids name no guardrail that a workspace (null: the organisation itself) may use. */
export async function unknownGuardrails(
  em: EntityManager,
  { organisationId, workspaceId }: Home,
  references: readonly string[],
): Promise<readonly string[]> {
  if (references.length === 0) return []
  const rows = await em.find(
    GuardrailEntity,
    {
      organisationId,
      status: 'active',
      $and: [
        { $or: [{ workspaceId: null }, ...(workspaceId === null ? [] : [{ workspaceId }])] },
        { $or: [{ id: { $in: references.filter(isUuid) } }, { slug: { $in: [...references] } }] },
      ],
    },
    { fields: ['id', 'slug'] },
  )
  const known = new Set(rows.flatMap(({ id, slug }) => [id, slug]))
  return references.filter((reference) => !known.has(reference))
}

/** What requests start from, as far as it names other things. */
interface Defaults {
  readonly input_guardrails?: readonly string[] | null | undefined
  readonly output_guardrails?: readonly string[] | null | undefined
}

/** AB01 for a default guardrail that is not there; `path` is the field that holds the lists. */
export async function demandGuardrails(
  em: EntityManager,
  home: Home,
  { defaults, path }: { readonly defaults: Defaults | null | undefined; readonly path: string | null },
): Promise<void> {
  for (const field of ['input_guardrails', 'output_guardrails'] as const) {
    const named = defaults?.[field] ?? []
    const [unknown] = await unknownGuardrails(em, home, named)
    if (unknown === undefined) continue
    const param = `${path === null ? '' : `${path}.`}${field}[${named.indexOf(unknown)}]`
    const where = home.workspaceId === null ? 'the organisation' : 'this workspace or its organisation'
    throw new ApiError('AB01', `There is no guardrail ${JSON.stringify(unknown)} in ${where}.`, { param })
  }
}

/** AB01 for a config, by slug or id, that the workspace does not have. */
export async function demandConfig(
  em: EntityManager,
  { organisationId, workspaceId }: Home,
  { reference, param }: { readonly reference: string | null | undefined; readonly param: string },
): Promise<void> {
  if (reference === null || reference === undefined) return
  const named = isUuid(reference) ? { id: reference.toLowerCase() } : { slug: reference }
  const found = await em.count(ConfigEntity, { organisationId, workspaceId: workspaceId ?? null, status: 'active', ...named })
  if (found === 0) throw new ApiError('AB01', `There is no config ${JSON.stringify(reference)} in this workspace.`, { param })
}
