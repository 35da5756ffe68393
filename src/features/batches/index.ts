import { feature } from '../../app/feature.ts'
import { deleteExpiredFiles, deleteOldBatches } from './batches.jobs.ts'

/** Files that Gatehouse keeps, and batches that it runs itself: deleting old ones. `gateway/managed` answers for them and runs their lines. */
export const batches = feature({
  id: 'batches',
  since: '1.3.0',
  requires: ['workspaces'],
  permissions: [],
  entities: [],
  routes: [],
  jobs: [deleteExpiredFiles, deleteOldBatches],
})
