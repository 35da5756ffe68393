import type { EntityManager } from '@mikro-orm/postgresql'
import { writeAudit } from '../../app/audit/write.ts'
import { inTenant } from '../../app/database/orm.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { User } from '../users/user.entity.ts'
import { McpSignIn } from './mcp-sign-in.entity.ts'
import type { Visit } from './visit.ts'

/** So long a sign-in lasts; then its person is asked again. */
export const signInMs = 30 * 24 * 3_600_000

/** A person has so many; the oldest makes room. */
export const mostOfPerson = 100

/** Removes the oldest sign-ins of a person, so that one more has room. */
export async function makeRoom(em: EntityManager, userId: string): Promise<void> {
  const oldest = await em.find(McpSignIn, { userId }, { orderBy: { createdAt: 'desc', id: 'desc' }, offset: mostOfPerson - 1 })
  for (const row of oldest) em.remove(row)
  await em.flush()
}

/** The reason for which a program, or the authorization server, ends a sign-in. */
type EndReason = 'revoke' | 'refuse-used-secret'

/** Ends a sign-in, with all its secrets, in a transaction of its own with its row in the trail. Returns false if there is none. */
export function endSignIn(visit: Visit, id: string, reason: EndReason): Promise<boolean> {
  const { deps, organisationId } = visit
  return inTenant(deps.orm, organisationId, async (em) => {
    const row = await em.findOne(McpSignIn, { id })
    if (row === null) return false
    em.remove(row)
    await em.flush()
    const person = await em.findOne(User, { id: row.userId })
    await writeAudit(em, deps.vault, {
      actor: { type: 'user', id: row.userId, name: person?.email ?? null, organisationId, userId: row.userId },
      workspaceId: row.workspaceId,
      action: reason,
      resourceType: 'mcp-sign-in',
      resourceId: id,
      method: 'POST',
      uri: '/oauth',
      query: null,
      requestId: uuidv7(),
      clientAddress: visit.clientAddress,
      status: 200,
      body: undefined,
      changes: [
        {
          table: 'mcp_sign_ins',
          id,
          before: { client_id: row.clientId, client_name: row.clientName ?? null, server_id: row.serverId, resource: row.resource },
          after: null,
        },
      ],
      at: deps.clock.now(),
    })
    return true
  })
}
