import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { notFound, orNotFound } from '../../app/database/find.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import type { KeyType } from '../../gateway/ports.ts'
import { createApiKey as createSecret, keyHint } from '../../lib/api-key.ts'
import { assignDefined, mergeFields } from '../../lib/assign-defined.ts'
import { enforcedMetadata, lacksMetadata, missingMetadata } from '../../lib/access/enforced-metadata.ts'
import { rankOf } from '../../lib/access/rank.ts'
import { changedLimits, demandSetter, type LimitChange } from '../../lib/access/set-from-above.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { revived, statusAt, toExpiry } from '../limits/index.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { demandConfig, type Home } from '../references/index.ts'
import { demandScope, resolveWorkspace } from '../workspaces/index.ts'
import { ApiKey, type KeyDefaults } from './api-key.entity.ts'
import { minTransitionMs, type CreateApiKey, type KeyDefaultsChange, type UpdateApiKey } from './api-key.schema.ts'
import { demandRoom, type NewOwner, ownerOfNewKey, userKeyExpiry, userKeyRules } from './user-keys.ts'
import { makerOf } from './key-rank.ts'
import { datedPolicy } from './rotation.ts'
import { checkMayGrant, checkScopesFit, keyScope, keyTypes } from './key-scopes.ts'

/** The key type behind the two path segments. */
export function toKeyType(type: 'organisation' | 'workspace', subType: 'user' | 'service'): KeyType {
  if (type === 'workspace') return subType === 'user' ? 'workspace-user' : 'workspace-service'
  if (subType === 'service') return 'organisation-service'
  throw new ApiError('AB01', 'An organisation key is a service key.', { param: 'subType' })
}

/** The workspace of a new key, null for an organisation key; refuses a key that the caller may not make. */
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

/** Throws when a client repeats the path in the body with another value. */
export function demandSamePath(body: CreateApiKey, { type, subType }: { readonly type: string; readonly subType: string }): void {
  if (body.type !== undefined && body.type !== type) throw new ApiError('AB01', `The path says ${type}.`, { param: 'type' })
  if (body['sub-type'] !== undefined && body['sub-type'] !== subType)
    throw new ApiError('AB01', `The path says ${subType}.`, { param: 'sub-type' })
}

/** Advice on a config that a key had before; without it the key would call models past the guardrails of that config, so it is never dropped unasked. */
const goneConfig = 'This key starts from it. Name another one, or null for none.'

/** AB01 for a config that the workspace does not have, or metadata that the organisation asks for and the defaults lack. */
export async function demandKeyDefaults(
  em: EntityManager,
  home: Home,
  { defaults, before = {} }: { readonly defaults?: KeyDefaultsChange | null | undefined; readonly before?: KeyDefaults },
): Promise<void> {
  const wanted = mergeFields(before, defaults)
  const kept = defaults?.config_id === undefined
  await demandConfig(em, home, { reference: wanted?.config_id, param: 'defaults.config_id', ...(kept && { advice: goneConfig }) })
  if (home.workspaceId === null) return
  const missing = await missingKeyMetadata(em, home, wanted?.metadata)
  if (missing !== null) throw lacksMetadata('API key', missing)
}

/** Returns the metadata that the organisation demands of a workspace's keys and this metadata lacks; null: none. */
export async function missingKeyMetadata(
  em: EntityManager,
  { organisationId }: Pick<Home, 'organisationId'>,
  metadata: KeyDefaults['metadata'],
): Promise<string | null> {
  const { settings } = await em.findOneOrFail(Organisation, { id: organisationId })
  return missingMetadata(enforcedMetadata(settings).api_key_metadata_keys, metadata)
}

interface KeyContext {
  readonly actor: Actor
  readonly deps: Pick<Deps, 'vault' | 'clock' | 'level'>
  readonly type: KeyType
  readonly workspaceId: string | null
}

/** Stores a key, and returns the secret, which is never shown again. The row is written when it returns. */
export async function addKey(
  em: EntityManager,
  { actor, deps, type, workspaceId }: KeyContext,
  body: CreateApiKey,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const nowMs = deps.clock.now()
  const asked = toExpiry(body.expires_at, nowMs)
  const ofUser = type === 'workspace-user' && workspaceId !== null
  const user = ofUser ? await newUserKey(em, actor, { workspaceId, userId: body.user_id, level: deps.level, asked, nowMs }) : null
  const expiresAt = (user === null ? asked : user.expiresAt) ?? null
  const rotationPolicy = datedPolicy(body.rotation_policy ?? null, { nowMs }) ?? null
  const secret = createSecret()
  const key = em.create(ApiKey, {
    organisationId: actor.organisationId,
    workspaceId,
    type,
    userId: user?.id ?? null,
    name: body.name,
    scopes: body.scopes,
    ...optionalColumns(body),
    setterRanks: changedLimits(actor, {}, limitsOf({}, body, { expiresAt, rotationPolicy })),
    rotationPolicy,
    expiresAt,
    keyHash: deps.vault.hashKey(secret),
    keyHint: keyHint(secret),
    createdBy: actor.id,
    makerId: makerOf(actor),
  })
  await em.flush()
  return { key, secret }
}

