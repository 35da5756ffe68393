import type { EntityManager } from '@mikro-orm/postgresql'

/**
 * Locks people till the transaction ends, and returns the present ones. A write about people takes this lock ahead of all their rows, such as links,
 * factors, sessions, places and keys, for all of them at once, and the lock of SCIM ahead of this one, so that no two writes wait for each other; a
 * person who was removed meanwhile is noticed here.
 */
export async function lockPeople(em: EntityManager, userIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await em.execute<{ id: string; status: string }[]>(
    `SELECT id, status FROM users WHERE id = ANY (string_to_array(?, ',')::uuid[]) ORDER BY id FOR NO KEY UPDATE`,
    [userIds.join(',')],
  )
  return new Set(rows.filter(({ status }) => status === 'active').map(({ id }) => id))
}
