import { asSystem } from '../database/orm.ts'
import type { Deps } from '../deps.ts'

/** Offers the identity of the process to the first organisation, where the settings mean that one: others were made later, for others. */
export async function offerIdentity({ orm, signing }: Pick<Deps, 'orm' | 'signing'>): Promise<void> {
  const [first] = await asSystem(orm, (em) => em.execute<{ id: string }[]>('SELECT id FROM organisations ORDER BY created_at, id LIMIT 1'))
  if (first !== undefined) signing.offerToFirst(first.id)
}
