import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import type { Redaction } from '../../app/audit/chain.ts'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** One write on the control plane: actor, action and resource. Written in the transaction of the write. */
export const AuditLog = defineEntity({
  name: 'AuditLog',
  tableName: 'audit_logs',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    at: createdAt(),
    actorType: p.text().$type<'user' | 'api_key' | 'invite' | 'operator' | 'scim_token' | 'system'>(),
    /** The key, or the user of a token; null for a caller without an id of ours. */
    actorId: p.uuid().nullable(),
    actorName: p.text().nullable(),
    userId: p.uuid().nullable(),
    action: p.text(),
    resourceType: p.text(),
    resourceId: p.uuid().nullable(),
    method: p.text(),
    uri: p.text(),
    query: p.json<unknown>().nullable(),
    requestId: p.text(),
    clientIp: p.text(),
    /** Two letters, from a trusted proxy. */
    country: p.text().nullable(),
    responseStatus: p.integer(),
    requestHeaders: p.json<unknown>().nullable(),
    requestBody: p.json<unknown>().nullable(),
    before: p.json<unknown>().nullable(),
    after: p.json<unknown>().nullable(),
    related: p.json<unknown>().nullable(),
    error: p.json<unknown>().nullable(),
    seq: p.bigint('number').nullable(),
    hash: p.blob().nullable(),
    /** Null: the row is as it was written. */
    redaction: p.json<Redaction>().nullable(),
  },
})

export type AuditLog = InferEntity<typeof AuditLog>
