import { asSystem, inTenant } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'
import { nameGroup } from './resources/group-write.ts'
import { hold } from './hold.ts'
import { settlePlaces } from './places.ts'
import { ScimGroup } from './scim-group.entity.ts'

/**
 * Reads the names of groups again, and settles everybody's places: a workspace may have been made or renamed since its group came, and a
 * setting may say now how names are made.
 */
export const settleScimPlaces: Job = {
  name: 'settle-scim-places',
  every: '* * * * *',
  async run(deps) {
    const { orm, log } = deps
    const organisations = await asSystem(orm, (em) =>
      em.execute<{ id: string }[]>('SELECT organisation_id AS id FROM scim_groups UNION SELECT organisation_id FROM sso_groups'),
    )
    for (const { id: organisationId } of organisations) {
      const changes = await inTenant(orm, organisationId, async (em) => {
        await hold(em, organisationId)
        for (const group of await em.find(ScimGroup, { organisationId })) nameGroup(group, group.displayName, deps)
        await em.flush()
        return settlePlaces(em, deps, { organisationId, userIds: null })
      })
      if (changes.length > 0) log.info({ org: organisationId, places: changes.length }, 'groups of the identity provider gave places')
    }
  },
}
