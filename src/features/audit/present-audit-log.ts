import type { z } from 'zod'
import type { AuditLog } from './audit-log.entity.ts'
import type { auditRecord } from './audit-log.schema.ts'

/** A row of the trail as it is answered. */
export const presentAuditLog = (row: AuditLog): z.output<typeof auditRecord> => ({
  id: row.id,
  timestamp: row.at.toISOString(),
  method: row.method,
  uri: row.uri,
  request_id: row.requestId,
  request_body: asText(row.requestBody),
  query_params: asText(row.query),
  request_headers: asText(row.requestHeaders),
  user_id: orNull(row.userId),
  user_type: row.actorType,
  actor_id: orNull(row.actorId),
  actor_name: orNull(row.actorName),
  organisation_id: row.organisationId,
  workspace_id: orNull(row.workspaceId),
  response_status_code: row.responseStatus,
  resource_type: row.resourceType,
  resource_id: orNull(row.resourceId),
  action: row.action,
  client_ip: row.clientIp,
  country: orNull(row.country),
  before: orNull(row.before),
  after: orNull(row.after),
  related: orNull(row.related),
  error: orNull(row.error),
  seq: orNull(row.seq),
  hash: row.hash ? Buffer.from(row.hash).toString('hex') : null,
  object: 'audit-log',
})

const orNull = <Value>(value: Value | null | undefined): Value | null => value ?? null

const asText = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value))
