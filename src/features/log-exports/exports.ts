import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { countLogs, logFilter, logScopeOf, type LogFilter, type LogScope } from '../logs/index.ts'
import { visibleTo, workspaceFilter } from '../workspaces/index.ts'
import { checkFilters } from '../saved-filters/index.ts'
import { deniedAmong } from './export-fields.ts'
import { LogExport } from './log-export.entity.ts'

/** The exports that a caller may see: a caller that sees only its own logs sees only exports of just these. */
export function visibleExports(actor: Actor) {
  const { own } = logScopeOf(actor)
  if (own === null) return visibleTo(actor)
  const mine = own.userId === null ? { ownApiKeyId: own.apiKeyId } : { ownUserId: own.userId }
  return { ...visibleTo(actor), ...mine }
}

/** Returns an export that the caller may see; AB08 otherwise. Locked when it is about to change. */
export async function findExport(
  em: EntityManager,
  actor: Actor,
  { id, forWrite = false }: { id: string; forWrite?: boolean },
): Promise<LogExport> {
  const where = { $and: [{ id: isUuid(id) ? id.toLowerCase() : null }, visibleExports(actor)] }
  const row = isUuid(id) ? await em.findOne(LogExport, where, forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {}) : null
  return orNotFound(row, 'export', { reference: id, param: 'exportId' })
}

/** Returns those of some exports that the caller may see. */
export const findVisibleExports = (em: EntityManager, actor: Actor, ids: readonly string[]): Promise<LogExport[]> =>
  em.find(LogExport, { $and: [{ id: { $in: [...ids] } }, visibleExports(actor)] })

/** Returns the owner of the logs of an export: the logs that its maker or starter may see at that time. */
export function ownershipOf(actor: Actor): Pick<LogExport, 'ownApiKeyId' | 'ownUserId'> {
  const { own } = logScopeOf(actor)
  return { ownApiKeyId: own?.apiKeyId ?? null, ownUserId: own?.userId ?? null }
}

/** The owner of the logs of an export. */
export type ExportOwner = Pick<LogExport, 'organisationId' | 'workspaceId' | 'ownApiKeyId' | 'ownUserId'>

/** Returns the logs that an export may have. */
export const scopeOf = ({ organisationId, workspaceId, ownApiKeyId, ownUserId }: ExportOwner): LogScope => ({
  organisationId,
  workspaceId: workspaceId ?? null,
  own: ownApiKeyId === null || ownApiKeyId === undefined ? null : { apiKeyId: ownApiKeyId, userId: ownUserId ?? null },
})

type Filters = LogExport['filters']

/** Returns the workspace that is meant, by its own field or by the filter of the same meaning; null: all of them. */
export async function workspaceOf(
  em: EntityManager,
  actor: Actor,
  wanted: { readonly workspace_id?: string | undefined; readonly filters: Filters },
): Promise<string | null> {
  const { workspace_slug: slug } = wanted.filters
  await checkFilters(em, actor, wanted.filters)
  const named = await workspaceFilter(em, actor, typeof slug === 'string' ? slug : wanted.workspace_id)
  if (typeof slug !== 'string' || wanted.workspace_id === undefined) return named
  if ((await workspaceFilter(em, actor, wanted.workspace_id)) === named) return named
  throw new ApiError('AB01', '`workspace_id` and `filters.workspace_slug` name different workspaces.', { param: 'filters.workspace_slug' })
}

const asText = (value: unknown): unknown =>
  typeof value === 'boolean' ? String(value) : typeof value === 'object' ? JSON.stringify(value) : value

/** Returns stored filters as the list of logs takes them, in the order of time. Throws AB01 for filters that the list refuses. */
export function readFilters({ workspace_slug: _workspace, ...filters }: Filters): LogFilter {
  const query = Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, asText(value)]))
  const { data, error } = logFilter.safeParse({ ...query, order: 'asc' })
  if (data !== undefined) return data
  const [issue] = error.issues
  throw new ApiError('AB01', issue?.message ?? 'The filters are not those of logs.', {
    param: ['filters', ...(issue?.path.slice(0, 1) ?? [])].join('.'),
  })
}

const mostCounted = 50_000
/** Counts and samples that take longer are given up. */
export const countWithinMs = 1500

/** Returns how many logs an export has as things stand; null if that cannot be found soon. */
export function countExported(em: EntityManager, row: LogExport): Promise<number | null> {
  const filter = readFilters(row.filters)
  return soon(em, countWithinMs, (inner) => countLogs(inner, scopeOf(row), { most: mostCounted, filter }))
}

/** Returns the result of a query; null if one of its statements takes longer than that. */
export async function soon<T>(em: EntityManager, ms: number, look: (em: EntityManager) => Promise<T>): Promise<T | null> {
  const [before] = await em.execute<{ bound: string }[]>(`SELECT current_setting('statement_timeout') AS bound`)
  try {
    // A savepoint, so that a statement that takes too long does not end the whole transaction.
    return await em.transactional(async (inner) => {
      await inner.execute(`SELECT set_config('statement_timeout', ?, true)`, [String(ms)])
      const found = await look(inner)
      await inner.execute(`SELECT set_config('statement_timeout', ?, true)`, [before?.bound ?? '0'])
      return found
    })
  } catch (error) {
    if (isTooSlow(error)) return null
    throw error
  }
}

/** Returns true if the database gave a statement up because of its time. */
export const isTooSlow = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && error.code === '57014') || isTooSlow(error.cause))

/** Returns the share of an export that is done, by the rows that were expected. */
function progressOf({ status, rowCount, expectedRows }: LogExport): number | null {
  if (status === 'success') return 1
  if (status !== 'in_progress' || expectedRows === null || expectedRows === undefined) return null
  // More rows than expected do not mean that it is done.
  return expectedRows === 0 ? 0 : Math.min(Math.floor((rowCount / expectedRows) * 1000) / 1000, 0.99)
}

const momentOf = (at: Date | null | undefined): string | null => at?.toISOString() ?? null

/** An export as it is answered. `denied`: the fields that the organisation denies. */
export const presentExport = (row: LogExport, denied: readonly string[]) => ({
  id: row.id,
  organisation_id: row.organisationId,
  workspace_id: row.workspaceId ?? null,
  status: row.status,
  description: row.description,
  kind: row.kind,
  format: row.format,
  granularity: row.options.granularity ?? null,
  tag_keys: row.options.tag_keys === undefined ? null : [...row.options.tag_keys],
  filters: { ...row.filters },
  requested_data: [...row.fields],
  rows: row.rowCount,
  bytes: row.bytes,
  expected_rows: row.expectedRows ?? null,
  progress: progressOf(row),
  sha256: row.sha256 ?? null,
  denied_fields: [...deniedAmong(row.fields, denied)],
  error: row.error ?? null,
  created_by: row.createdBy,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  started_at: momentOf(row.startedAt),
  ended_at: momentOf(row.endedAt),
  expires_at: momentOf(row.expiresAt),
  object: 'export' as const,
})
