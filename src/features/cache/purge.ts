import type { EntityManager } from '@mikro-orm/postgresql'

export interface Purge {
  readonly organisationId: string
  /** Null: of all workspaces. */
  readonly workspaceId: string | null
  readonly namespace?: string | undefined
  readonly key?: string | undefined
}

/** Deletes answers, notifies every process, and keeps out answers to requests that began before. Returns how many there were. */
export async function purgeAnswers(em: EntityManager, { organisationId, workspaceId, namespace, key }: Purge): Promise<number> {
  await em.execute(`SELECT pg_advisory_xact_lock(hashtextextended('gatehouse:answers:' || ?, 0))`, [organisationId])
  const conditions = Object.entries({ organisation_id: organisationId, workspace_id: workspaceId, namespace, key }).filter(
    ([, value]) => value !== undefined && value !== null,
  )
  const where = conditions.map(([name]) => `${name} = ?`).join(' AND ')
  const values = conditions.map(([, value]) => value)
  const { affectedRows } = await em.execute<{ affectedRows: number }>(`DELETE FROM cached_answers WHERE ${where}`, values, 'run')
  const [vectors] = await em.execute<{ exist: boolean }[]>(`SELECT to_regclass('answer_vectors') IS NOT NULL AS exist`)
  if (vectors?.exist === true) await em.execute(`DELETE FROM answer_vectors WHERE ${where}`, values)
  await em.execute(
    `INSERT INTO cache_purges (id, organisation_id, purged_at) VALUES (?, ?, clock_timestamp())
     ON CONFLICT (id) DO UPDATE SET purged_at = excluded.purged_at`,
    [organisationId, organisationId],
  )
  return affectedRows
}
