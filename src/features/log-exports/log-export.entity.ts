import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The form of an export of costs. */
export interface FocusOptions {
  readonly granularity?: 'hour' | 'day'
  readonly tag_keys?: readonly string[]
}

/** An export of logs: its contents, and its progress. Its parts are read and written by SQL alone. */
export const LogExport = defineEntity({
  name: 'LogExport',
  tableName: 'log_exports',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: the logs of all workspaces. */
    workspaceId: p.uuid().nullable(),
    description: p.string().length(255),
    kind: p.text().$type<'logs' | 'focus'>(),
    format: p.text().$type<'jsonl' | 'csv' | 'parquet'>(),
    filters: p.json<Readonly<Record<string, unknown>>>(),
    fields: p.json<readonly string[]>(),
    status: status('draft', 'in_progress', 'success', 'failed', 'stopped'),
    error: p.text().nullable(),
    ownApiKeyId: p.uuid().nullable(),
    ownUserId: p.uuid().nullable(),
    createdBy: p.uuid(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
    startedAt: p.datetime().nullable(),
    endedAt: p.datetime().nullable(),
    expiresAt: p.datetime().nullable(),
    parts: p.integer().default(0),
    rowCount: p.bigint('number').default(0),
    bytes: p.bigint('number').default(0),
    expectedRows: p.bigint('number').nullable(),
    sha256: p.text().nullable(),
    // Only those who make the parts read and write the rest (`claims.ts`).
    options: p.json<FocusOptions>().default('{}'),
    progress: p.json<object>().nullable(),
    attempts: p.integer().default(0),
    workedAt: p.datetime().nullable(),
    leaseToken: p.uuid().nullable(),
    leaseUntil: p.datetime().nullable(),
  },
})

export type LogExport = InferEntity<typeof LogExport>
