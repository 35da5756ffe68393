import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { containing, toList, usualSorts } from '../../lib/paging.ts'
import { resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
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
import { addFilter, checkFilters, demandMayHide, filtersOf, findFilter, findOwnFilter, presentFilters } from './saved-filters.ts'

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
})(async ({ em, actor, body: { workspace_id, ...body }, audit }) => {
  const { id: workspaceId } = await resolveWorkspace(em, actor, workspace_id)
  await checkFilters(em, actor, body.filters)
  demandMayHide(actor, body.visibility, null)
  const { columns = null, sort = null, visibility = 'workspace' } = body
  const row = await addFilter(em, actor, { ...body, columns, sort, visibility, workspaceId })
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
    ...filtersOf(actor),
    ...(workspaceId !== null && { workspaceId }),
    ...(query.type !== undefined && { type: query.type }),
    ...(query.visibility !== undefined && { visibility: query.visibility }),
    ...(name !== undefined && { name }),
  }
  const page = await findPage(em, SavedFilter, { where, query, sorts: usualSorts })
  return toList(await presentFilters(em, page.rows), page)
})

export const readFilter = route({
  method: 'GET',
  path: '/saved-filters/:filterId',
  summary: 'Read a saved filter',
  permission,
  params: filterParams,
  response: filterView,
})(async ({ em, actor, params }) => {
  const [view] = await presentFilters(em, [await findFilter(em, actor, { reference: params.filterId })])
  if (view === undefined) throw new Error('a filter was presented as none')
  return view
})

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
  const row = await findOwnFilter(em, actor, params.filterId)
  if (body.filters !== undefined) await checkFilters(em, actor, body.filters)
  demandMayHide(actor, body.visibility, row)
  assignDefined(row, body)
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
  const row = await findOwnFilter(em, actor, params.filterId)
  row.status = 'archived'
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})
