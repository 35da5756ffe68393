import { feature } from '../../app/feature.ts'
import { fillUsage, forgetUsage, settleUsage } from './analytics.jobs.ts'
import { readLogFacets } from './facets.routes.ts'
import { graphRoutes, readCacheSummary } from './graphs.routes.ts'
import { readOverview } from './overview.routes.ts'
import { readAnalyticsGroups, readLogGroups } from './groups.routes.ts'
import { readWorkspaceGroups } from './workspace-groups.routes.ts'
import { readMetadataGroups, readModelGroups, readUserGroups } from './named-groups.routes.ts'

/** Requests drawn over time, and counted by shared values. */
export const analytics = feature({
  id: 'analytics',
  since: '1.3.0',
  // Archived workspaces.
  changes: ['1.12.0'],
  requires: ['workspaces', 'logs', 'feedback'],
  permissions: ['analytics.view', 'logs.list'],
  entities: [],
  routes: [...graphRoutes, readOverview, readCacheSummary, readUserGroups, readModelGroups, readMetadataGroups, readLogFacets],
  jobs: [fillUsage, settleUsage, forgetUsage],
})

/** Requests counted by workspace and other traits. */
export const workspaceGroupedAnalytics = feature({
  id: 'workspace-grouped-analytics',
  since: '1.3.2',
  requires: ['analytics'],
  permissions: ['analytics.view'],
  entities: [],
  routes: [readWorkspaceGroups],
})

export const groupedAnalytics = feature({
  id: 'grouped-analytics',
  since: '1.11.2',
  requires: ['analytics'],
  permissions: ['analytics.view', 'logs.list'],
  entities: [],
  routes: [readAnalyticsGroups, readLogGroups],
})
