import { feature } from '../../app/feature.ts'
import { AuditLog } from './audit-log.entity.ts'
import { listAuditLogs } from './audit-logs.routes.ts'

/** The trail of control-plane writes; the route adapter writes its rows. */
export const audit = feature({
  id: 'audit',
  since: '1.3.0',
  flag: 'AUDIT_LOGS_ENABLED',
  requires: ['workspaces'],
  permissions: ['audit_logs.list'],
  entities: [AuditLog],
  routes: [listAuditLogs],
})
