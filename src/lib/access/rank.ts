import type { AccessSettings } from './access-settings.ts'
import { isAtLeast, scopesOfRole, seesKeysOfOthers, seesOwnDataOnly, seesOwnFiguresOnly, type Role } from './roles.ts'

/** The person at whose word a credential exists. */
export interface Maker {
  readonly userId: string
  /** Their present role where the credential acts; null: they have none there any longer. */
  readonly role: Role | null
}

/** A credential, as far as its rank depends on it. */
export interface RankedCredential {
  readonly keyType: 'organisation-service' | 'workspace-service' | 'workspace-user'
  /** The role of its person; null: it is a service's. */
  readonly role: Role | null
  /** Absent: the credential is the person's own session, or no maker is known. */
  readonly maker?: Maker | null
}

const highest = { 'organisation-service': 'organisation-admin', 'workspace-service': 'admin', 'workspace-user': 'member' } as const

/** Returns the lower of two roles. */
const lowerRole = (one: Role, other: Role): Role => (isAtLeast(one, other) ? other : one)

/** Returns the role up to which a credential gives, takes and changes: its own, and never above its maker's. */
export function rankOf({ keyType, role, maker = null }: RankedCredential): Role {
  const own = role ?? highest[keyType]
  return maker === null ? own : lowerRole(own, maker.role ?? 'member')
}

/** Returns the role of the holder of a user key, never above the role of its maker; null: the holder has none. */
export const boundRole = (role: Role | null, maker: Maker | null): Role | null =>
  role === null || maker === null ? role : lowerRole(role, maker.role ?? 'member')

interface ServiceKey {
  readonly type: 'organisation-service' | 'workspace-service'
  readonly scopes: readonly string[]
  readonly maker: Maker | null
  readonly settings: AccessSettings
}

/** Returns the scopes of a service key that count: those that its maker's role gives. A key on the organisation needs a maker who has a role in it. */
export function scopesOfService({ type, scopes, maker, settings }: ServiceKey): ReadonlySet<string> {
  if (maker === null) return new Set(scopes)
  return scopesOfRole(scopes, maker.role ?? (type === 'organisation-service' ? null : 'member'), settings)
}

/** The owner of the logs that a caller sees who does not see all: the credential itself, and a person with all their credentials. */
export interface OwnData {
  readonly apiKeyId: string
  readonly userId: string | null
}

interface LogViewer extends RankedCredential {
  readonly id: string
  readonly userId: string | null
  readonly settings: AccessSettings
}

/** No key has this id, and no log: erased logs of people have the id of zeros. */
const noKey = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type LimitedRole = (role: Role | null, settings: AccessSettings) => boolean

/** A limited maker knows the secret of the user key of another person: what this person sees, and the maker does not, the key does not show. */
function ownBy(isLimited: LimitedRole, { id, userId, role, maker = null, settings }: LogViewer): OwnData | null {
  if (maker === null || !isLimited(maker.role ?? 'member', settings)) return isLimited(role, settings) ? { apiKeyId: id, userId } : null
  return userId === null || userId === maker.userId ? { apiKeyId: id, userId: maker.userId } : { apiKeyId: noKey, userId: null }
}

/** Returns to which logs a credential is limited: as its person is, and as its maker is; null: to none. */
export const ownDataOf = (viewer: LogViewer): OwnData | null => ownBy(seesOwnDataOnly, viewer)

/** Returns the same for counts of requests and money, which tell of logs that a person may not read. */
export const ownFiguresOf = (viewer: LogViewer): OwnData | null => ownBy(seesOwnFiguresOnly, viewer)

/** Returns true if a credential sees what others ask and spend, with the names of their keys: as its person does, and as its maker does. */
export function seesOthers(viewer: LogViewer): boolean {
  const { role, maker = null, settings } = viewer
  const roles = maker === null ? [role] : [role, maker.role ?? 'member']
  return ownFiguresOf(viewer) === null && roles.every((one) => seesKeysOfOthers(one, settings))
}
