import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The settings that a person has for themselves. */
export const UserPreferences = defineEntity({
  name: 'UserPreferences',
  tableName: 'user_preferences',
  filters: { tenant: tenantFilter },
  properties: {
    userId: p.uuid().primary(),
    organisationId: p.uuid(),
    preferences: p.json<Readonly<Record<string, unknown>>>(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type UserPreferences = InferEntity<typeof UserPreferences>
