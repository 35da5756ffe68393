import { feature } from '../../app/feature.ts'
import { listAlerts } from './alerts.routes.ts'
import { deliverAlertsJob, forgetDeliveries } from './deliveries.ts'
import { sealUrls } from './seal-urls.jobs.ts'
import { tellAlerts } from './tell.jobs.ts'
import { AlertWebhook } from './webhook.entity.ts'
import {
  createAlertWebhook,
  deleteAlertWebhook,
  listAlertWebhooks,
  readAlertWebhook,
  testAlertWebhook,
  updateAlertWebhook,
} from './webhooks.routes.ts'

export type { McpEventType } from './alert-event.ts'
export { queueEvent } from './deliveries.ts'

/** Mails and webhooks about budgets that pass their threshold or their end, and about keys and providers that have expired. */
export const alerts = feature({
  id: 'alerts',
  since: '1.3.0',
  // Admins and managers of the workspace are notified too; raising a limit resets its alerts.
  changes: ['1.8.0', '1.11.0'],
  requires: ['api-keys'],
  permissions: ['organisation_settings.read', 'organisation_settings.update', 'workspaces.read', 'workspaces.update'],
  entities: [AlertWebhook],
  routes: [listAlerts, createAlertWebhook, listAlertWebhooks, readAlertWebhook, updateAlertWebhook, deleteAlertWebhook, testAlertWebhook],
  jobs: [tellAlerts, deliverAlertsJob, forgetDeliveries, sealUrls],
})
