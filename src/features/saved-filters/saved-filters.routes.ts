import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { containing, toList, usualSorts } from '../../lib/paging.ts'
import { resolveWorkspace, visibleTo, workspaceFilter } from '../workspaces/index.ts'
import { SavedFilter } from './saved-filter.entity.ts'
import {
  createFilterBody,
  filterList,
  filterParams,
  filterQuery,
  filterReference,
  filterView,
  updateFilterBody,
} from './saved-filter.schema.ts'
import { addFilter, checkFilters, findFilter, presentFilter } from './saved-filters.ts'

/** The scopes for saved filters: those for looking at logs. */
const permission = ['logs.view', 'logs.list']
const resource = 'saved-filter'

export const createFilter = route({
  method: 'POST',
  path: '/saved-filters',
  summary: 'Save a filter of logs or analytics',
  permission,
  resource,
  body: createFilterBody,
  response: filterReference,
})(async ({ em, actor, body: { name, type, filters, workspace_id }, audit }) => {
  const { id: workspaceId } = await resolveWorkspace(em, actor, workspace_id)
  await checkFilters(em, actor, filters)
  const row = await addFilter(em, actor, { name, type, filters, workspaceId })
  audit({ id: row.id, workspaceId })
  return { id: row.id, slug: row.slug }
})

export const listFilters = route({
  method: 'GET',
  path: '/saved-filters',
  summary: 'List saved filters',
  permission,
  query: filterQuery,
  response: filterList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const name = containing(query.search)
  const where = {
    ...visibleTo(actor),
    status: 'active' as const,
    ...(workspaceId !== null && { workspaceId }),
    ...(query.type !== undefined && { type: query.type }),
    ...(name !== undefined && { name }),
  }
  const page = await findPage(em, SavedFilter, { where, query, sorts: usualSorts })
  return toList(page.rows.map(presentFilter), page)
})

export const readFilter = route({
  method: 'GET',
  path: '/saved-filters/:filterId',
  summary: 'Read a saved filter',
  permission,
  params: filterParams,
  response: filterView,
})(async ({ em, actor, params }) => presentFilter(await findFilter(em, actor, { reference: params.filterId })))

export const updateFilter = route({
  method: 'PUT',
  path: '/saved-filters/:filterId',
  summary: 'Change a saved filter',
  permission,
  resource,
  params: filterParams,
  body: updateFilterBody,
  response: filterReference,
})(async ({ em, actor, params, body, audit }) => {
  const row = await findFilter(em, actor, { reference: params.filterId, forWrite: true })
  if (body.filters !== undefined) await checkFilters(em, actor, body.filters)
  assignDefined(row, { name: body.name, filters: body.filters })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return { id: row.id, slug: row.slug }
})

export const deleteFilter = route({
  method: 'DELETE',
  path: '/saved-filters/:filterId',
  summary: 'Delete a saved filter',
  permission,
  resource,
  params: filterParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findFilter(em, actor, { reference: params.filterId, forWrite: true })
  row.status = 'archived'
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})
