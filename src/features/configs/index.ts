import { feature } from '../../app/feature.ts'
import { ConfigEntity, ConfigVersion } from './config.entity.ts'
import { createConfig, deleteConfig, listConfigs, listConfigVersions, readConfig, updateConfig } from './configs.routes.ts'
import { configView } from './config.view.ts'
import { checkConfig, readConfigSchema } from './validation.routes.ts'

/** Configs change requests before they are sent: targets, parameters, timeouts, guardrails. */
export const configs = feature({
  id: 'configs',
  since: '1.3.0',
  // The scope at an identity provider.
  changes: ['1.11.2'],
  requires: ['workspaces'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `configs.${verb}`),
  entities: [ConfigEntity, ConfigVersion],
  routes: [readConfigSchema, checkConfig, createConfig, listConfigs, listConfigVersions, readConfig, updateConfig, deleteConfig],
  views: { config: configView },
})
