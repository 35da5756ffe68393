import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The kinds of requests of an identity provider. */
export const operations = ['create', 'replace', 'patch', 'delete', 'read'] as const
export type Operation = (typeof operations)[number]

export const resourceTypes = ['User', 'Group', 'Other'] as const
export type ActivityResource = (typeof resourceTypes)[number]

/** A write of an identity provider, or a request of it that was refused. */
export const ScimActivity = defineEntity({
  name: 'ScimActivity',
  tableName: 'scim_activity',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    tokenId: p.uuid(),
    tokenName: p.string().length(255),
    operation: p.text().$type<Operation>(),
    resourceType: p.text().$type<ActivityResource>(),
    resourceId: p.text().nullable(),
    /** The `userName` or `displayName`, as far as it is known. */
    resourceName: p.text().nullable(),
    status: p.integer(),
    scimType: p.text().nullable(),
    /** The refusal as sent to the identity provider; null: it was not refused. */
    error: p.text().nullable(),
    requestId: p.text(),
    createdAt: createdAt(),
  },
})

export type ScimActivity = InferEntity<typeof ScimActivity>
