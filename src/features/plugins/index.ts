import { feature } from '../../app/feature.ts'
import { PluginEntity } from './plugin.entity.ts'
import { createPlugin, deletePlugin, listPlugins, readPlugin, updatePlugin } from './plugins.routes.ts'
import { pluginView } from './plugin.view.ts'

export { storedCredentials } from './plugins.ts'

/** Credentials of the partners that guardrails ask. */
export const plugins = feature({
  id: 'plugins',
  since: '1.3.0',
  flag: 'GUARDRAILS_ENABLED',
  requires: ['workspaces'],
  permissions: ['create', 'update', 'list'].map((verb) => `plugins.${verb}`),
  entities: [PluginEntity],
  routes: [createPlugin, listPlugins, readPlugin, updatePlugin, deletePlugin],
  views: { pluginCredentials: pluginView },
})
