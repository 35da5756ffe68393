import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { route, type Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { pageOf, toList } from '../../lib/paging.ts'
import { withUsage } from '../limits/index.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { demandRead, findIntegration, integrationScopes } from './access.ts'
import { updateGrants } from './grants.ts'
import { grantList, grantsPage, updateGrantsBody, type GlobalAccess } from './grants.schema.ts'
import { addDefaultProviders } from './provider-rows.ts'
import { IntegrationWorkspace } from './integration-workspace.entity.ts'
import type { Integration } from './integration.entity.ts'
import { integrationParams } from './integration.schema.ts'

export const listGrants = route({
  method: 'GET',
  path: '/integrations/:slug/workspaces',
  summary: 'List the workspaces whose access is set',
  permission: integrationScopes('read'),
  params: integrationParams,
  query: grantsPage,
  response: grantList,
})(async ({ em, actor, params, query }) => {
  const integration = await findIntegration(em, actor, { reference: params.slug, verb: 'read' })
  demandRead(actor, integration.workspaceId)
  const all = await findGrants(em, actor, integration)
  const wanted = query.search?.toLowerCase() ?? ''
  const matching = all.filter(({ slug, name }) => [slug, name].some((text) => text.toLowerCase().includes(wanted)))
  const page = pageOf(matching, query, ({ id }) => id)
  const { data: workspaces, ...list } = toList(page.rows, page)
  return { ...list, global_workspace_access: presentGlobal(integration.globalWorkspaceAccess), workspaces }
})

/** By the slugs of the workspaces; a workspace key sees its own. */
async function findGrants(em: EntityManager, { organisationId, workspaceId }: Actor, integration: Integration) {
  const own = workspaceId === null ? {} : { workspaceId }
  const rows = await em.find(IntegrationWorkspace, { organisationId, integrationId: integration.id, ...own })
  const views = await withUsage(em, { kind: 'integration-workspace', rows }, rows.map(presentGrant))
  const grants = new Map(views.map((view, at) => [rows[at]?.workspaceId ?? '', view]))
  if (integration.workspaceId) grants.set(integration.workspaceId, { enabled: true, usage_limits: null, usage: null, rate_limits: null })
  const where = { organisationId, status: 'active' as const, id: { $in: [...grants.keys()] } }
  const workspaces = await em.find(Workspace, where, { orderBy: { slug: 'asc' } })
  return workspaces.flatMap(({ id, slug, name }) => {
    const grant = grants.get(id)
    return grant === undefined ? [] : [{ id, slug, name, ...grant }]
  })
}

const presentGrant = ({ enabled, usageLimits, rateLimits }: Pick<IntegrationWorkspace, 'enabled' | 'usageLimits' | 'rateLimits'>) => ({
  enabled,
  usage_limits: usageLimits ? [...usageLimits] : null,
  rate_limits: rateLimits ? [...rateLimits] : null,
})

const presentGlobal = (access: GlobalAccess | null | undefined) =>
  access ? { enabled: access.enabled, usage_limits: access.usage_limits ?? null, rate_limits: access.rate_limits ?? null } : null

export const putGrants = route({
  method: 'PUT',
  path: '/integrations/:slug/workspaces',
  summary: 'Set the workspaces that may use an integration of the organisation',
  permission: integrationScopes('update'),
  resource: 'integration',
  params: integrationParams,
  body: updateGrantsBody,
  response: z.object({}),
})(async ({ em, actor, deps, params, body, audit }) => {
  const integration = await findIntegration(em, actor, { reference: params.slug, verb: 'update' })
  if (integration.workspaceId)
    throw new ApiError('AB01', 'The integration belongs to one workspace, and serves no other.', { param: 'slug' })
  const wanted = await updateGrants(em, integration, { body, nowMs: deps.clock.now(), level: deps.level })
  await addDefaultProviders(em, integration, { wanted, actor })
  audit({ id: integration.id })
  return {}
})
