import { z } from 'zod'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { toList } from '../../lib/paging.ts'
import { demandRead, findIntegration, integrationScopes } from './access.ts'
import { integrationParams } from './integration.schema.ts'
import { deleteModels, findModels, presentModel, updateModels } from './models.ts'
import { deleteModelsBody, deleteModelsQuery, modelList, modelsPage, updateModelsBody } from './models.schema.ts'

const resource = 'integration'
const empty = z.object({})

export const listModels = route({
  method: 'GET',
  path: '/integrations/:slug/models',
  summary: 'List the models with settings in an integration',
  permission: integrationScopes('read'),
  params: integrationParams,
  query: modelsPage,
  response: modelList,
})(async ({ em, actor, params, query }) => {
  const row = await findIntegration(em, actor, { reference: params.slug, verb: 'read' })
  demandRead(actor, row.workspaceId)
  const page = await findModels(em, row, query)
  const { data: models, ...list } = toList(page.rows.map(presentModel), page)
  return { ...list, allow_all_models: row.allowAllModels, models }
})

export const putModels = route({
  method: 'PUT',
  path: '/integrations/:slug/models',
  summary: 'Enable, disable, add and price models; those that are not named stay as they are',
  permission: integrationScopes('update'),
  resource,
  params: integrationParams,
  body: updateModelsBody,
  response: empty,
})(async ({ em, actor, deps, params, body, audit }) => {
  const row = await findIntegration(em, actor, { reference: params.slug, verb: 'update' })
  assignDefined(row, { allowAllModels: body.allow_all_models })
  await updateModels(em, row, { actor, models: body.models, egress: deps.egress })
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})

export const removeModels = route({
  method: 'DELETE',
  path: '/integrations/:slug/models',
  summary: 'Delete the settings of models in an integration',
  permission: integrationScopes('update'),
  action: 'update',
  resource,
  params: integrationParams,
  query: deleteModelsQuery,
  body: deleteModelsBody,
  response: empty,
})(async ({ em, actor, params, query, body, audit }) => {
  const row = await findIntegration(em, actor, { reference: params.slug, verb: 'update' })
  const slugs = [...new Set([...(query.slugs ?? []), ...(body.models ?? [])])]
  if (slugs.length === 0)
    throw new ApiError('AB01', 'No model is named. Send slugs in the query, or {"models": ["…"]} as the body.', { param: 'models' })
  await deleteModels(em, row, { actor, slugs, param: query.slugs === undefined ? 'models' : 'slugs' })
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})
