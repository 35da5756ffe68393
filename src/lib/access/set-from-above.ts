import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../errors.ts'
import { rankOf, type RankedCredential } from './rank.ts'
import { isAtLeast, type Role } from './roles.ts'

/** The rank of the caller who set each limit of a resource, by its field. Absent: every caller that may change the resource may change the limit. */
export type SetterRanks = Readonly<Record<string, Role>>

/** A limit as it was and as it is to be; null, undefined and empty lists and objects are none. */
export interface LimitChange {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

const names: Readonly<Record<Role, string>> = {
  owner: 'an admin of the organisation',
  'organisation-admin': 'an admin of the organisation',
  admin: 'an admin of the workspace',
  manager: 'a manager of the workspace',
  member: 'a member of the workspace',
}

/** Owners and admins of the organisation change each other's limits, since keys never rank as owners. */
function levelOf(actor: RankedCredential): Role {
  const rank = rankOf(actor)
  return rank === 'owner' ? 'organisation-admin' : rank
}

/** Returns the rank of the caller that set each limit, after these changes. Throws AB03 for a change of a limit that was set from above: it becomes neither looser nor tighter, and does not go away. */
export function changedLimits(actor: RankedCredential, held: SetterRanks, changes: readonly LimitChange[]): SetterRanks {
  const ranks = new Map(Object.entries(held))
  for (const { field, before, after } of changes) {
    if (isDeepStrictEqual(toPlain(before), toPlain(after))) continue
    if (!isNone(before)) demandSetter(actor, held, { field })
    if (isNone(after)) ranks.delete(field)
    else ranks.set(field, levelOf(actor))
  }
  return Object.fromEntries(ranks)
}

/** Throws AB03 when a limit was set from above; `param` names the field of the request that would touch it. */
export function demandSetter(
  actor: RankedCredential,
  held: SetterRanks,
  { field, param = field }: { readonly field: string; readonly param?: string },
): void {
  const setter = held[field]
  if (setter === undefined || isAtLeast(levelOf(actor), setter)) return
  throw new ApiError(
    'AB03',
    `${field} was set by ${names[setter]}, or by a key of one: callers below cannot change it, or start its usage again.`,
    {
      param,
    },
  )
}

/** Something that was bound, and what keeps the bond as it is: both in words. */
interface Bond {
  readonly bound: string
  readonly kept: string
}

/** Throws AB03 when a caller of higher rank made a bond that this caller would lead elsewhere. */
export function demandBinder(actor: RankedCredential, binder: Role, { bound, kept, param }: Bond & { readonly param: string }): void {
  if (isAtLeast(levelOf(actor), binder)) return
  throw new ApiError('AB03', `${bound} by ${names[binder]}, or by a key of one: callers below cannot change ${kept}.`, { param })
}

const isNone = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)

/** Values as they are stored: absent fields and undefined ones are the same. */
const toPlain = (value: unknown): unknown => (isNone(value) ? null : JSON.parse(JSON.stringify(value)))
