import { ChangeSetType, type EventSubscriber } from '@mikro-orm/core'
import { EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { isStoredKind, type StoredBounds, type StoredKind, storedKinds, type StoredKindName } from '../../lib/stored-kinds.ts'

/** Things that are about to be stored. */
export interface NewItems {
  readonly kind: StoredKindName
  readonly organisationId: string
  /** Null: the organisation's own. Counts only for kinds that are bounded by workspace. */
  readonly workspaceId?: string | null
  readonly count?: number
}

/** Throws AB07 when an owner may not have so many more rows of a kind. Existing rows stay, also beyond a bound that was lowered. */
export async function demandRoomFor(em: EntityManager, bounds: StoredBounds, { kind, count = 1, ...owner }: NewItems): Promise<void> {
  const { words, per, live = 'true' }: StoredKind = storedKinds[kind]
  const most = bounds[kind]
  const isOfWorkspace = per === 'workspace'
  const values = [owner.organisationId, ...(isOfWorkspace ? [owner.workspaceId ?? null] : []), most + 1]
  const counted = `SELECT count(*)::int AS there FROM
    (SELECT FROM ${kind} WHERE organisation_id = ? AND ${live} ${isOfWorkspace ? 'AND workspace_id IS NOT DISTINCT FROM ?' : ''} LIMIT ?) AS c`
  const read = async () => (await em.execute<{ there: number }[]>(counted, values))[0]?.there ?? 0
  let there = await read()
  if (there + count > most - closeTo) {
    // Close to the bound those that store at the same time wait for each other.
    await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:stored:${kind}:${owner.organisationId}`])
    there = await read()
  }
  if (there + count <= most) return
  const whose = isOfWorkspace && owner.workspaceId ? 'The workspace' : 'The organisation'
  throw new ApiError(
    'AB07',
    `${whose} has ${there} ${words}, and may have ${most}. Delete one first, or have the operator raise STORED_ITEMS_MAX (${kind}).`,
    {
      param: kind,
      details: { kind, limit: most },
    },
  )
}

const closeTo = 100

/** Checks the bounds whenever a unit of work stores new rows, in every route and job. */
export const storedBounds = (bounds: StoredBounds): EventSubscriber => ({
  async onFlush({ em, uow }) {
    const wanted = new Map<string, Required<NewItems>>()
    for (const { type, meta, entity } of uow.getChangeSets()) {
      const kind = meta.tableName
      if (type !== ChangeSetType.CREATE || !isStoredKind(kind) || isEvicted(kind)) continue
      const [organisationId, workspaceId] = [textOf(entity, 'organisationId'), textOf(entity, 'workspaceId')]
      if (organisationId === null) continue
      const key = `${kind} ${organisationId} ${workspaceId}`
      wanted.set(key, { kind, organisationId, workspaceId, count: (wanted.get(key)?.count ?? 0) + 1 })
    }
    if (!(em instanceof EntityManager)) return
    for (const items of wanted.values()) await demandRoomFor(em, bounds, items)
  },
})

function isEvicted(kind: StoredKindName): boolean {
  const { isEvicted: evicted }: StoredKind = storedKinds[kind]
  return evicted === true
}

function textOf(entity: object, name: string): string | null {
  const value: unknown = Reflect.get(entity, name)
  return typeof value === 'string' ? value : null
}
