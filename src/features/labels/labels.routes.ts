import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { containing, toList, usualSorts } from '../../lib/paging.ts'
import { demandOwnOrganisation, resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
import { Label } from './label.entity.ts'
import {
  createLabelBody,
  labelFilter,
  labelList,
  labelParams,
  labelRead,
  labelReference,
  labelView,
  updateLabelBody,
} from './label.schema.ts'
import { addLabel, archiveLabel, changeLabel, findLabel, labelDependants, labelsOf, presentLabel } from './labels.ts'

const resource = 'label'

export const createLabel = route({
  method: 'POST',
  path: '/labels',
  summary: 'Make a label for versions of prompts',
  permission: 'prompts.create',
  resource,
  body: createLabelBody,
  response: labelReference,
})(async ({ em, actor, body, audit }) => {
  demandOwnOrganisation(actor, body.organisation_id)
  const everywhere = actor.workspaceId === null && body.workspace_id === undefined
  const workspaceId = everywhere ? null : (await resolveWorkspace(em, actor, body.workspace_id)).id
  const row = await addLabel(em, actor, { ...body, workspaceId })
  audit({ id: row.id, workspaceId })
  return { id: row.id }
})

export const listLabels = route({
  method: 'GET',
  path: '/labels',
  summary: 'List labels',
  permission: 'prompts.list',
  query: labelFilter,
  response: labelList,
})(async ({ em, actor, query }) => {
  demandOwnOrganisation(actor, query.organisation_id)
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const name = containing(query.search)
  const where = { $and: [labelsOf(actor.organisationId, workspaceId), ...(name === undefined ? [] : [{ name }])] }
  const page = await findPage(em, Label, { where, query, sorts: usualSorts })
  return toList(page.rows.map(presentLabel), page)
})

export const readLabel = route({
  method: 'GET',
  path: '/labels/:labelId',
  summary: 'Read a label',
  permission: 'prompts.read',
  params: labelParams,
  query: labelRead,
  response: labelView,
})(async ({ em, actor, params, query }) => {
  demandOwnOrganisation(actor, query.organisation_id)
  await workspaceFilter(em, actor, query.workspace_id)
  const row = await findLabel(em, actor, { id: params.labelId })
  return { ...presentLabel(row), ...(query.include_used_by && { used_by: await labelDependants(em, row, actor.workspaceId) }) }
})

export const updateLabel = route({
  method: 'PUT',
  path: '/labels/:labelId',
  summary: 'Change a label',
  permission: 'prompts.update',
  resource,
  params: labelParams,
  body: updateLabelBody,
  response: z.object({}),
})(async ({ em, actor, params, body, audit }) => {
  const row = await findLabel(em, actor, { id: params.labelId, forWrite: true })
  await changeLabel(em, row, body)
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})

export const deleteLabel = route({
  method: 'DELETE',
  path: '/labels/:labelId',
  summary: 'Delete a label that no version carries',
  permission: 'prompts.delete',
  resource,
  params: labelParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findLabel(em, actor, { id: params.labelId, forWrite: true })
  await archiveLabel(em, row)
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})
