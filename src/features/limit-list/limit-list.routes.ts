import type { z } from 'zod'
import { route } from '../../app/route.ts'
import { pageOf, toList } from '../../lib/paging.ts'
import { visibleKeyIds } from '../api-keys/index.ts'
import { findLimits, isShownGroup, ownGroups, presentOwned, standingsOf, type OwnedLimit, type LimitUsage } from '../limits/index.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { limitFilter, limitList } from './limit-list.schema.ts'

export const listLimits = route({
  method: 'GET',
  path: '/limits',
  summary: 'List the limits of keys, providers, workspaces and policies, with their usage',
  permission: ['organisation_settings.read', 'workspaces.read'],
  query: limitFilter,
  response: limitList,
})(async ({ em, actor, deps, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const found = await findLimits(em, { organisationId: actor.organisationId, workspaceId, off: deps.level.off })
  const keys = await visibleKeyIds(em, actor)
  const own = await ownGroups(em, actor)
  const shown = found.filter(({ owner, group }) => (owner.kind !== 'api-key' || (keys?.has(owner.id) ?? true)) && isShownGroup(own, group))
  const owned = shown.filter((one) => isAsked(one, query))
  const standings = await standingsOf(
    em,
    owned.map(({ limit }) => limit),
  )
  const rows = owned
    .flatMap((one): Row[] => {
      const standing = standings.get(one.limit.id)
      return standing === undefined ? [] : [{ one, standing }]
    })
    .filter(({ standing }) => query.state === undefined || standing.state === query.state)
    .toSorted(byShare)
  const page = pageOf(rows, query, ({ one }) => one.limit.id)
  return toList(page.rows.map(present), page)
})

interface Row {
  readonly one: OwnedLimit
  readonly standing: LimitUsage
}

const isAsked = ({ limit, owner }: OwnedLimit, { kind, owner_kind, type, search }: z.output<typeof limitFilter>): boolean =>
  (kind === undefined || limit.kind === kind) &&
  (owner_kind === undefined || owner.kind === owner_kind) &&
  (type === undefined || limit.counts === type) &&
  owner.name.toLowerCase().includes(search?.toLowerCase() ?? '')

/** A limit of 0 lets no request pass: all of it is used. */
const shareOf = ({ spent, limit }: LimitUsage): number => (limit === 0 ? 1 : spent / limit)

const byShare = (one: Row, other: Row): number =>
  shareOf(one.standing) - shareOf(other.standing) || (one.one.limit.id < other.one.limit.id ? -1 : 1)

const present = ({ one, standing }: Row) => ({
  object: 'limit' as const,
  ...presentOwned(one),
  workspace_id: one.owner.workspaceId,
  ...standing,
})
