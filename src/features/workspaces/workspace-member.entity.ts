import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { WorkspaceRole } from '../../lib/access/roles.ts'

/** The place of a user in a workspace. */
export const WorkspaceMember = defineEntity({
  name: 'WorkspaceMember',
  tableName: 'workspace_members',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    userId: p.uuid(),
    role: p.text().$type<WorkspaceRole>(),
    /** Groups of the identity provider gave the place: it goes when they no longer give it. */
    byGroup: p.boolean().default(false),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type WorkspaceMember = InferEntity<typeof WorkspaceMember>
