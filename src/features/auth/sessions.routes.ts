import { z } from 'zod'
import { notFound } from '../../app/database/find.ts'
import { route } from '../../app/route.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { endedCookie, revokeSession, revokeSessionsOf, Session } from '../sessions/index.ts'
import { findUser, rankedRole, userParams } from '../users/index.ts'
import { demandRank } from '../workspaces/index.ts'
import { sessionList, sessionParams } from './auth.schema.ts'
import { signedInHere } from './signed-in-here.ts'

const resource = 'session'
const callers = ['session'] as const
const empty = z.object({})
const ended = z.object({ ended: z.int().meta({ description: 'How many sessions were ended.' }) })

export const listSessions = route({
  method: 'GET',
  path: '/auth/sessions',
  below: '/',
  summary: 'List the browsers in which you are signed in',
  permission: [],
  callers,
  response: sessionList,
})(async ({ em, actor, deps }) => {
  const { id } = signedInHere(actor)
  const now = deps.clock.now()
  const used = new Date(now - deps.config.sessions.idleMs)
  const rows = await em.find(
    Session,
    { userId: actor.id, expiresAt: { $gt: new Date(now) }, lastUsedAt: { $gt: used } },
    { orderBy: { lastUsedAt: 'desc', id: 'desc' }, limit: 500 },
  )
  return { object: 'list' as const, data: rows.map((row) => presentSession(row, id)) }
})

const presentSession = (row: Session, own: string) => ({
  id: row.id,
  current: row.id === own,
  method: row.method,
  client_address: row.clientAddress,
  user_agent: row.userAgent ?? null,
  created_at: row.createdAt.toISOString(),
  last_used_at: row.lastUsedAt.toISOString(),
  expires_at: row.expiresAt.toISOString(),
  object: 'session' as const,
})

export const endSession = route({
  method: 'DELETE',
  path: '/auth/sessions/:sessionId',
  below: '/',
  summary: 'Sign out of one browser',
  permission: [],
  callers,
  resource,
  action: 'revoke',
  params: sessionParams,
  response: empty,
})(async ({ em, actor, deps, params, reply, audit }) => {
  const { id } = signedInHere(actor)
  const asked = params.sessionId.toLowerCase()
  if (!isUuid(asked) || !(await revokeSession(em, { id: asked, userId: actor.id })))
    throw notFound('session', params.sessionId, 'sessionId')
  if (asked === id) reply.cookie(endedCookie(deps))
  audit({ id: asked })
  return {}
})

export const endOtherSessions = route({
  method: 'DELETE',
  path: '/auth/sessions',
  below: '/',
  summary: 'Sign out of all other browsers',
  permission: [],
  callers,
  resource,
  action: 'revoke-others',
  response: ended,
})(async ({ em, actor, audit }) => {
  const { id } = signedInHere(actor)
  audit({ id })
  return { ended: await revokeSessionsOf(em, actor.id, id) }
})

export const endSessionsOfUser = route({
  method: 'DELETE',
  path: '/admin/users/:userId/sessions',
  summary: 'Sign a user out everywhere',
  permission: 'organisation_users.update',
  resource: 'user',
  action: 'revoke-sessions',
  params: userParams,
  response: ended,
})(async ({ em, actor, params, audit }) => {
  const user = await findUser(em, actor, { id: params.userId, lock: true })
  if (user.id !== actor.userId) demandRank(actor, rankedRole(user.role), 'userId')
  audit({ id: user.id })
  return { ended: await revokeSessionsOf(em, user.id) }
})
