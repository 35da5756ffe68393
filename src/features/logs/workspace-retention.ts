import type { EntityManager } from '@mikro-orm/postgresql'
import { jobEntry } from '../../app/audit/job-entry.ts'
import { writeAudit } from '../../app/audit/write.ts'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { LogStore } from '../../app/log-store/log-store.ts'
import { isOn } from '../../config/effect.ts'
import { arrayText } from '../../lib/text/array-text.ts'

/** A workspace whose logs are deleted before those of the installation. */
interface RetentionRule {
  readonly id: string
  readonly organisation_id: string
  readonly days: number
}

/** A log that is deleted; `at` is `created_at` as PostgreSQL writes it. */
interface Old {
  readonly at: string
  readonly id: string
  readonly key: string | null
}

const dayMs = 86_400_000
/** Few enough that a transaction is over within a part of a second, large bodies included. */
const mostOfBatch = 500
/** A run ends after so long; the next one goes on. */
const runMs = 60_000

/** Deletes the logs of workspaces that keep theirs for a shorter time than the installation, by whole days of UTC. */
export async function expireOfWorkspaces(deps: Deps): Promise<void> {
  const { orm, config, log } = deps
  const until = performance.now() + runMs
  const workspaces = await asSystem(orm, (em) =>
    em.execute<RetentionRule[]>(
      `SELECT id, organisation_id, log_retention_days AS days FROM workspaces WHERE log_retention_days < ? ORDER BY organisation_id, id`,
      [config.logRetentionDays],
    ),
  )
  for (const workspace of workspaces) {
    let [deleted, last] = [0, mostOfBatch]
    while (last === mostOfBatch && performance.now() < until) {
      last = await asSystem(orm, (em) => deleteSome(em, workspace, { deps, isFirst: deleted === 0 }))
      deleted += last
    }
    if (deleted > 0)
      log.info({ workspace: workspace.id, days: workspace.days, logs: deleted }, 'logs of a workspace were deleted with their retention')
  }
}

interface Run {
  readonly deps: Deps
  readonly isFirst: boolean
}

/** Deletes a batch in one transaction, the first of a run with a row in the audit trail. Returns how many logs it were. */
async function deleteSome(em: EntityManager, workspace: RetentionRule, { deps, isFirst }: Run): Promise<number> {
  const { clock, config, logStore } = deps
  const midnight = Math.floor(clock.now() / dayMs) * dayMs
  const before = new Date(midnight - workspace.days * dayMs).toISOString()
  // Days that the installation does not keep are dropped as a whole: a transaction that touched them would stand in the way.
  const since = new Date(midnight - config.logRetentionDays * dayMs).toISOString()
  const old = await em.execute<Old[]>(oldLogs, [workspace.organisation_id, workspace.id, since, before])
  if (old.length === 0) return 0
  await removeObjects(old, logStore)
  const times = arrayText(old.map(({ at }) => at))
  const ids = arrayText(old.map(({ id }) => id))
  await em.execute('SELECT forget_users_of_logs(?, ?::uuid[], ?::timestamptz, ?::timestamptz)', [
    workspace.organisation_id,
    ids,
    old[0]?.at,
    old.at(-1)?.at,
  ])
  for (const table of ['log_uploads', 'log_words', 'log_bodies', 'logs'])
    await em.execute(
      `DELETE FROM ${table} t USING unnest(?::timestamptz[], ?::uuid[]) AS m (created_at, id)
        WHERE t.created_at = m.created_at AND t.id = m.id AND t.organisation_id = ? AND t.created_at >= ?::timestamptz AND t.created_at < ?::timestamptz`,
      [times, ids, workspace.organisation_id, since, before],
    )
  if (isFirst && isOn('AUDIT_LOGS_ENABLED', config, deps.level))
    await writeAudit(em, deps.vault, entryOf(workspace, { before, at: clock.now() }))
  return old.length
}

/**
 * Old logs of a workspace, the oldest first: but those that roll-ups have not counted yet, and those whose bodies may be on their way to the log
 * store, whose object would be left behind. The others are held, so that no move begins.
 */
const oldLogs = `
  WITH old AS MATERIALIZED (
         SELECT l.created_at, l.id FROM logs l
          WHERE l.organisation_id = ? AND l.workspace_id = ? AND l.created_at >= ?::timestamptz AND l.created_at < ?::timestamptz
            AND l.created_at >= (SELECT complete_from FROM usage_state)
            AND NOT EXISTS (SELECT FROM log_uploads u WHERE u.created_at = l.created_at AND u.id = l.id AND u.due_at > now())
          ORDER BY l.created_at, l.id LIMIT ${mostOfBatch}),
       held AS MATERIALIZED (
         SELECT u.created_at, u.id FROM log_uploads u JOIN old o ON o.created_at = u.created_at AND o.id = u.id
          WHERE u.due_at <= now() FOR UPDATE OF u SKIP LOCKED)
  SELECT o.created_at::text AS at, o.id, b.object_key AS key
    FROM old o LEFT JOIN log_bodies b ON b.created_at = o.created_at AND b.id = o.id
   WHERE EXISTS (SELECT FROM held h WHERE h.created_at = o.created_at AND h.id = o.id)
      OR NOT EXISTS (SELECT FROM log_uploads u WHERE u.created_at = o.created_at AND u.id = o.id)
   ORDER BY o.created_at`

/** Objects that are deleted at a time. */
const atOnce = 16

/** Deletes objects where Gatehouse may; elsewhere rules of the store do it, which go by the days that a key begins with. */
async function removeObjects(old: readonly Old[], store: LogStore | null): Promise<void> {
  const remove = store?.remove ?? null
  if (remove === null) return
  const keys = old.flatMap(({ key }) => (key === null ? [] : [key]))
  for (let first = 0; first < keys.length; first += atOnce) await Promise.all(keys.slice(first, first + atOnce).map(remove))
}

const name = 'logs.expire-of-workspaces'

const entryOf = (
  { id, organisation_id: organisationId, days }: RetentionRule,
  { before, at }: { readonly before: string; readonly at: number },
) =>
  jobEntry({
    job: name,
    organisationId,
    workspaceId: id,
    action: 'expire',
    resourceType: 'log',
    resourceId: id,
    changes: [{ table: 'logs', id, before: null, after: { log_retention_days: days, deleted_before: before } }],
    at,
  })
