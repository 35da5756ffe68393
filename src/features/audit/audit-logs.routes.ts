import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { toList } from '../../lib/paging.ts'
import { AuditLog } from './audit-log.entity.ts'
import { auditFilter, auditList, sorts } from './audit-log.schema.ts'
import { wantedRows } from './audit-logs.ts'
import { presentAuditLog } from './present-audit-log.ts'

/** Only organisation keys hold its scope. */
export const listAuditLogs = route({
  method: 'GET',
  path: '/audit-logs',
  summary: 'List the audit trail: all changes and their actors',
  permission: 'audit_logs.list',
  query: auditFilter,
  response: auditList,
})(async ({ em, actor, query }) => {
  const where = await wantedRows(em, actor, query)
  const page = await findPage(em, AuditLog, { where, query, sorts, tie: 'seq' })
  return toList(page.rows.map(presentAuditLog), page)
})
