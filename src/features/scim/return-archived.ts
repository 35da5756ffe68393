import type { EntityManager } from '@mikro-orm/postgresql'
import type { RowChange } from '../../app/audit/changes.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { groupBasedProvisioning } from '../../lib/access/provisioning-settings.ts'

/**
 * Lets removed users return that a group is sent with, if the organisation wants that; a deactivated user is in their groups still. Without the
 * setting they stay removed: some identity providers send the whole list of members at each change, with the removed ones.
 */
export async function returnArchived(em: EntityManager, organisationId: string, userIds: readonly string[]): Promise<readonly RowChange[]> {
  if (userIds.length === 0) return []
  const { settings } = await em.findOneOrFail(Organisation, { id: organisationId })
  if (!groupBasedProvisioning(settings)) return []
  const returned = await em.execute<{ id: string }[]>(
    `UPDATE users u SET status = 'active', last_updated_at = now()
      WHERE u.organisation_id = ? AND u.status = 'archived' AND u.id IN (SELECT value::uuid FROM jsonb_array_elements_text(?::jsonb))
        AND EXISTS (SELECT 1 FROM scim_users s WHERE s.id = u.id)
        AND NOT EXISTS (SELECT 1 FROM users o WHERE o.organisation_id = u.organisation_id AND o.email = u.email AND o.status = 'active')
      RETURNING id`,
    [organisationId, JSON.stringify(userIds)],
  )
  return returned.map(({ id }) => ({ table: 'users', id, before: { status: 'archived' }, after: { status: 'active' } }))
}
