import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** One write on the control plane: who did what to which resource. Written in the transaction of the write. */
export const AuditLog = defineEntity({
  name: 'AuditLog',
  tableName: 'audit_logs',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    at: createdAt(),
    actorType: p.text(),
    actorId: p.uuid(),
    action: p.text(),
    resourceType: p.text(),
    resourceId: p.uuid().nullable(),
    method: p.text(),
    uri: p.text(),
    requestId: p.text(),
    clientIp: p.text(),
    responseStatus: p.integer(),
    requestBody: p.json<unknown>().nullable(),
  },
})

export type AuditLog = InferEntity<typeof AuditLog>
