import { defineEntity, p, type InferEntity } from '@mikro-orm/core'

/** A tenant: everything else belongs to one. */
export const Organisation = defineEntity({
  name: 'Organisation',
  tableName: 'organisations',
  properties: {
    id: p.uuid().primary(),
    /** Its own id under the name by which every business table is scoped. */
    organisationId: p.uuid().generated('(id) stored').$type<string>(),
    slug: p.string().length(255).unique(),
    name: p.string().length(255),
    status: p.text().$type<'active' | 'archived'>().default('active'),
    settings: p.json<Record<string, unknown>>().default('{}'),
    defaults: p.json<Record<string, unknown>>().default('{}'),
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

export type Organisation = InferEntity<typeof Organisation>
