import type { FilterQuery } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { containing, toList, usualSorts } from '../../lib/paging.ts'
import { taggedWith } from '../../lib/text/tags.ts'
import { resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
import { demandRead, demandWrite, findIntegration, listedLevels, integrationScopes, visibleIntegrations } from './access.ts'
import { archiveDefaultProviders, countWorkspaces, integrationDependants } from './dependants.ts'
import { giveAccess } from './grants.ts'
import { addProvider } from './provider-rows.ts'
import { Integration } from './integration.entity.ts'
import {
  createdIntegration,
  createIntegrationBody,
  integrationDetail,
  integrationFilter,
  integrationList,
  integrationParams,
  integrationRead,
  updateIntegrationBody,
  type CreateIntegration,
} from './integration.schema.ts'
import { addIntegration, archiveIntegration, changeCredential, presentDetail, presentIntegration } from './integrations.ts'
import { demandOneHost } from './models.ts'
import { demandPrices } from './price-fields.ts'

const resource = 'integration'
const empty = z.object({})

export const createIntegration = route({
  method: 'POST',
  path: '/integrations',
  summary: 'Store a provider account',
  permission: integrationScopes('create'),
  resource,
  body: createIntegrationBody,
  response: createdIntegration,
})(async ({ em, actor, deps, body, audit }) => {
  const workspaceId = await workspaceFilter(em, actor, body.workspace_id)
  demandWrite(actor, workspaceId, 'create')
  const wanted = toNewIntegration(body, workspaceId)
  const row = await addIntegration(em, wanted, { actor, ...deps })
  if (body.create_default_provider) {
    const home = workspaceId ?? (await resolveWorkspace(em, actor, undefined)).id
    const handle = {
      name: row.name,
      slug: body.default_provider_slug,
      slugLike: row.slug,
      kind: 'provider',
      isDefault: true,
      workspaceId: home,
      integrationId: row.id,
    } as const
    if (workspaceId === null) giveAccess(em, { integration: row, workspaceId: home })
    await addProvider(em, handle, { actor, nowMs: deps.clock.now() })
  }
  audit({ id: row.id, workspaceId })
  return { id: row.id, slug: row.slug }
})

const toNewIntegration = (body: CreateIntegration, workspaceId: string | null) => ({
  name: body.name,
  slug: body.slug,
  kind: 'integration' as const,
  workspaceId,
  aiProviderId: body.ai_provider_id,
  key: body.key ?? null,
  configurations: body.configurations ?? {},
  description: body.description ?? null,
  pricingAdjustments: body.pricing_adjustments ?? null,
  tags: body.tags ?? {},
  secretMappings: body.secret_mappings ?? [],
})

export const listIntegrations = route({
  method: 'GET',
  path: '/integrations',
  summary: 'List provider accounts',
  permission: integrationScopes('list'),
  query: integrationFilter,
  response: integrationList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const name = containing(query.search)
  const asked = { ...taggedWith(query.tags), ...(name !== undefined && { name }) }
  const where = { $and: [await visibleIntegrations(em, actor), atLevels(listedLevels(actor, query.type), workspaceId), asked] }
  const page = await findPage(em, Integration, { where, query, sorts: usualSorts })
  return toList(page.rows.map(presentIntegration), page)
})

/** The organisation's own; one workspace's or, without a workspace, every workspace's. */
function atLevels(levels: ReturnType<typeof listedLevels>, workspaceId: string | null): FilterQuery<Integration> {
  const ofWorkspace: FilterQuery<Integration> = workspaceId === null ? { workspaceId: { $ne: null } } : { workspaceId }
  const ofOrganisation: FilterQuery<Integration> = { workspaceId: null }
  return { $or: [...(levels.has('workspace') ? [ofWorkspace] : []), ...(levels.has('organisation') ? [ofOrganisation] : [])] }
}

export const readIntegration = route({
  method: 'GET',
  path: '/integrations/:slug',
  summary: 'Read a provider account, but for its secrets',
  permission: integrationScopes('read'),
  params: integrationParams,
  query: integrationRead,
  response: integrationDetail,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findIntegration(em, actor, { reference: params.slug, verb: 'read' })
  demandRead(actor, row.workspaceId)
  const view = await presentDetail(row, { workspaceCount: await countWorkspaces(em, row), vault: deps.vault })
  return query.include_used_by ? { ...view, used_by: await integrationDependants(em, row, { workspaceId: actor.workspaceId }) } : view
})

export const updateIntegration = route({
  method: 'PUT',
  path: '/integrations/:slug',
  summary: 'Change a provider account',
  permission: integrationScopes('update'),
  resource,
  params: integrationParams,
  body: updateIntegrationBody,
  response: empty,
})(async ({ em, actor, deps, params, body, audit }) => {
  const row = await findIntegration(em, actor, { reference: params.slug, verb: 'update' })
  const { pricing_adjustments: pricingAdjustments } = body
  const prices = { param: 'pricing_adjustments', before: row.pricingAdjustments, after: pricingAdjustments }
  await demandPrices(em, actor, { integration: row, changes: [prices] })
  assignDefined(row, { name: body.name, description: body.description, pricingAdjustments })
  assignDefined(row, { tags: body.tags === null ? {} : body.tags })
  const change = { key: body.key, configurations: body.configurations, secretMappings: body.secret_mappings }
  await changeCredential(row, change, { em, actor, ...deps })
  await demandOneHost(em, row)
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})

export const deleteIntegration = route({
  method: 'DELETE',
  path: '/integrations/:slug',
  summary: 'Delete a provider account; refused while providers use it, but for the one made with it',
  permission: integrationScopes('delete'),
  resource,
  params: integrationParams,
  response: empty,
})(async ({ em, actor, params, audit }) => {
  const row = await findIntegration(em, actor, { reference: params.slug, verb: 'delete' })
  await archiveDefaultProviders(em, row)
  archiveIntegration(row)
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})
