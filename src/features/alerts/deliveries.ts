import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { inWorkTable, turnOf, workOff } from '../../app/due-work.ts'
import type { Job } from '../../app/feature.ts'
import { tenantEgress } from '../../app/tenant-egress.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { Alert, Owner } from './alert.ts'
import { eventOf, eventTypes, type EventType } from './alert-event.ts'
import { signedHeaders } from './signature.ts'
import { secretPlace } from './webhook.entity.ts'
import { openUrl } from './webhooks.ts'

/** Queues an alert for every webhook that receives it, in the transaction that marks the alert as sent: once, even if a process dies meanwhile. */
export const queueDeliveries = (em: EntityManager, alert: Alert, { owner, now }: { readonly owner: Owner; readonly now: number }) =>
  queue(em, {
    id: alert.id,
    type: eventTypes[alert.kind],
    organisationId: alert.organisation_id,
    workspaceId: owner.workspace_id,
    body: eventOf(alert, owner, now),
    now,
  })

interface WebhookEvent {
  readonly id: string
  readonly type: EventType
  readonly organisationId: string
  readonly workspaceId: string | null
  readonly body: string
  readonly now: number
}

/** Queues an event that is no alert, in the transaction of its cause. */
export const queueEvent = (
  em: EntityManager,
  { data, ...event }: Omit<WebhookEvent, 'id' | 'body'> & { readonly data: Readonly<Record<string, unknown>> },
): Promise<void> =>
  queue(em, {
    ...event,
    id: uuidv7(),
    body: JSON.stringify({ type: event.type, timestamp: new Date(event.now).toISOString(), data }),
  })

