import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import {
  addIntegration,
  addProvider,
  archiveIntegration,
  catalogueRow,
  changeCredential,
  demandUnused,
  providerDependants,
} from '../integrations/index.ts'
import { Integration } from '../integrations/integration.entity.ts'
import {
  boundsOf,
  changeProvider,
  findStoredProvider,
  inWorkspace,
  providerFilter,
  providerParams,
  providerRead,
} from '../providers/index.ts'
import { ProviderEntity } from '../providers/provider.entity.ts'
import { demandReactivation, havingStatus, withOwnUsage, withUsage } from '../limits/index.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { createdVirtualKey, createVirtualKeyBody, updateVirtualKeyBody, virtualKeyList, virtualKeyView } from './virtual-key.schema.ts'
import { azureConfigurations, ownIntegration, presentVirtualKey, toProviderId } from './virtual-keys.ts'

const resource = 'virtual-key'
const kind = 'virtual-key'
const empty = z.object({})

export const createVirtualKey = route({
  method: 'POST',
  path: '/virtual-keys',
  summary: 'Store a provider key as a virtual key',
  permission: 'virtual_keys.create',
  resource,
  body: createVirtualKeyBody,
  response: createdVirtualKey,
})(async ({ em, actor, deps, body, audit }) => {
  const { id: workspaceId } = await resolveWorkspace(em, actor, body.workspace_id)
  const aiProviderId = toProviderId(body.provider)
  catalogueRow(aiProviderId, 'provider')
  const azureMode = aiProviderId === 'azure-openai' ? { azure_auth_mode: 'default' } : {}
  const owned = {
    ...({ name: body.name, kind, workspaceId, aiProviderId, key: body.key ?? null, description: null, pricingAdjustments: null } as const),
    secretMappings: body.secret_mappings ?? [],
    configurations: { ...azureMode, ...withoutNulls(azureConfigurations(body)), ...body.configurations },
  }
  const integration = await addIntegration(em, owned, { actor, ...deps })
  const handle = { ...body, kind, workspaceId, integrationId: integration.id } as const
  const row = await addProvider(em, handle, { actor, nowMs: deps.clock.now() })
  audit({ id: row.id, workspaceId })
  return { success: true as const, data: { slug: row.slug } }
})

const withoutNulls = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

export const listVirtualKeys = route({
  method: 'GET',
  path: '/virtual-keys',
  summary: 'List the virtual keys of a workspace',
  permission: 'virtual_keys.list',
  query: providerFilter,
  response: virtualKeyList,
})(async ({ em, actor, deps, query }) => {
  const { id: workspaceId } = await resolveWorkspace(em, actor, query.workspace_id)
  const nowMs = deps.clock.now()
  const asked = { organisationId: actor.organisationId, workspaceId, kind } as const
  const where = { $and: [asked, havingStatus(query.status, nowMs), searching(query.search, 'name')] }
  const page = await findPage(em, ProviderEntity, { where, query, sorts: usualSorts })
  const owned = await em.find(Integration, { organisationId: actor.organisationId, id: { $in: page.rows.map((row) => row.integrationId) } })
  const byId = new Map(owned.map((integration) => [integration.id, integration]))
  const shown = page.rows.flatMap((row) => {
    const integration = byId.get(row.integrationId)
    return integration === undefined ? [] : [{ row, view: presentVirtualKey(row, integration, nowMs) }]
  })
  const budgeted = { kind: 'provider', rows: shown.map(({ row }) => row) } as const
  const views = shown.map(({ view }) => view)
  return toList(await withUsage(em, budgeted, views), page)
})

export const readVirtualKey = route({
  method: 'GET',
  path: '/virtual-keys/:slug',
  summary: 'Read a virtual key, without the key behind it',
  permission: 'virtual_keys.read',
  params: providerParams,
  query: providerRead,
  response: virtualKeyView,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findStoredProvider(em, actor, { reference: params.slug, workspace: query.workspace_id, kind })
  const stored = presentVirtualKey(row, await ownIntegration(em, row), deps.clock.now())
  const view = await withOwnUsage(em, { kind: 'provider', row }, stored)
  const bounded_by = await boundsOf(em, actor, { row, off: deps.level.off })
  return { ...view, bounded_by, ...(query.include_used_by && { used_by: await providerDependants(em, row) }) }
})

export const updateVirtualKey = route({
  method: 'PUT',
  path: '/virtual-keys/:slug',
  summary: 'Change a virtual key or the key behind it',
  permission: 'virtual_keys.update',
  resource,
  params: providerParams,
  query: inWorkspace,
  body: updateVirtualKeyBody,
  response: empty,
})(async ({ em, actor, deps, params, query, body, audit }) => {
  const row = await findStoredProvider(em, actor, { reference: params.slug, workspace: query.workspace_id, kind, forWrite: true })
  const { usage_limits: wanted, reset_usage: reset } = body
  await demandReactivation(em, deps.level, { kind: 'provider', row, wanted, reset })
  changeProvider(row, body, { actor, nowMs: deps.clock.now() })
  const azure = azureConfigurations(body)
  const named = body.configurations !== undefined || Object.keys(azure).length > 0
  const configurations = named ? (body.configurations === null ? null : { ...azure, ...body.configurations }) : undefined
  const change = { key: body.key, configurations, secretMappings: body.secret_mappings }
  await changeCredential(await ownIntegration(em, row, true), change, { em, actor, ...deps })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})

export const deleteVirtualKey = route({
  method: 'DELETE',
  path: '/virtual-keys/:slug',
  summary: 'Delete a virtual key and the key behind it; refused while configs or prompts name it',
  permission: 'virtual_keys.delete',
  resource,
  params: providerParams,
  query: inWorkspace,
  response: empty,
})(async ({ em, actor, params, query, audit }) => {
  const row = await findStoredProvider(em, actor, { reference: params.slug, workspace: query.workspace_id, kind, forWrite: true })
  await demandUnused(em, row, 'virtual key')
  row.status = 'archived'
  archiveIntegration(await ownIntegration(em, row, true))
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})
