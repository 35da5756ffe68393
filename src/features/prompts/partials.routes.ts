import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { toList, usualSorts } from '../../lib/paging.ts'
import { defaultCollection, findCollection } from '../collections/index.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { liveRows } from './library.ts'
import {
  createdPartial,
  createPartialBody,
  partialFilter,
  partialList,
  partialParams,
  partialRead,
  partialVersionList,
  partialView,
  updatedPartial,
  updatePartialBody,
} from './partial.schema.ts'
import { partialDependants } from './includes.ts'
import { addPartial, archivePartial, changePartial, findPartial, findPartialVersion, publishPartial } from './partials.ts'
import { presentPartial, presentPartialSummary, presentPartialVersion } from './present.ts'
import { PromptPartial } from './prompt.entity.ts'
import { makeDefaultBody, versionFilter, versionSorts } from './prompt.schema.ts'
import { PartialVersion } from './version.entity.ts'

const resource = 'prompt-partial'

export const createPartial = route({
  method: 'POST',
  path: '/prompts/partials',
  summary: 'Store a partial, which prompts can include',
  permission: 'prompts.create',
  resource,
  body: createPartialBody,
  response: createdPartial,
})(async ({ em, actor, body, audit }) => {
  const { collection_id: reference } = body
  const named = reference === undefined ? null : await findCollection(em, actor, { reference, lock: 'hold', param: 'collection_id' })
  const { id: workspaceId } = await resolveWorkspace(em, actor, body.workspace_id ?? named?.workspaceId)
  const collection = named ?? (await defaultCollection(em, workspaceId))
  if (collection.workspaceId !== workspaceId)
    throw new ApiError('AB01', 'The collection belongs to another workspace.', { param: 'collection_id' })
  const wanted = {
    name: body.name,
    string: body.string,
    description: body.version_description ?? null,
    workspaceId,
    collectionId: collection.id,
  }
  const [partial, version] = await addPartial(em, actor, wanted)
  audit({ id: partial.id, workspaceId })
  return { id: partial.id, slug: partial.slug, version_id: version.id }
})

export const listPartials = route({
  method: 'GET',
  path: '/prompts/partials',
  summary: 'List partials, without their texts',
  permission: 'prompts.list',
  query: partialFilter,
  response: partialList,
})(async ({ em, actor, query }) => {
  const where = await liveRows(em, actor, query)
  const page = await findPage(em, PromptPartial, { where, query, sorts: usualSorts })
  return toList(page.rows.map(presentPartialSummary), page)
})

export const readPartial = route({
  method: 'GET',
  path: '/prompts/partials/:promptPartialId',
  summary: 'Read a partial with its published version, or another by a suffix',
  permission: 'prompts.read',
  params: partialParams,
  query: partialRead,
  response: partialView,
})(async ({ em, actor, params, query }) => {
  const [partial, version] = await findPartialVersion(em, actor, params.promptPartialId)
  return { ...presentPartial(partial, version), ...(query.include_used_by && { used_by: await partialDependants(em, partial) }) }
})

export const updatePartial = route({
  method: 'PUT',
  path: '/prompts/partials/:promptPartialId',
  summary: 'Change a partial, or add a version to it',
  permission: 'prompts.update',
  resource,
  params: partialParams,
  body: updatePartialBody,
  response: updatedPartial,
})(async ({ em, actor, params, body, audit }) => {
  const partial = await findPartial(em, actor, { reference: params.promptPartialId, forWrite: true })
  const version = await changePartial(em, actor, { ...body, partial })
  audit({ id: partial.id, workspaceId: partial.workspaceId })
  return { prompt_partial_version_id: version.id }
})

export const deletePartial = route({
  method: 'DELETE',
  path: '/prompts/partials/:promptPartialId',
  summary: 'Delete a partial that no live version includes',
  permission: 'prompts.delete',
  resource,
  params: partialParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const partial = await findPartial(em, actor, { reference: params.promptPartialId, forWrite: true })
  await archivePartial(em, partial)
  audit({ id: partial.id, workspaceId: partial.workspaceId })
  return {}
})

export const listPartialVersions = route({
  method: 'GET',
  path: '/prompts/partials/:promptPartialId/versions',
  summary: 'List the versions of a partial',
  permission: 'prompts.read',
  params: partialParams,
  query: versionFilter,
  response: partialVersionList,
})(async ({ em, actor, params, query }) => {
  const partial = await findPartial(em, actor, { reference: params.promptPartialId })
  const where = { promptPartialId: partial.id }
  const page = await findPage(em, PartialVersion, { where, query, sorts: versionSorts })
  return toList(
    page.rows.map((version) => presentPartialVersion(partial, version)),
    page,
  )
})

export const makePartialDefault = route({
  method: 'PUT',
  path: '/prompts/partials/:promptPartialId/makeDefault',
  summary: 'Publish a version of a partial',
  permission: 'prompts.publish',
  resource,
  representation: '/prompts/partials/:promptPartialId',
  params: partialParams,
  body: makeDefaultBody,
  response: z.object({}),
})(async ({ em, actor, params, body, audit }) => {
  const partial = await findPartial(em, actor, { reference: params.promptPartialId, forWrite: true })
  await publishPartial(em, partial, body.version)
  audit({ id: partial.id, workspaceId: partial.workspaceId })
  return {}
})