const optionalColumns = (body: CreateApiKey) => ({
  description: body.description ?? null,
  defaults: mergeFields({}, body.defaults) ?? {},
  rateLimits: body.rate_limits ?? null,
  usageLimits: body.usage_limits ?? null,
  alertEmails: body.alert_emails ?? [],
})

interface NewUserKey extends NewOwner {
  readonly asked: Date | null | undefined
  readonly nowMs: number
}

async function newUserKey(em: EntityManager, actor: Actor, { asked, nowMs, ...wanted }: NewUserKey) {
  const rules = await userKeyRules(em, actor, wanted.workspaceId)
  const id = await ownerOfNewKey(em, actor, wanted)
  await demandRoom(em, wanted.workspaceId, { max: rules.max_user_api_keys, now: new Date(nowMs) })
  return { id, expiresAt: userKeyExpiry(asked, rules, { bornMs: nowMs, isNew: true }) }
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

/** A workspace key sees the keys of its workspace, an organisation key those of the organisation, a member their own. */
export const visibleKeys = (actor: Actor) => ({
  organisationId: actor.organisationId,
  ...(actor.workspaceId !== null && { workspaceId: actor.workspaceId }),
  ...(rankOf(actor) === 'member' && { userId: makerOf(actor) }),
})

/** More keys than one list of limits has. */
const mostVisible = 10_000

/** Returns the ids of the keys whose limits and use a caller may see: those that it could list, and its person's own; null: all in its reach. */
export async function visibleKeyIds(em: EntityManager, actor: Actor): Promise<ReadonlySet<string> | null> {
  const listable = keyTypes.filter((type) => actor.permissions.has(keyScope(type, 'list')))
  if (listable.length === keyTypes.length && rankOf(actor) !== 'member') return null
  const own = makerOf(actor)
  const shown = { $or: [{ type: { $in: listable } }, { id: actor.id }, ...(own === null ? [] : [{ userId: own }])] }
  const rows = await em.find(
    ApiKey,
    { $and: [visibleKeys(actor), shown] },
    { fields: ['id'], limit: mostVisible, disableIdentityMap: true },
  )
  return new Set(rows.map(({ id }) => id))
}

/** Returns the limits that a body would change of a key, or of a new one. */
function limitsOf(held: KeyLimits, body: LimitFields, { expiresAt, rotationPolicy }: Lifetime): readonly LimitChange[] {
  const { usageLimits, rateLimits, defaults = {} } = held
  const [locked, locks] = [configIn(defaults), configIn(mergeFields(defaults, body.defaults) ?? defaults)]
  return [
    ...(body.usage_limits === undefined ? [] : [{ field: 'usage_limits', before: usageLimits, after: body.usage_limits }]),
    ...(body.rate_limits === undefined ? [] : [{ field: 'rate_limits', before: rateLimits, after: body.rate_limits }]),
    ...(body.alert_emails === undefined ? [] : [{ field: 'alert_emails', before: held.alertEmails, after: body.alert_emails }]),
    ...(expiresAt === undefined ? [] : [{ field: 'expires_at', before: held.expiresAt?.getTime(), after: expiresAt?.getTime() }]),
    ...(rotationPolicy === undefined ? [] : [{ field: 'rotation_policy', before: held.rotationPolicy, after: rotationPolicy }]),
    { field: 'defaults.allow_config_override', before: locked.map(() => true), after: locks.map(() => true) },
    { field: 'defaults.config_id', before: locked, after: locks },
  ]
}

type KeyLimits = Partial<Pick<ApiKey, 'usageLimits' | 'rateLimits' | 'defaults' | 'alertEmails' | 'expiresAt' | 'rotationPolicy'>>

/** The end of a key, and when its secret is replaced, as they are to be; undefined: as they are. */
interface Lifetime {
  readonly expiresAt: Date | null | undefined
  readonly rotationPolicy: ApiKey['rotationPolicy'] | undefined
}
type LimitFields = Pick<UpdateApiKey, 'usage_limits' | 'rate_limits' | 'defaults' | 'alert_emails'>

/** Returns the config that limits a key since it may use no other, as a list; empty: the key may use others. */
const configIn = ({ allow_config_override: may, config_id: config = '' }: KeyDefaults): readonly string[] => (may === false ? [config] : [])

const addedScopes = (key: ApiKey, { scopes = [] }: UpdateApiKey): readonly string[] => scopes.filter((scope) => !key.scopes.includes(scope))

/** Returns true for a body that gives a key more rights. */
export const addsScopes = (key: ApiKey, body: UpdateApiKey): boolean => addedScopes(key, body).length > 0

/** Returns true for a body that names a config that the requests of a key do not go through now. */
export const movesToConfig = ({ defaults }: ApiKey, { defaults: wanted }: UpdateApiKey): boolean =>
  (wanted?.config_id ?? null) !== null && wanted?.config_id !== defaults.config_id

/** Changes the fields of the body. Only a caller that holds a scope can add it. */
export async function changeKey(
  em: EntityManager,
  key: ApiKey,
  { body, actor, nowMs }: { body: UpdateApiKey; actor: Actor; nowMs: number },
): Promise<void> {
  if (body.id !== undefined && body.id.toLowerCase() !== key.id) throw new ApiError('AB01', 'The path names another key.', { param: 'id' })
  if (body.scopes !== undefined) {
    checkScopesFit(key.type, body.scopes)
    checkMayGrant(actor, addedScopes(key, body))
  }
  if (body.defaults !== undefined) {
    const home = { organisationId: key.organisationId, workspaceId: key.workspaceId ?? null }
    await demandKeyDefaults(em, home, { defaults: body.defaults, before: key.defaults })
  }
  const expiresAt = await changedExpiry(em, key, { asked: toExpiry(body.expires_at, nowMs), actor, nowMs })
  const rotationPolicy = datedPolicy(body.rotation_policy, { before: key.rotationPolicy, nowMs })
  key.setterRanks = changedLimits(actor, key.setterRanks, limitsOf(key, body, { expiresAt, rotationPolicy }))
  if (body.reset_usage === true && key.usageLimits) demandSetter(actor, key.setterRanks, { field: 'usage_limits', param: 'reset_usage' })
  assignDefined(key, {
    name: body.name,
    scopes: body.scopes,
    description: body.description,
    rateLimits: body.rate_limits,
    usageLimits: body.usage_limits,
    usageResetAt: body.reset_usage === true ? new Date(nowMs) : undefined,
    defaults: mergeFields(key.defaults, body.defaults),
    alertEmails: body.alert_emails === null ? [] : body.alert_emails,
    rotationPolicy,
    expiresAt,
    status: revived(key.status, { expiresAt, resetUsage: body.reset_usage }),
  })
}

/** When the key will end. A user key that lives anew counts as one more. */
async function changedExpiry(
  em: EntityManager,
  key: ApiKey,
  { asked, actor, nowMs }: { asked: Date | null | undefined; actor: Actor; nowMs: number },
): Promise<Date | null | undefined> {
  if (key.type !== 'workspace-user' || !key.workspaceId || asked === undefined) return asked
  const rules = await userKeyRules(em, actor, key.workspaceId)
  const wasOver = key.status === 'expired' || (key.expiresAt?.getTime() ?? Infinity) <= nowMs
  if (wasOver) await demandRoom(em, key.workspaceId, { max: rules.max_user_api_keys, now: new Date(nowMs), param: 'expires_at' })
  return userKeyExpiry(asked, rules, { bornMs: key.createdAt.getTime(), isNew: false })
}

/** Until when the old secret stays valid when a key is rotated now. */
export function transitionEnd(
  key: ApiKey,
  { actor, requestedMs, nowMs }: { readonly actor: Actor; readonly requestedMs: number | undefined; readonly nowMs: number },
): Date {
  if (statusAt(key, nowMs) === 'expired') {
    throw new ApiError('AB01', 'The key has expired: give it a later expires_at before you rotate it.', { param: 'id' })
  }
  const usualMs = key.rotationPolicy?.key_transition_period_ms ?? null
  if (usualMs !== null && requestedMs !== undefined && requestedMs > usualMs)
    demandSetter(actor, key.setterRanks, { field: 'rotation_policy', param: 'key_transition_period_ms' })
  return new Date(nowMs + (requestedMs ?? usualMs ?? minTransitionMs))
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
