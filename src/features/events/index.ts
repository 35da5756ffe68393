import { feature } from '../../app/feature.ts'
import { streamEvents } from './events.routes.ts'

/** Events of all processes, as they happen. */
export const events = feature({
  id: 'events',
  since: '1.3.0',
  requires: ['logs', 'log-exports', 'workspaces'],
  permissions: ['logs.list', 'logs.export', 'workspaces.read', 'virtual_keys.list', 'configs.list', 'prompts.list'],
  entities: [],
  routes: [streamEvents],
})
