import { feature } from '../../app/feature.ts'
import { dropPartitions, expireObjects, forgetCursors, keepPartitions, keepWorkspaces } from './logs.jobs.ts'
import { eraseLogsOf } from './erase.routes.ts'
import { insertLogs } from './insert.routes.ts'
import { listLogs, readLog, readLogCost } from './logs.routes.ts'

export { findLogsById } from './find-logs-by-id.ts'
export { findLogs } from './find-logs.ts'
export { countLogs, findLog, logScopeOf, noBodies, scopeConditions, withBodies, type LogScope } from './logs.queries.ts'
export { logFilter, type LogFilter } from './log.schema.ts'
export { presentBody } from './present-body.ts'
export { figureConditions, needsLogs, success, valueConditions, valueFilters, type Condition, type FilterValues } from './log-filters.ts'
export { costStates, presentLog, type LogDetail, type LogMetrics, type LogRow } from './log-fields.ts'
export { openLog } from './open-log.ts'
export { isOurs, presentLogDetail } from './present-log.ts'
export { logAttempt, loggedHookResults } from './log.schema.ts'
export { insertedOperation } from './inserted-log.ts'
export { logSelection, readSample, selectLogs, type LogSample, type LogSelection } from './samples.ts'

/** Logs: one per exchange of the gateway, and those that clients insert for calls of their own. The journal writes both. */
export const logs = feature({
  id: 'logs',
  since: '1.3.0',
  // The path format of the log store; reading by the key of an object; `log_format`.
  changes: ['1.5.0', '1.5.1', '1.12.0'],
  requires: ['workspaces'],
  permissions: ['logs.list', 'logs.view', 'logs.write', 'organisation_settings.update'],
  entities: [],
  routes: [insertLogs, listLogs, readLog, readLogCost, eraseLogsOf],
  jobs: [keepPartitions, dropPartitions, keepWorkspaces, expireObjects, forgetCursors],
})
