import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor } from '../../app/route.ts'
import { ownFiguresOf } from '../../lib/access/rank.ts'

/** More keys than a person uses. */
const mostKeys = 1000

/**
 * Returns the keys of a caller that does not see the data of others, as the groups of policies name them; null: the caller sees all groups. A
 * group tells who spent how much, as logs do, so that both follow the same settings.
 */
export async function ownGroups(em: EntityManager, actor: Actor): Promise<readonly string[] | null> {
  const own = ownFiguresOf(actor)
  if (own === null) return null
  const rows = await em.execute<{ id: string }[]>(`SELECT id FROM api_keys WHERE organisation_id = ? AND user_id = ? LIMIT ${mostKeys}`, [
    actor.organisationId,
    own.userId,
  ])
  return [own.apiKeyId, ...rows.map(({ id }) => id)].map((id) => `api_key:${id}`)
}

/** Returns true for the group of a policy that a caller may see: one of the caller's keys, or all requests together. */
export const isShownGroup = (own: readonly string[] | null, group: string | null): boolean =>
  own === null || group === null || group === '' || own.some((name) => group.includes(name))

/** Returns the patterns of SQL's LIKE for the same groups. */
export const patternsOfGroups = (own: readonly string[]): readonly string[] => ['', ...own.map((name) => `%${name}%`)]
