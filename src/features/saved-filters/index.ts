import { feature } from '../../app/feature.ts'
import { SavedFilter } from './saved-filter.entity.ts'
import { createFilter, deleteFilter, listFilters, readFilter, updateFilter } from './saved-filters.routes.ts'

export { logFilters } from './saved-filter.schema.ts'
export { checkFilters } from './saved-filters.ts'

/** Filters of logs and analytics under names. */
export const savedFilters = feature({
  id: 'saved-filters',
  since: '1.3.0',
  // Workspaces by slug.
  changes: ['1.12.0'],
  requires: ['workspaces', 'logs'],
  permissions: ['logs.view', 'logs.list'],
  entities: [SavedFilter],
  routes: [createFilter, listFilters, readFilter, updateFilter, deleteFilter],
})
