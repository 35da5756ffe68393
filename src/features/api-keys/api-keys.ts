import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { notFound, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { KeyType } from '../../gateway/doors.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { revived, statusAt, toExpiry } from '../limits/index.ts'
import { demandScope, resolveWorkspace } from '../workspaces/index.ts'
import { ApiKey } from './api-key.entity.ts'
import { minTransitionMs, type CreateApiKey, type UpdateApiKey } from './api-key.schema.ts'
import { checkMayGrant, checkScopesFit, keyScope } from './key-scopes.ts'

/** The key type behind the two path segments. */
export function toKeyType(type: 'organisation' | 'workspace', subType: 'user' | 'service'): KeyType {
  if (type === 'workspace') return subType === 'user' ? 'workspace-user' : 'workspace-service'
  if (subType === 'service') return 'organisation-service'
  throw new ApiError('AB01', 'An organisation key is a service key.', { param: 'subType' })
}

/** The workspace of a new key, null for an organisation key; refuses what the caller may not make. */
export async function homeOfNewKey(
  em: EntityManager,
  actor: Actor,
  { type, body }: { type: KeyType; body: CreateApiKey },
): Promise<string | null> {
  demandScope(actor, keyScope(type, 'create'))
  if (body.organisation_id !== undefined && body.organisation_id.toLowerCase() !== actor.organisationId) {
    throw new ApiError('AB03', 'A key acts in its own organisation only.', { param: 'organisation_id' })
  }
  if (body.user_id !== undefined && type !== 'workspace-user') {
    throw new ApiError('AB01', 'Only a user key has a user_id.', { param: 'user_id' })
  }
  checkScopesFit(type, body.scopes)
  checkMayGrant(actor, body.scopes)
  if (type !== 'organisation-service') return (await resolveWorkspace(em, actor, body.workspace_id)).id
  if (actor.workspaceId !== null) throw new ApiError('AB03', 'A workspace key makes no organisation keys.')
  if (body.workspace_id !== undefined) throw new ApiError('AB01', 'An organisation key has no workspace.', { param: 'workspace_id' })
  return null
}

/** A key that the caller may see, with the scope for the verb checked; AB08 otherwise. Locked when it is about to change. */
export async function findKey(
  em: EntityManager,
  actor: Actor,
  { id, verb }: { id: string; verb: 'read' | 'update' | 'delete' | 'rotate' },
): Promise<ApiKey> {
  if (!isUuid(id)) throw notFound('API key', id)
  const row = await em.findOne(
    ApiKey,
    { id, ...visibleKeys(actor), status: { $ne: 'archived' } },
    verb === 'read' ? {} : { lockMode: LockMode.PESSIMISTIC_WRITE },
  )
  const key = orNotFound(row, 'API key', id)
  demandScope(actor, keyScope(key.type, verb))
  return key
}

/** A workspace key sees the keys of its workspace, an organisation key those of the organisation. */
export const visibleKeys = (actor: Actor) => ({
  organisationId: actor.organisationId,
  ...(actor.workspaceId !== null && { workspaceId: actor.workspaceId }),
})

/** Changes what the body names. Scopes are only added by those who hold them. */
export function changeKey(key: ApiKey, body: UpdateApiKey, { actor, nowMs }: { actor: Actor; nowMs: number }): void {
  if (body.scopes !== undefined) {
    checkScopesFit(key.type, body.scopes)
    checkMayGrant(
      actor,
      body.scopes.filter((scope) => !key.scopes.includes(scope)),
    )
  }
  const expiresAt = toExpiry(body.expires_at, nowMs)
  assignDefined(key, {
    name: body.name,
    scopes: body.scopes,
    description: body.description,
    rateLimits: body.rate_limits,
    usageLimits: body.usage_limits,
    defaults: body.defaults === null ? {} : body.defaults,
    alertEmails: body.alert_emails === null ? [] : body.alert_emails,
    rotationPolicy: body.rotation_policy,
    expiresAt,
    status: revived(key.status, { expiresAt, resetUsage: body.reset_usage }),
  })
}

/** Until when the old secret stays valid when a key is rotated now. */
export function transitionEnd(key: ApiKey, requestedMs: number | undefined, nowMs: number): Date {
  if (statusAt(key, nowMs) === 'expired') {
    throw new ApiError('AB01', 'The key has expired: give it a later expires_at before you rotate it.', { param: 'id' })
  }
  return new Date(nowMs + (requestedMs ?? key.rotationPolicy?.key_transition_period_ms ?? minTransitionMs))
}

/** A key as it is answered: never with its secret. */
export const presentApiKey = (key: ApiKey, nowMs: number) => ({
  id: key.id,
  key: key.keyHint,
  name: key.name,
  description: key.description ?? null,
  type: key.type,
  organisation_id: key.organisationId,
  workspace_id: key.workspaceId ?? null,
  user_id: key.userId ?? null,
  status: statusAt(key, nowMs),
  creation_mode: key.creationMode,
  scopes: key.scopes,
  defaults: { ...key.defaults },
  rate_limits: key.rateLimits ? [...key.rateLimits] : null,
  usage_limits: key.usageLimits ?? null,
  reset_usage: null,
  alert_emails: key.alertEmails,
  rotation_policy: key.rotationPolicy ?? null,
  expires_at: key.expiresAt?.toISOString() ?? null,
  created_at: key.createdAt.toISOString(),
  last_updated_at: key.lastUpdatedAt.toISOString(),
  object: 'api-key' as const,
})
