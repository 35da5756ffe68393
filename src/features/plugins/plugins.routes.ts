import { z } from 'zod'
import { demandNoDependants } from '../../app/database/dependants.ts'
import { findPage } from '../../app/database/list.ts'
import type { Deps } from '../../app/deps.ts'
import { type Actor, route } from '../../app/route.ts'
import { plugins } from '../../gateway/ports/checks.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
import { PluginEntity } from './plugin.entity.ts'
import {
  createPluginBody,
  pluginFilter,
  pluginList,
  pluginParams,
  pluginRead,
  pluginReference,
  pluginView,
  updatePluginBody,
} from './plugin.schema.ts'
import { addPlugin, archivePlugin, changePlugin, findPlugin, openRow, presentPlugin } from './plugins.ts'
import { pluginDependants } from './references.ts'
import { maskCredentials } from './secrets.ts'

const resource = 'plugin'

const writing = (actor: Actor, { vault, egress, level }: Deps) => ({ actor, vault, egress, level })

export const createPlugin = route({
  method: 'POST',
  path: '/plugins',
  summary: "Store the credentials of a partner that guardrails ask, for the organisation or in a workspace's place",
  permission: 'plugins.create',
  resource,
  body: createPluginBody,
  response: pluginReference,
})(async ({ em, actor, deps, body, audit }) => {
  const { workspace_id: workspace, ...wanted } = body
  const workspaceId = workspace === undefined ? null : (await resolveWorkspace(em, actor, workspace)).id
  const row = await addPlugin(em, { ...wanted, workspaceId }, writing(actor, deps))
  audit({ id: row.id, workspaceId })
  return { id: row.id, plugin: row.plugin }
})

export const listPlugins = route({
  method: 'GET',
  path: '/plugins',
  summary: 'List for which partners credentials are stored',
  permission: 'plugins.list',
  query: pluginFilter,
  response: pluginList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const where = {
    $and: [
      { organisationId: actor.organisationId, status: 'active' as const },
      workspaceId === null ? {} : { workspaceId },
      query.plugin === undefined ? {} : { plugin: query.plugin },
      searching(query.search, 'name', 'plugin'),
    ],
  }
  const page = await findPage(em, PluginEntity, { where, query, sorts: usualSorts })
  return toList(page.rows.map(presentPlugin), page)
})

export const readPlugin = route({
  method: 'GET',
  path: '/plugins/:pluginId',
  summary: "Read the credentials of a partner, their secrets masked; by the partner's name the organisation's",
  permission: 'plugins.list',
  params: pluginParams,
  query: pluginRead,
  response: pluginView,
})(async ({ em, actor, deps, params, query }) => {
  const row = await findPlugin(em, actor, { reference: params.pluginId })
  const { fields, baseUrl } = await openRow(row, deps.vault)
  const plugin = plugins.get(row.plugin)
  // Every field of a partner unknown to this build counts as secret.
  const credentials = plugin === undefined ? {} : maskCredentials(plugin, fields, baseUrl)
  const view = { ...presentPlugin(row), credentials: { ...credentials } }
  return query.include_used_by ? { ...view, used_by: await pluginDependants(em, row) } : view
})

export const updatePlugin = route({
  method: 'PUT',
  path: '/plugins/:pluginId',
  summary: 'Change the credentials of a partner; guardrails use them within a second',
  permission: 'plugins.update',
  resource,
  params: pluginParams,
  body: updatePluginBody,
  response: pluginReference,
})(async ({ em, actor, deps, params, body, audit }) => {
  const row = await findPlugin(em, actor, { reference: params.pluginId, forWrite: true })
  await changePlugin(row, body, writing(actor, deps))
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return { id: row.id, plugin: row.plugin }
})

export const deletePlugin = route({
  method: 'DELETE',
  path: '/plugins/:pluginId',
  summary: 'Delete the credentials of a partner; refused while guardrails or configs would have none',
  permission: 'plugins.update',
  action: 'delete',
  resource,
  params: pluginParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findPlugin(em, actor, { reference: params.pluginId, forWrite: true })
  demandNoDependants('plugin', await pluginDependants(em, row))
  archivePlugin(row, actor)
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})
