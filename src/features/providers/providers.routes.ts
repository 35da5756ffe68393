import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { taggedWith } from '../../lib/text/tags.ts'
import { demandReactivation, havingStatus, withOwnUsage, withUsage } from '../limits/index.ts'
import { addProvider, demandAccess, demandUnused, findIntegration, providerDependants } from '../integrations/index.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { ProviderEntity } from './provider.entity.ts'
import {
  createProviderBody,
  inWorkspace,
  providerRead,
  providerQuery,
  providerList,
  providerParams,
  providerReference,
  providerView,
  updateProviderBody,
} from './provider.schema.ts'
import { boundsOf, changeProvider, findStoredProvider, presentProvider } from './providers.ts'

const resource = 'provider'
const kind = 'provider'

export const createProvider = route({
  method: 'POST',
  path: '/providers',
  summary: 'Give a workspace a handle on an integration',
  permission: 'providers.create',
  resource,
  body: createProviderBody,
  response: providerReference,
})(async ({ em, actor, deps, body, audit }) => {
  const integration = await findIntegration(em, actor, {
    reference: body.integration_id,
    verb: 'read',
    param: 'integration_id',
    hold: true,
  })
  const workspace = await resolveWorkspace(em, actor, body.workspace_id ?? integration.workspaceId ?? undefined)
  if (integration.workspaceId && integration.workspaceId !== workspace.id) {
    throw new ApiError('AB01', 'The integration belongs to another workspace.', { param: 'integration_id' })
  }
  await demandAccess(em, actor, { integration, workspaceId: workspace.id })
  const wanted = { ...body, kind, workspaceId: workspace.id, integrationId: integration.id } as const
  const row = await addProvider(em, wanted, { actor, nowMs: deps.clock.now() })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return { id: row.id, slug: row.slug }
})

export const listProviders = route({
  method: 'GET',
  path: '/providers',
  summary: 'List the providers of a workspace',
  permission: 'providers.list',
  query: providerQuery,
  response: providerList,
})(async ({ em, actor, deps, query }) => {
  const { id: workspaceId } = await resolveWorkspace(em, actor, query.workspace_id)
  const nowMs = deps.clock.now()
  const asked = { organisationId: actor.organisationId, workspaceId, kind, ...taggedWith(query.tags) } as const
  const where = { $and: [asked, havingStatus(query.status, nowMs), searching(query.search, 'name')] }
  const page = await findPage(em, ProviderEntity, { where, query, sorts: usualSorts })
  const views = page.rows.map((row) => presentProvider(row, nowMs))
  return toList(await withUsage(em, { kind: 'provider', rows: page.rows }, views), page)
})

export const readProvider = route({
  method: 'GET',
  path: '/providers/:slug',
  summary: 'Read a provider',
  permission: 'providers.read',
  params: providerParams,
  query: providerRead,
  response: providerView,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findStoredProvider(em, actor, named(params, query))
  const view = await withOwnUsage(em, { kind: 'provider', row }, presentProvider(row, deps.clock.now()))
  const bounded_by = await boundsOf(em, actor, { row, off: deps.level.off })
  return { ...view, bounded_by, ...(query.include_used_by && { used_by: await providerDependants(em, row) }) }
})

export const updateProvider = route({
  method: 'PUT',
  path: '/providers/:slug',
  summary: 'Change a provider',
  permission: 'providers.update',
  resource,
  params: providerParams,
  query: inWorkspace,
  body: updateProviderBody,
  response: providerReference,
})(async ({ em, actor, deps, params, query, body, audit }) => {
  const workspace = query.workspace_id ?? body.workspace_id
  const row = await findStoredProvider(em, actor, { ...named(params, { workspace_id: workspace }), forWrite: true })
  const { usage_limits: wanted, reset_usage: reset } = body
  await demandReactivation(em, deps.level, { kind: 'provider', row, wanted, reset })
  changeProvider(row, body, { actor, nowMs: deps.clock.now() })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return { id: row.id, slug: row.slug }
})

export const deleteProvider = route({
  method: 'DELETE',
  path: '/providers/:slug',
  summary: 'Delete a provider; refused while configs or prompts name it',
  permission: 'providers.delete',
  resource,
  params: providerParams,
  query: inWorkspace,
  response: z.object({}),
})(async ({ em, actor, params, query, audit }) => {
  const row = await findStoredProvider(em, actor, { ...named(params, query), forWrite: true })
  await demandUnused(em, row)
  row.status = 'archived'
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})

const named = ({ slug }: { slug: string }, { workspace_id }: { workspace_id?: string | undefined }) =>
  ({
    reference: slug,
    workspace: workspace_id,
    kind,
  }) as const
