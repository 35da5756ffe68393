import type { EntityManager } from '@mikro-orm/postgresql'
import { decideForKey, type ActingPerson, type Decision } from '../../lib/access/decisions.ts'
import { boundRole, type Maker } from '../../lib/access/rank.ts'
import { rotationDue, userKeySettings } from '../../lib/access/user-key-settings.ts'
import { makerOfKey } from '../api-keys/index.ts'
import type { ApiKey } from '../api-keys/api-key.entity.ts'
import { statusAt } from '../limits/index.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { User } from '../users/user.entity.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { actingOf, reasonOf } from './rights.ts'

/** An API key with the bounds of its rights. */
export interface KeyBounds {
  readonly scopes: ReadonlySet<string>
  /** The holder of a user key, or the maker of a service key; null: none is known. */
  readonly person: ActingPerson | null
  /** Why no scope of the key counts; null: they do. */
  readonly ended: string | null
}

/** Returns how a key stands now. */
export async function standingOfKey(em: EntityManager, key: ApiKey, nowMs: number): Promise<KeyBounds> {
  const scopes = new Set(key.scopes)
  const ended = statusAt(key, nowMs) === 'expired' ? 'The key has expired.' : null
  const workspace = key.workspaceId ? await em.findOneOrFail(Workspace, { id: key.workspaceId }) : null
  const maker = await makerOfKey(em, key)
  if (key.type !== 'workspace-user') return { scopes, person: maker && (await actingMaker(em, { key, workspace, maker })), ended }
  const user = await em.findOne(User, { id: key.userId ?? '', status: 'active' })
  if (user === null) return { scopes, person: nobody, ended: ended ?? 'The holder of the key was removed.' }
  const holder = await actingOf(em, user, workspace)
  const person = { ...holder, role: boundRole(holder.role, maker) }
  return { scopes, person, ended: ended ?? (isStale(key, person, nowMs) ? 'The key had to be rotated before now.' : null) }
}

interface NewKey {
  readonly key: ApiKey
  readonly workspace: Workspace | null
  readonly maker: Maker
}

/** Returns how a service key acts: as its maker, with every scope that it has. */
async function actingMaker(em: EntityManager, { key, workspace, maker }: NewKey): Promise<ActingPerson> {
  const { settings } = await em.findOneOrFail(Organisation, { id: key.organisationId })
  const role = maker.role ?? (workspace === null ? null : 'member')
  return { role, holds: new Set(key.scopes), settings, overrides: workspace?.accessOverrides ?? {} }
}

const nobody: ActingPerson = { role: null, holds: new Set(), settings: {}, overrides: {} }

function isStale({ rotatedAt, createdAt }: ApiKey, { settings, overrides }: ActingPerson, nowMs: number): boolean {
  const due = rotationDue(userKeySettings(settings, overrides), (rotatedAt ?? createdAt).getTime())
  return due !== null && due <= nowMs
}

/** Returns the decision on a scope for a key. */
export const decideFor = (scope: string, { scopes, person, ended }: KeyBounds): Decision =>
  ended === null ? decideForKey(scope, scopes, person) : { scope, allowed: false, decidedBy: 'key', settings: [] }

/** Returns in words why a key has a scope or not. */
export function keyReason(decision: Decision, { person, ended }: KeyBounds): string {
  if (ended !== null) return ended
  if (decision.decidedBy !== 'key' && person !== null) return reasonOf(decision, person)
  return decision.allowed ? 'The key has it.' : 'The key does not have it.'
}
