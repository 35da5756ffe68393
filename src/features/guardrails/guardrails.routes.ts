import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { findPage } from '../../app/database/list.ts'
import { route, type Actor } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { findGuardrail, guardrailScopes, homeOfNew, listed } from './access.ts'
import { GuardrailEntity } from './guardrail.entity.ts'
import {
  createGuardrailBody,
  guardrailFilter,
  guardrailList,
  guardrailParams,
  guardrailRead,
  guardrailReference,
  guardrailView,
  updateGuardrailBody,
} from './guardrail.schema.ts'
import { addGuardrail, changedActions, presentDetail, presentGuardrail, replaceChecks } from './guardrails.ts'
import { demandNotBoundFromAbove } from '../references/index.ts'
import { guardrailDependants, refuseWhenUsed } from './references.ts'

const resource = 'guardrail'

const writing = (actor: Actor, { vault, egress, level }: Deps) => ({ actor, vault, egress, level })
const referenceTo = ({ id, slug, versionId }: GuardrailEntity) => ({ id, slug, version_id: versionId })

export const createGuardrail = route({
  method: 'POST',
  path: '/guardrails',
  summary: 'Create a guardrail, for a workspace or for the organisation',
  permission: guardrailScopes('create'),
  resource,
  body: createGuardrailBody,
  response: guardrailReference,
})(async ({ em, actor, deps, body, audit }) => {
  const workspaceId = await homeOfNew(em, actor, body)
  const wanted = { name: body.name, slug: body.slug, checks: body.checks, actions: body.actions, workspaceId }
  const row = await addGuardrail(em, wanted, writing(actor, deps))
  audit({ id: row.id, workspaceId })
  return referenceTo(row)
})

export const listGuardrails = route({
  method: 'GET',
  path: '/guardrails',
  summary: 'List guardrails, without their checks',
  permission: guardrailScopes('list'),
  query: guardrailFilter,
  response: guardrailList,
})(async ({ em, actor, query }) => {
  const only = query.ids === undefined ? {} : { $or: [{ id: { $in: query.ids.filter(isUuid) } }, { slug: { $in: query.ids } }] }
  const where = { $and: [await listed(em, actor, query), only, searching(query.search, 'name', 'slug')] }
  const page = await findPage(em, GuardrailEntity, { where, query, sorts: usualSorts })
  return toList(page.rows.map(presentGuardrail), page)
})

export const readGuardrail = route({
  method: 'GET',
  path: '/guardrails/:guardrailId',
  summary: 'Read a guardrail, the secrets of its checks masked',
  permission: guardrailScopes('read'),
  params: guardrailParams,
  query: guardrailRead,
  response: guardrailView,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findGuardrail(em, actor, { reference: params.guardrailId, verb: 'read' })
  const view = await presentDetail(row, deps.vault)
  return query.include_used_by ? { ...view, used_by: await guardrailDependants(em, row, actor.workspaceId) } : view
})

export const updateGuardrail = route({
  method: 'PUT',
  path: '/guardrails/:guardrailId',
  summary: 'Change a guardrail; requests follow it within a second',
  permission: guardrailScopes('update'),
  resource,
  params: guardrailParams,
  body: updateGuardrailBody,
  response: guardrailReference,
})(async ({ em, actor, deps, params, body, audit }) => {
  const row = await findGuardrail(em, actor, { reference: params.guardrailId, verb: 'update', workspace: body.workspace_id })
  const param = body.checks === undefined ? 'actions' : 'checks'
  if (body.checks !== undefined || body.actions !== undefined) await demandNotBoundFromAbove(em, actor, { noun: 'guardrail', row, param })
  if (body.checks !== undefined) await replaceChecks(row, body.checks, writing(actor, deps))
  const changed = body.checks !== undefined || body.actions !== undefined
  assignDefined(row, {
    name: body.name,
    actions: changedActions(row.actions, body.actions),
    versionId: changed ? uuidv7() : undefined,
    updatedBy: actor.userId ?? actor.id,
  })
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return referenceTo(row)
})

export const deleteGuardrail = route({
  method: 'DELETE',
  path: '/guardrails/:guardrailId',
  summary: 'Delete a guardrail; refused while configs or defaults name it',
  permission: guardrailScopes('delete'),
  resource,
  params: guardrailParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findGuardrail(em, actor, { reference: params.guardrailId, verb: 'delete' })
  await refuseWhenUsed(em, row)
  assignDefined(row, { status: 'archived', updatedBy: actor.userId ?? actor.id })
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})
