import type { EntityManager } from '@mikro-orm/postgresql'
import { changesOf, type RowChange } from '../../app/audit/changes.ts'
import { jobEntry } from '../../app/audit/job-entry.ts'
import { writeAudit } from '../../app/audit/write.ts'
import { asSystem, inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { tellEvent } from '../../app/events/notice.ts'
import type { Job } from '../../app/feature.ts'
import { isOn } from '../../config/effect.ts'
import { nameGroup } from './resources/group-write.ts'
import { hold } from './hold.ts'
import { settlePlaces } from './places.ts'
import { ScimGroup } from './scim-group.entity.ts'

const name = 'settle-scim-places'

/**
 * Reads the names of groups again, and settles all places: a workspace may have been made or renamed since its group came, and a setting may have
 * changed how names are made.
 */
export const settleScimPlaces: Job = {
  name,
  every: '* * * * *',
  irreversible: false,
  async run(deps) {
    const { orm, log } = deps
    const organisations = await asSystem(orm, (em) =>
      em.execute<{ id: string }[]>('SELECT organisation_id AS id FROM scim_groups UNION SELECT organisation_id FROM sso_groups'),
    )
    for (const { id: organisationId } of organisations) {
      const changes = await inTenant(orm, organisationId, (em) => settleAll(em, deps, organisationId))
      if (changes.length > 0) log.info({ org: organisationId, rows: changes.length }, 'groups of the identity provider gave or took places')
    }
  },
}

async function settleAll(em: EntityManager, deps: Deps, organisationId: string): Promise<readonly RowChange[]> {
  await hold(em, organisationId)
  for (const group of await em.find(ScimGroup, { organisationId })) nameGroup(group, group.displayName, deps)
  await em.flush()
  const given = await settlePlaces(em, deps, { organisationId, userIds: null })
  await em.flush()
  const changes = [...given, ...changesOf(em)]
  if (changes.length > 0) await tell(em, deps, { organisationId, changes })
  return changes
}

interface SettledAll {
  readonly organisationId: string
  readonly changes: readonly RowChange[]
}

/** Writes the row of the trail, and sends events of each workspace whose members changed, and of the users if roles did. */
async function tell(em: EntityManager, { config, level, vault, clock }: Deps, settled: SettledAll): Promise<void> {
  const { organisationId, changes } = settled
  const about = { topic: 'changes', organisationId, id: null, action: 'settle' } as const
  for (const workspaceId of workspacesIn(changes))
    await tellEvent(em, { ...about, workspaceId, resource: 'workspace-user', families: ['workspace_users'] })
  if (changes.some(({ table }) => table === 'users'))
    await tellEvent(em, { ...about, workspaceId: null, resource: 'user', families: ['organisation_users'] })
  if (isOn('AUDIT_LOGS_ENABLED', config, level)) {
    const row = { job: name, workspaceId: null, action: 'settle', resourceType: 'workspace-user', resourceId: null, at: clock.now() }
    await writeAudit(em, vault, jobEntry({ ...row, ...settled }))
  }
}

const workspacesIn = (changes: readonly RowChange[]): ReadonlySet<string> =>
  new Set(
    changes.flatMap(({ table, before, after }) => {
      const id = (after ?? before)?.['workspace_id']
      return table === 'workspace_members' && typeof id === 'string' ? [id] : []
    }),
  )
