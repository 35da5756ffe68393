import type { EntityManager } from '@mikro-orm/postgresql'
import type { LogStore } from '../../app/log-store/log-store.ts'
import { arrayText } from '../../lib/text/array-text.ts'
import { findLogs } from './find-logs.ts'
import type { LogRow } from './log-fields.ts'
import type { FilterValues } from './log-filters.ts'
import type { LogScope } from './logs.queries.ts'

/** The outcome of one erasure. */
export interface ErasureResult {
  readonly erased: number
  /** Logs that are on their way to the log store, and can be erased when they are there. */
  readonly waiting: number
  readonly has_more: boolean
  /** Objects of the log store that are left to its operator. */
  readonly objects: readonly string[]
}

interface ErasureOptions {
  readonly filter: Pick<FilterValues, 'user_id' | 'metadata'>
  readonly limit: number
  readonly store: LogStore | null
}

/**
 * Takes personal data out of logs: bodies, headers, the query of the path, metadata, address, trace, and the person and their own key. The usage and
 * the cost of a request stay, so that sums and budgets stay right. Spans of clients and feedback on the traces of these logs are deleted.
 */
export async function eraseLogs(em: EntityManager, scope: LogScope, { filter, limit, store }: ErasureOptions): Promise<ErasureResult> {
  const found = await findLogs(em, scope, { limit, filter: { ...filter, order: 'asc', page_size: limit } })
  const busy = await busyLogs(em, scope, found)
  const logs = found.filter(({ id }) => !busy.has(id))
  const objects = logs.length === 0 ? [] : await eraseRows(em, scope, logs)
  return {
    erased: logs.length,
    waiting: busy.size,
    has_more: found.length === limit || busy.size > 0,
    objects: await leftInStore(objects, store),
  }
}

const idsOf = (logs: readonly LogRow[]): string => arrayText(logs.map(({ id }) => id))

/** Returns the logs whose bodies may be on their way to the log store. The others are held, so that no move begins. */
async function busyLogs(em: EntityManager, { organisationId }: LogScope, logs: readonly LogRow[]): Promise<ReadonlySet<string>> {
  const held = await em.execute<{ id: string }[]>(
    `SELECT id FROM log_uploads WHERE organisation_id = ? AND id = ANY (?::uuid[]) AND due_at <= now() FOR UPDATE SKIP LOCKED`,
    [organisationId, idsOf(logs)],
  )
  const queued = await em.execute<{ id: string }[]>('SELECT id FROM log_uploads WHERE organisation_id = ? AND id = ANY (?::uuid[])', [
    organisationId,
    idsOf(logs),
  ])
  const free = new Set(held.map(({ id }) => id))
  return new Set(queued.map(({ id }) => id).filter((id) => !free.has(id)))
}

/** Erases rows of one organisation, and returns the objects that held bodies of them. */
async function eraseRows(em: EntityManager, { organisationId }: LogScope, logs: readonly LogRow[]): Promise<readonly string[]> {
  const times = logs.map(({ created_at: at }) => at)
  // A millisecond more at each end, because the times of rows are finer.
  const [first, last] = [Math.min(...times) - 1, Math.max(...times) + 1].map((ms) => new Date(ms).toISOString())
  const rows = 't.organisation_id = ? AND t.created_at BETWEEN ?::timestamptz AND ?::timestamptz AND t.id = ANY (?::uuid[])'
  const values = [organisationId, first, last, idsOf(logs)]
  const stored = await em.execute<{ key: string }[]>(
    `SELECT t.object_key AS key FROM log_bodies t WHERE ${rows} AND t.object_key IS NOT NULL`,
    values,
  )
  await em.execute(`UPDATE log_bodies t SET ${nothingSaid} WHERE ${rows}`, values)
  await em.execute(`DELETE FROM log_words t WHERE ${rows}`, values)
  await em.execute('SELECT forget_users_of_logs(?, ?::uuid[], ?::timestamptz, ?::timestamptz)', [organisationId, idsOf(logs), first, last])
  await em.execute(`UPDATE logs t SET ${nobody} WHERE ${rows}`, values)
  await em.execute('DELETE FROM log_uploads WHERE organisation_id = ? AND id = ANY (?::uuid[])', [organisationId, idsOf(logs)])
  const traced = logs.filter(({ workspace_id: workspaceId }) => workspaceId !== null)
  const traces = [arrayText(traced.map(({ workspace_id: id }) => id ?? '')), arrayText(traced.map(({ trace_id: id }) => id))]
  for (const table of ['trace_spans', 'feedbacks'])
    await em.execute(
      `DELETE FROM ${table} t USING unnest(?::uuid[], ?::text[]) AS of (workspace_id, trace_id)
        WHERE t.organisation_id = ? AND t.workspace_id = of.workspace_id AND t.trace_id = of.trace_id`,
      [...traces, organisationId],
    )
  return stored.map(({ key }) => key)
}

/** The parts of a cost stay: they are numbers. */
const nothingSaid = `upstream_url = NULL, request_headers = '{}', response_headers = '{}', request_body = NULL, response_body = NULL,
  hook_results = NULL, translation = NULL, sealed = NULL, object_key = NULL,
  attempts = (SELECT jsonb_agg(a || '{"error": null}') FROM jsonb_array_elements(t.attempts) a)`

/** The key of a person identifies them; that of a program does not. A query begins with `chr(63)`: a question mark would stand for a value. */
const nobody = `metadata = '{}', client_ip = '', path = split_part(t.path, chr(63), 1), trace_id = t.id::text, span_id = NULL, parent_span_id = NULL, span_name = NULL,
  api_key_id = CASE WHEN t.user_id IS NULL THEN t.api_key_id ELSE '00000000-0000-0000-0000-000000000000' END, user_id = NULL`

/** Deletes objects where Gatehouse may, and returns the others. */
async function leftInStore(objects: readonly string[], store: LogStore | null): Promise<readonly string[]> {
  const remove = store?.remove ?? null
  if (remove === null) return objects
  for (const key of objects) await remove(key)
  return []
}
