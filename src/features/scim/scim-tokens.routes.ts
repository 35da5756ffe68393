import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { notFound } from '../../app/database/find.ts'
import { findPage } from '../../app/database/list.ts'
import { route, type Actor } from '../../app/route.ts'
import { createApiKey, keyHint } from '../../lib/api-key.ts'
import { rankOf } from '../../lib/access/rank.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { toList, usualSorts } from '../../lib/paging.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { makerOf, roleOfPerson } from '../api-keys/index.ts'
import { demandRank } from '../workspaces/index.ts'
import { scimBase } from './base-url.ts'
import { hashToken } from './clients.ts'
import { ScimToken } from './scim-token.entity.ts'
import { createTokenBody, rotateTokenBody, tokenFilter, tokenList, tokenMade, tokenParams } from './scim-token.schema.ts'

const resource = 'scim-token'
const reading = 'organisation_settings.read'
const writing = 'organisation_settings.update'

export const createScimToken = route({
  method: 'POST',
  path: '/scim/tokens',
  summary: 'Make a token with which an identity provider writes users and groups; the answer shows it, once',
  permission: writing,
  audience: 'organisation',
  action: 'create',
  resource,
  body: createTokenBody,
  response: tokenMade,
})(async ({ em, actor, deps, body, audit }) => {
  const expiresAt = body.expires_at ? new Date(body.expires_at) : null
  if (expiresAt !== null && expiresAt.getTime() <= deps.clock.now())
    throw new ApiError('AB01', 'expires_at is over already.', { param: 'expires_at' })
  const token = createApiKey()
  const row = em.create(ScimToken, {
    id: uuidv7(),
    organisationId: actor.organisationId,
    name: body.name,
    tokenHash: hashToken(deps, token),
    tokenHint: keyHint(token),
    expiresAt,
    rank: rankOf(actor),
    makerId: makerOf(actor),
    createdBy: actor.id,
  })
  await em.flush()
  audit({ id: row.id })
  return { ...presentToken(row), token, base_url: scimBase(deps.config) }
})

export const listScimTokens = route({
  method: 'GET',
  path: '/scim/tokens',
  summary: 'List the tokens for SCIM',
  permission: reading,
  audience: 'organisation',
  query: tokenFilter,
  response: tokenList,
})(async ({ em, actor, query }) => {
  const page = await findPage(em, ScimToken, {
    where: { organisationId: actor.organisationId, status: 'active' },
    query,
    sorts: usualSorts,
  })
  return toList(page.rows.map(presentToken), page)
})

export const rotateScimToken = route({
  method: 'POST',
  path: '/scim/tokens/:tokenId/rotate',
  summary: 'Give a client for SCIM a new token; the old one stays valid for a transition period',
  permission: writing,
  audience: 'organisation',
  action: 'rotate',
  resource,
  params: tokenParams,
  body: rotateTokenBody,
  response: tokenMade,
})(async ({ em, actor, deps, params, body, audit }) => {
  const row = await findToken(em, actor, params.tokenId)
  const maker = row.makerId ? { userId: row.makerId, role: await roleOfPerson(em, row.makerId, actor) } : null
  demandRank(actor, rankOf({ keyType: 'organisation-service', role: row.rank ?? null, maker }), 'tokenId')
  const token = createApiKey()
  const ends = body.transition_period_ms === 0 ? null : new Date(deps.clock.now() + body.transition_period_ms)
  Object.assign(row, {
    previousTokenHash: ends === null ? null : row.tokenHash,
    previousTokenExpiresAt: ends,
    tokenHash: hashToken(deps, token),
    tokenHint: keyHint(token),
    // The former secret may still be in other hands, so that a rotation from above does not raise its rank.
    makerId: row.makerId ?? makerOf(actor),
  })
  await em.flush()
  audit({ id: row.id })
  return { ...presentToken(row), token, base_url: scimBase(deps.config) }
})

export const deleteScimToken = route({
  method: 'DELETE',
  path: '/scim/tokens/:tokenId',
  summary: 'Revoke a token for SCIM, at once',
  permission: writing,
  audience: 'organisation',
  action: 'delete',
  resource,
  params: tokenParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findToken(em, actor, params.tokenId)
  Object.assign(row, { status: 'archived', tokenHash: null, previousTokenHash: null, previousTokenExpiresAt: null })
  audit({ id: row.id })
  return {}
})

async function findToken(em: EntityManager, { organisationId }: Actor, id: string): Promise<ScimToken> {
  const where = { id: id.toLowerCase(), organisationId, status: 'active' } as const
  const row = isUuid(id) ? await em.findOne(ScimToken, where, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null
  if (row === null) throw notFound('token for SCIM', id, 'tokenId')
  return row
}

const presentToken = (row: ScimToken) => ({
  id: row.id,
  name: row.name,
  token_hint: row.tokenHint,
  expires_at: row.expiresAt?.toISOString() ?? null,
  last_used_at: row.lastUsedAt?.toISOString() ?? null,
  previous_token_expires_at: row.previousTokenExpiresAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'scim_token' as const,
})
