import type { EntityManager } from '@mikro-orm/postgresql'
import { holdSlug } from '../../app/database/find.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'

/** A free slug such as `pp-my-prompt`, held until the transaction ends. Prompts and partials each have their own. */
export async function choosePromptSlug(
  em: EntityManager,
  { table, organisationId, name }: { table: 'prompts' | 'prompt_partials'; organisationId: string; name: string },
): Promise<string> {
  const wanted = `pp-${toSlug(name, 'prompt')}`.slice(0, 255)
  await holdSlug(em, `${table}:${organisationId}`, wanted)
  return freeSlug(wanted, async (slug) => {
    const rows = await em.execute<unknown[]>(`SELECT 1 FROM ${table} WHERE organisation_id = ? AND slug = ? AND status <> 'archived'`, [
      organisationId,
      slug,
    ])
    return rows.length > 0
  })
}
