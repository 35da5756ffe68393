import { route } from '../../app/route.ts'
import { pageWindow, toList } from '../../lib/paging.ts'
import { AuditLog } from './audit-log.entity.ts'
import { auditFilter, auditList } from './audit-log.schema.ts'
import { wantedRows } from './audit-logs.ts'
import { presentAuditLog } from './present-audit-log.ts'

/** Only organisation keys hold its scope. */
export const listAuditLogs = route({
  method: 'GET',
  path: '/audit-logs',
  summary: 'List the audit trail: who changed what',
  permission: 'audit_logs.list',
  query: auditFilter,
  response: auditList,
})(async ({ em, actor, query }) => {
  const where = await wantedRows(em, actor, query)
  const [rows, total] = await em.findAndCount(AuditLog, where, { ...pageWindow(query), orderBy: { at: 'desc', seq: 'desc' } })
  return toList(rows.map(presentAuditLog), total, query)
})
