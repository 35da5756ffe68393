import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { searching, toList } from '../../lib/paging.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { BreakerEntity } from './breaker.entity.ts'
import { breakerFilter, breakerList, breakerParams, breakerSorts, type breakerView } from './breaker.schema.ts'

export const listBreakers = route({
  method: 'GET',
  path: '/breakers',
  summary: 'List the circuit breakers that are open',
  permission: 'configs.list',
  query: breakerFilter,
  response: breakerList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const where = {
    $and: [
      { organisationId: actor.organisationId },
      workspaceId === null ? {} : { workspaceId },
      searching(query.search, 'config', 'provider'),
    ],
  }
  const page = await findPage(em, BreakerEntity, { where, query, sorts: breakerSorts })
  return toList(page.rows.map(presentBreaker), page)
})

export const resetBreaker = route({
  method: 'DELETE',
  path: '/breakers/:breakerId',
  summary: 'Close a circuit breaker; every process sends requests to its target within a second',
  permission: 'configs.update',
  resource: 'breaker',
  params: breakerParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const { organisationId, workspaceId } = actor
  const row = isUuid(params.breakerId)
    ? await em.findOne(BreakerEntity, { id: params.breakerId, organisationId, ...(workspaceId === null ? {} : { workspaceId }) })
    : null
  if (row === null) throw new ApiError('AB02', 'There is no open circuit breaker with this id.', { param: 'breakerId' })
  em.remove(row)
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})

const presentBreaker = ({ id, workspaceId, config, option, provider, openedAt, until }: BreakerEntity): z.input<typeof breakerView> => ({
  id,
  workspace_id: workspaceId ?? null,
  config: config ?? null,
  option,
  provider: provider ?? null,
  state: until.getTime() > Date.now() ? 'open' : 'half-open',
  opened_at: openedAt.toISOString(),
  until: until.toISOString(),
  object: 'breaker',
})
