import { feature } from '../../app/feature.ts'
import { forgetCursors, keepPartitions } from './logs.jobs.ts'
import { listLogs, readLog } from './logs.routes.ts'

/** What went through the gateway, one log per exchange; the journal writes them. */
export const logs = feature({
  id: 'logs',
  since: '1.3.0',
  // `log_format`.
  changes: ['1.12.0'],
  requires: ['workspaces'],
  permissions: ['logs.list', 'logs.view'],
  entities: [],
  routes: [listLogs, readLog],
  jobs: [keepPartitions, forgetCursors],
})
