import { feature } from '../../app/feature.ts'
import { readAnalyticsGroups, readLogGroups } from './groups.routes.ts'

/** Requests counted by what they have in common. */
export const groupedAnalytics = feature({
  id: 'grouped-analytics',
  since: '1.11.2',
  requires: ['workspaces', 'logs'],
  permissions: ['analytics.view', 'logs.list'],
  entities: [],
  routes: [readAnalyticsGroups, readLogGroups],
})
