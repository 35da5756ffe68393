import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { findPage } from '../../app/database/list.ts'
import { route, type Actor } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
import { ConfigEntity, ConfigVersion } from './config.entity.ts'
import {
  configFilter,
  configList,
  configParams,
  configRead,
  configVersionList,
  configView,
  createConfigBody,
  createdConfig,
  type UpdateConfig,
  updateConfigBody,
  updatedConfig,
  versionFilter,
  versionSorts,
} from './config.schema.ts'
import {
  addConfig,
  demandDefault,
  findConfig,
  presentConfig,
  presentVersion,
  readVersion,
  replaceContent,
  shownContent,
  takeDefault,
  visibleConfigs,
} from './configs.ts'
import { demandNotBoundFromAbove } from '../references/index.ts'
import { configDependants, refuseWhenUsed } from './references.ts'

const resource = 'config'

const isDefault = (body: Pick<UpdateConfig, 'isDefault' | 'is_default'>): boolean | undefined => body.isDefault ?? body.is_default

const writing = (actor: Actor, { vault, egress, level, config: { maxAttempts } }: Deps) => ({ actor, vault, egress, level, maxAttempts })

export const createConfig = route({
  method: 'POST',
  path: '/configs',
  summary: 'Store a gateway config',
  permission: 'configs.create',
  resource,
  body: createConfigBody,
  response: createdConfig,
})(async ({ em, actor, deps, body, audit }) => {
  const { id: workspaceId } = await resolveWorkspace(em, actor, body.workspace_id)
  const wanted = { name: body.name, slug: body.slug, config: body.config, workspaceId, isDefault: isDefault(body) ?? false }
  const row = await addConfig(em, wanted, writing(actor, deps))
  audit({ id: row.id, workspaceId })
  const made = { id: row.id, version_id: row.versionId, slug: row.slug, object: 'config' as const }
  return { success: true as const, data: made, ...made }
})

export const listConfigs = route({
  method: 'GET',
  path: '/configs',
  summary: 'List gateway configs, without their content',
  permission: 'configs.list',
  query: configFilter,
  response: configList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const asked = { ...visibleConfigs(actor), ...(workspaceId !== null && { workspaceId }) }
  const where = { $and: [asked, searching(query.name, 'name'), searching(query.search, 'name', 'slug')] }
  const page = await findPage(em, ConfigEntity, { where, query, sorts: usualSorts })
  return { success: true as const, ...toList(page.rows.map(presentConfig), page) }
})

export const readConfig = route({
  method: 'GET',
  path: '/configs/:slug',
  summary: 'Read a gateway config, its credentials masked',
  permission: 'configs.read',
  params: configParams,
  query: configRead,
  response: configView,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findConfig(em, actor, { reference: params.slug })
  const config = shownContent(await readVersion(em, row, deps.vault))
  const used = query.include_used_by ? { used_by: await configDependants(em, row) } : {}
  return { success: true as const, data: { ...presentConfig(row), version_id: row.versionId, config, ...used } }
})

export const updateConfig = route({
  method: 'PUT',
  path: '/configs/:slug',
  summary: 'Change a gateway config; new content becomes a new version',
  permission: 'configs.update',
  resource,
  params: configParams,
  body: updateConfigBody,
  response: updatedConfig,
})(async ({ em, actor, deps, params, body, audit }) => {
  const row = await findConfig(em, actor, { reference: params.slug, forWrite: true })
  if (body.status === 'archived') await refuseWhenUsed(em, row)
  if (body.config !== undefined) await demandNotBoundFromAbove(em, actor, { noun: 'config', row, param: 'config' })
  if (body.config !== undefined) await replaceContent(em, row, { config: body.config, ...writing(actor, deps) })
  const wanted = isDefault(body)
  if (wanted === true && !row.isDefault) await takeDefault(em, actor, row.workspaceId)
  if (row.isDefault && (wanted === false || body.status === 'archived'))
    await demandDefault(em, actor, { workspaceId: row.workspaceId, param: wanted === false ? 'is_default' : 'status' })
  assignDefined(row, { name: body.name, isDefault: wanted, status: body.status, updatedBy: actor.userId ?? actor.id })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return { success: true as const, data: { version_id: row.versionId, object: 'config' as const } }
})

export const deleteConfig = route({
  method: 'DELETE',
  path: '/configs/:slug',
  summary: 'Delete a gateway config; refused while keys or a workspace start from it',
  permission: 'configs.delete',
  resource,
  params: configParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findConfig(em, actor, { reference: params.slug, forWrite: true })
  await refuseWhenUsed(em, row)
  if (row.isDefault) await demandDefault(em, actor, { workspaceId: row.workspaceId, param: 'slug' })
  assignDefined(row, { status: 'archived', updatedBy: actor.userId ?? actor.id })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return {}
})

export const listConfigVersions = route({
  method: 'GET',
  path: '/configs/:slug/versions',
  summary: 'List the versions of a gateway config, newest first',
  permission: 'configs.read',
  params: configParams,
  query: versionFilter,
  response: configVersionList,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findConfig(em, actor, { reference: params.slug })
  const page = await findPage(em, ConfigVersion, { where: { configId: row.id }, query, sorts: versionSorts })
  const data = await Promise.all(page.rows.map((version) => presentVersion(row, version, deps.vault)))
  return toList(data, page)
})
