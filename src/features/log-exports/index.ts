import { feature } from '../../app/feature.ts'
import { deleteFiles, makeExports } from './exports.jobs.ts'
import { exportRoutes } from './exports.routes.ts'
import { exportFile } from './file.ts'
import { LogExport } from './log-export.entity.ts'

export { readDeniedFields } from './denied-fields.ts'
export { findVisibleExports, presentExport } from './exports.ts'

/** Logs as files, of any number. */
export const logExports = feature({
  id: 'log-exports',
  since: '1.3.0',
  // Workspaces by slug among the filters.
  changes: ['1.12.0'],
  flag: 'DATA_EXPORTS_ENABLED',
  requires: ['logs', 'saved-filters', 'workspaces'],
  permissions: ['logs.export'],
  entities: [LogExport],
  routes: exportRoutes,
  files: [exportFile],
  jobs: [makeExports, deleteFiles],
})
