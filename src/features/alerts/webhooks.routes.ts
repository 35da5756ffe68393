import { z } from 'zod'
import { findPage } from '../../app/database/list.ts'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { type Actor, type EarlyCall, route } from '../../app/route.ts'
import { tenantEgress } from '../../app/tenant-egress.ts'
import { inTrial } from '../../app/trial-limit.ts'
import { seesOthers } from '../../lib/access/rank.ts'
import { ApiError } from '../../lib/errors.ts'
import { searching, toList, usualSorts } from '../../lib/paging.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { resolveWorkspace, workspaceFilter } from '../workspaces/index.ts'
import { testEvent } from './alert-event.ts'
import { sendEvent } from './deliveries.ts'
import { AlertWebhook } from './webhook.entity.ts'
import {
  createWebhookBody,
  updateWebhookBody,
  webhookChanged,
  webhookFilter,
  webhookList,
  webhookMade,
  webhookParams,
  webhookTested,
  webhookView,
} from './webhook.schema.ts'
import {
  aimOf,
  demandWebhook,
  demandWhole,
  findWebhook,
  maskedUrl,
  noteWebhookSetter,
  openSecret,
  openUrl,
  presentWebhook,
  renewSecret,
  setUrl,
  visibleWebhooks,
  webhookSetters,
} from './webhooks.ts'

const resource = 'alert-webhook'
/** Callers that may change budgets of a workspace, or settings of the organisation, decide where their alerts go. */
const reading = ['organisation_settings.read', 'workspaces.read']
const writing = ['organisation_settings.update', 'workspaces.update']

/** Refuses with AB03 a caller that would have alerts sent which it could not list. */
function demandSight(actor: Actor): void {
  if (!seesOthers(actor)) throw new ApiError('AB03', 'A receiver gets the alerts of all keys, and you do not see those of others.')
}

export const createAlertWebhook = route({
  method: 'POST',
  path: '/alert-webhooks',
  summary: 'Add a receiver of alerts; the answer shows its secret, once',
  permission: writing,
  action: 'create',
  resource,
  body: createWebhookBody,
  response: webhookMade,
})(async ({ em, actor, deps, body, audit }) => {
  demandSight(actor)
  demandWhole(body.url)
  await deps.egress.origin(body.url, 'url')
  const isOfWorkspace = body.workspace_id !== undefined || actor.workspaceId !== null
  const workspaceId = isOfWorkspace ? (await resolveWorkspace(em, actor, body.workspace_id)).id : null
  const { organisationId, id: createdBy } = actor
  const fields = { name: body.name, events: body.events ?? null }
  const row = em.create(AlertWebhook, {
    id: uuidv7(),
    organisationId,
    workspaceId,
    ...fields,
    createdBy,
    setterRanks: webhookSetters(actor),
  })
  await setUrl(row, body.url, deps.vault)
  const secret = await renewSecret(row, deps.vault)
  await em.flush()
  audit({ id: row.id, workspaceId })
  return { ...presentWebhook(body.url, row), secret }
})

export const listAlertWebhooks = route({
  method: 'GET',
  path: '/alert-webhooks',
  summary: 'List the receivers of alerts',
  permission: reading,
  query: webhookFilter,
  response: webhookList,
})(async ({ em, actor, deps, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const where = { $and: [visibleWebhooks(actor), workspaceId === null ? {} : { workspaceId }, searching(query.search, 'name')] }
  const page = await findPage(em, AlertWebhook, { where, query, sorts: usualSorts })
  const views = await Promise.all(page.rows.map(async (row) => presentWebhook(await openUrl(row, deps.vault), row)))
  return toList(views, page)
})

export const readAlertWebhook = route({
  method: 'GET',
  path: '/alert-webhooks/:webhookId',
  summary: 'Read a receiver of alerts',
  permission: reading,
  params: webhookParams,
  response: webhookView,
})(async ({ em, actor, deps, params }) => {
  const row = await findWebhook(em, actor, { id: params.webhookId })
  return presentWebhook(await openUrl(row, deps.vault), row)
})

export const updateAlertWebhook = route({
  method: 'PUT',
  path: '/alert-webhooks/:webhookId',
  summary: 'Change a receiver of alerts, or give it a new secret',
  permission: writing,
  action: 'update',
  resource,
  params: webhookParams,
  body: updateWebhookBody,
  response: webhookChanged,
})(async ({ em, actor, deps, params, body, audit }) => {
  demandSight(actor)
  const row = await findWebhook(em, actor, { id: params.webhookId, lock: true })
  const present = await openUrl(row, deps.vault)
  const before = aimOf(present, row)
  const url = body.url === undefined || body.url === maskedUrl(present) ? present : body.url
  if (url !== present) {
    demandWhole(url)
    await deps.egress.origin(url, 'url')
    await setUrl(row, url, deps.vault)
  }
  if (body.name !== undefined) row.name = body.name
  if (body.events !== undefined) row.events = body.events
  noteWebhookSetter(actor, row, { before, after: aimOf(url, row), rotates: body.rotate_secret })
  row.updatedBy = actor.id
  const secret = body.rotate_secret ? await renewSecret(row, deps.vault) : undefined
  await em.flush()
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return { ...presentWebhook(url, row), ...(secret !== undefined && { secret }) }
})

export const deleteAlertWebhook = route({
  method: 'DELETE',
  path: '/alert-webhooks/:webhookId',
  summary: 'Delete a receiver of alerts; events that wait for it are not sent',
  permission: writing,
  action: 'delete',
  resource,
  params: webhookParams,
  response: z.object({}),
})(async ({ em, actor, params, audit }) => {
  const row = await findWebhook(em, actor, { id: params.webhookId, lock: true })
  demandWebhook(actor, row, 'webhookId')
  await em.execute(`DELETE FROM alert_deliveries WHERE webhook_id = ? AND state = 'pending'`, [row.id])
  em.assign(row, { status: 'archived', secret: null, url: null, urlSealed: null, updatedBy: actor.id })
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  return {}
})

export const testAlertWebhook = route({
  method: 'POST',
  path: '/alert-webhooks/:webhookId/test',
  summary: 'Send a test event to a receiver of alerts now, and show its answer',
  permission: writing,
  resource,
  effect: 'none',
  params: webhookParams,
  before: tryWebhook,
  response: webhookTested,
})(async ({ found }) => found)

async function tryWebhook({ actor, params }: EarlyCall<{ webhookId: string }, unknown, unknown>, deps: Deps) {
  const { organisationId } = actor
  const { row, settings } = await inTenant(deps.orm, organisationId, async (em) => ({
    row: await findWebhook(em, actor, { id: params.webhookId }),
    settings: (await em.findOneOrFail(Organisation, { id: organisationId })).settings,
  }))
  const secret = await openSecret(row, deps.vault)
  const message = { url: await openUrl(row, deps.vault), secret, id: uuidv7(), body: testEvent(organisationId, deps.clock.now()) }
  const egress = tenantEgress(deps.egress, { organisationId, allowedHosts: settings.allowed_custom_hosts })
  const sending = { egress, clock: deps.clock }
  const startedAt = performance.now()
  const { status, error } = await inTrial(deps.egress, organisationId, () => sendEvent(message, sending))
  return { delivered: error === null, status, error, execution_time: Math.round(performance.now() - startedAt) }
}
