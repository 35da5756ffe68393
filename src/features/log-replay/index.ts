import { feature } from '../../app/feature.ts'
import { replayLog } from './replay.routes.ts'

/** Requests of logs, sent again. */
export const logReplay = feature({
  id: 'log-replay',
  since: '1.3.0',
  requires: ['logs', 'explain'],
  permissions: ['logs.view'],
  entities: [],
  routes: [replayLog],
})
