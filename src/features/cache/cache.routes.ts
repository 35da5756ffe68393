import { route } from '../../app/route.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { purgeQuery, purged } from './cache.schema.ts'
import { purgeAnswers } from './purge.ts'

export const purgeCache = route({
  method: 'DELETE',
  path: '/cache',
  summary: 'Delete cached answers; every process forgets them within a second',
  permission: 'configs.update',
  resource: 'cache',
  query: purgeQuery,
  response: purged,
})(async ({ em, actor, query, audit }) => {
  const { organisationId } = actor
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const deleted = await purgeAnswers(em, { organisationId, workspaceId, namespace: query.namespace, key: query.key })
  audit({ id: workspaceId ?? organisationId, workspaceId })
  return { deleted }
})