async function queue(em: EntityManager, { id: alertId, type, organisationId, workspaceId, body, now }: WebhookEvent): Promise<void> {
  const hearing = await em.execute<{ id: string }[]>(
    `SELECT id FROM alert_webhooks WHERE organisation_id = ? AND status = 'active' AND (workspace_id IS NULL OR workspace_id = ?)
        AND (events IS NULL OR ? = ANY (events)) ORDER BY id FOR SHARE`,
    [organisationId, workspaceId, type],
  )
  for (const { id } of hearing)
    await em.execute(
      `INSERT INTO alert_deliveries (id, organisation_id, webhook_id, alert_id, body, next_attempt_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
      [uuidv7(), organisationId, id, alertId, body, new Date(now)],
    )
}

interface QueuedDelivery {
  readonly id: string
  readonly organisation_id: string
  readonly webhook_id: string
  readonly url: string | null
  readonly url_sealed: Uint8Array | null
  readonly secret: Uint8Array
  readonly body: string
  readonly attempts: number
  /** The field `allowed_custom_hosts` of the organisation. */
  readonly allowed_hosts: unknown
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
/** The waits after failed attempts, about two days in all; each up to a fifth longer or shorter. */
const waits = [5 * second, 30 * second, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 12 * hour, 24 * hour]
const claimMs = 2 * minute
const timeoutMs = 10 * second
const atOnce = 32
/** Receivers of one organisation that never answer leave the other places to others. */
const atOnceOfOne = 4
/** The status by which a receiver declines all further events. */
const gone = 410

/** Organisations take turns. A delivery belongs to one process for two minutes, and is due again if that process dies. */
const claim = `
  WITH ${inWorkTable},
       waiting AS (SELECT d.id, d.next_attempt_at, ${turnOf('d.next_attempt_at')} AS turn
                     FROM alert_deliveries d
                    WHERE d.state = 'pending' AND d.next_attempt_at <= ? AND d.id NOT IN (SELECT l.id FROM in_work l))
  UPDATE alert_deliveries d SET attempts = d.attempts + 1, next_attempt_at = ? FROM alert_webhooks w JOIN organisations o ON o.id = w.organisation_id
   WHERE d.id IN (SELECT l.id FROM waiting l WHERE l.turn <= ${atOnceOfOne} ORDER BY l.turn, l.next_attempt_at LIMIT ?)
     AND d.state = 'pending' AND d.next_attempt_at <= ? AND w.id = d.webhook_id
  RETURNING d.id, d.organisation_id, d.webhook_id, w.url, w.url_sealed, w.secret, d.body, d.attempts,
            o.settings -> 'allowed_custom_hosts' AS allowed_hosts`

/** Sends the deliveries that are due, until none is. */
export const deliverAlerts = (deps: Deps, ending?: AbortSignal): Promise<void> =>
  workOff<QueuedDelivery>({
    claim: (inWork, room) => {
      const now = deps.clock.now()
      const at = new Date(now)
      return asSystem(deps.orm, (em) => em.execute<QueuedDelivery[]>(claim, [inWork, at, new Date(now + claimMs), room, at]))
    },
    work: (waiting) =>
      deliver(waiting, deps).catch((error: unknown) =>
        deps.log.error({ err: error, webhook: waiting.webhook_id, delivery: waiting.id }, 'a delivery of an alert has failed'),
      ),
    atOnce,
    ending,
  })

/** The answer of a receiver, or why there is none. */
export interface Reply {
  readonly status: number | null
  readonly error: string | null
}

export interface WebhookMessage {
  readonly url: string
  readonly secret: string
  readonly id: string
  readonly body: string
}

/** Sends one message. Never rejects. */
export async function sendEvent(
  { url, secret, id, body }: WebhookMessage,
  { egress, clock }: Pick<Deps, 'egress' | 'clock'>,
): Promise<Reply> {
  const timestamp = Math.floor(clock.now() / second)
  const headers = { 'content-type': 'application/json', 'user-agent': 'Gatehouse', ...signedHeaders({ id, timestamp, body }, secret) }
  try {
    const { status } = await egress.exchange({ url, method: 'POST', headers, body, timeoutMs })
    return { status, error: status >= 200 && status < 300 ? null : `The receiver answered ${status}.` }
  } catch (error) {
    return { status: null, error: error instanceof Error ? error.message : String(error) }
  }
}

async function deliver(waiting: QueuedDelivery, deps: Deps): Promise<void> {
  const { id, organisation_id: organisationId, webhook_id: webhookId, attempts, body } = waiting
  const webhook = { id: webhookId, organisationId }
  const secret = await deps.vault.decrypt(secretPlace(webhook), waiting.secret)
  const url = await openUrl({ ...webhook, url: waiting.url, urlSealed: waiting.url_sealed }, deps.vault)
  const egress = tenantEgress(deps.egress, { organisationId, allowedHosts: waiting.allowed_hosts })
  const { status, error } = await sendEvent({ url, body, id, secret }, { egress, clock: deps.clock })
  const now = new Date(deps.clock.now())
  if (error === null) return settle(deps, `state = 'delivered', last_status = ?, last_error = NULL, finished_at = ?`, [status, now, id])
  const wait = waits[attempts - 1]
  if (wait === undefined || status === gone) {
    deps.log.error(
      { webhook: webhookId, delivery: id, attempts, reason: error },
      'an alert could not be delivered to a webhook, and is given up',
    )
    return settle(deps, `state = 'failed', last_status = ?, last_error = ?, finished_at = ?`, [status, error.slice(0, 500), now, id])
  }
  const next = new Date(now.getTime() + wait * (0.8 + Math.random() * 0.4))
  return settle(deps, 'last_status = ?, last_error = ?, next_attempt_at = ?', [status, error.slice(0, 500), next, id])
}

const settle = ({ orm }: Deps, changes: string, values: readonly unknown[]): Promise<void> =>
  asSystem(orm, async (em) => void (await em.execute(`UPDATE alert_deliveries SET ${changes} WHERE id = ?`, [...values])))

/** Retries deliveries that failed at first. */
export const deliverAlertsJob: Job = { name: 'deliver-alerts', every: '*/5 * * * * *', irreversible: false, run: deliverAlerts }

/** Forgets deliveries that ended a month ago. */
export const forgetDeliveries: Job = {
  name: 'alerts.forget-deliveries',
  every: '51 3 * * *',
  irreversible: true,
  run: ({ orm }) =>
    asSystem(orm, async (em) => void (await em.execute(`DELETE FROM alert_deliveries WHERE finished_at < now() - interval '30 days'`))),
}
