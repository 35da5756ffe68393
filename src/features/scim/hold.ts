import type { EntityManager } from '@mikro-orm/postgresql'

/** Makes the writes of an organisation by SCIM wait for one another: each looks at rows that others may be changing, such as names and places. */
export async function hold(em: EntityManager, organisationId: string): Promise<void> {
  await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:scim:${organisationId}`])
}
