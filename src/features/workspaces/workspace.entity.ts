import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import type { RateLimit, UsageLimits } from '../limits/limits.schema.ts'

/** A team's or an application's part of an organisation. */
export const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    slug: p.string().length(255),
    name: p.string().length(255),
    description: p.text().nullable(),
    isDefault: p.boolean().default(false),
    status: p.text().$type<'active' | 'archived'>().default('active'),
    defaults: p.json<Record<string, unknown>>().default('{}'),
    usageLimits: p.json<readonly UsageLimits[]>().default('[]'),
    rateLimits: p.json<readonly RateLimit[]>().default('[]'),
    createdAt: p
      .datetime()
      .columnType('timestamptz')
      .onCreate(() => new Date()),
    lastUpdatedAt: p
      .datetime()
      .columnType('timestamptz')
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
  },
})

export type Workspace = InferEntity<typeof Workspace>
