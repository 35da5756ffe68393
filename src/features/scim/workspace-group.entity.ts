import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { WorkspaceRole } from '../../lib/access/roles.ts'

/** A group whose members have a role in a workspace, under any name. */
export const ScimWorkspaceGroup = defineEntity({
  name: 'ScimWorkspaceGroup',
  tableName: 'scim_workspace_groups',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    groupId: p.uuid(),
    role: p.text().$type<WorkspaceRole>(),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type ScimWorkspaceGroup = InferEntity<typeof ScimWorkspaceGroup>
