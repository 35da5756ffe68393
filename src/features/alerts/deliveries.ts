import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Job } from '../../app/feature.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { Alert, Owner } from './alert.ts'
import { eventOf, eventTypes } from './alert-event.ts'
import { signedHeaders } from './signature.ts'
import { secretPlace } from './webhook.entity.ts'

/** Puts an alert before every webhook that hears it, in the transaction that notes that it is told: once, whoever dies meanwhile. */
export async function queueDeliveries(em: EntityManager, alert: Alert, { owner, now }: { readonly owner: Owner; readonly now: number }) {
  const hearing = await em.execute<{ id: string }[]>(
    `SELECT id FROM alert_webhooks WHERE organisation_id = ? AND status = 'active' AND (workspace_id IS NULL OR workspace_id = ?)
        AND (events IS NULL OR ? = ANY (events)) ORDER BY id FOR SHARE`,
    [alert.organisation_id, owner.workspace_id, eventTypes[alert.kind]],
  )
  const body = eventOf(alert, owner, now)
  for (const { id } of hearing)
    await em.execute(
      `INSERT INTO alert_deliveries (id, organisation_id, webhook_id, alert_id, body, next_attempt_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
      [uuidv7(), alert.organisation_id, id, alert.id, body, new Date(now)],
    )
}

interface Waiting {
  readonly id: string
  readonly organisation_id: string
  readonly webhook_id: string
  readonly url: string
  readonly secret: Uint8Array
  readonly body: string
  readonly attempts: number
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
/** The waits after failed attempts, about two days in all; each up to a fifth longer or shorter. */
const waits = [5 * second, 30 * second, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 12 * hour, 24 * hour]
const claimMs = 2 * minute
const timeoutMs = 10 * second
const atOnce = 8
const mostOfARun = 1000
/** A receiver that answers so wants nothing more. */
const gone = 410

/** Each delivery is one process's for two minutes, and comes back if that one dies. */
const claim = `UPDATE alert_deliveries d SET attempts = d.attempts + 1, next_attempt_at = ? FROM alert_webhooks w
   WHERE d.id = (SELECT id FROM alert_deliveries WHERE state = 'pending' AND next_attempt_at <= ? ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     AND w.id = d.webhook_id
  RETURNING d.id, d.organisation_id, d.webhook_id, w.url, w.secret, d.body, d.attempts`

async function claimOne({ orm, clock }: Deps): Promise<Waiting | null> {
  const now = clock.now()
  const [found] = await asSystem(orm, (em) => em.execute<Waiting[]>(claim, [new Date(now + claimMs), new Date(now)]))
  return found ?? null
}

/** Sends what waits, to a few receivers at a time: a slow one holds up nobody else. */
export async function deliverAlerts(deps: Deps): Promise<void> {
  let left = mostOfARun
  const work = async () => {
    while (left > 0) {
      left -= 1
      const waiting = await claimOne(deps)
      if (waiting === null) return
      await deliver(waiting, deps)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

/** The answer of a receiver, or why there is none. */
export interface Reply {
  readonly status: number | null
  readonly error: string | null
}

export interface Sending {
  readonly url: string
  readonly secret: string
  readonly id: string
  readonly body: string
}

/** Sends one message. Never rejects. */
export async function sendEvent({ url, secret, id, body }: Sending, { egress, clock }: Pick<Deps, 'egress' | 'clock'>): Promise<Reply> {
  const timestamp = Math.floor(clock.now() / second)
  const headers = { 'content-type': 'application/json', 'user-agent': 'Gatehouse', ...signedHeaders({ id, timestamp, body }, secret) }
  try {
    const { status } = await egress.exchange({ url, method: 'POST', headers, body, timeoutMs })
    return { status, error: status >= 200 && status < 300 ? null : `The receiver answered ${status}.` }
  } catch (error) {
    return { status: null, error: error instanceof Error ? error.message : String(error) }
  }
}

async function deliver(waiting: Waiting, deps: Deps): Promise<void> {
  const { id, organisation_id: organisationId, webhook_id: webhookId, attempts, secret, ...message } = waiting
  const opened = await deps.vault.decrypt(secretPlace({ id: webhookId, organisationId }), secret)
  const { status, error } = await sendEvent(
    { ...message, id, secret: opened },
    { egress: deps.egress.ownedBy(organisationId), clock: deps.clock },
  )
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

/** Sends what could not be sent at once. */
export const deliverAlertsJob: Job = { name: 'deliver-alerts', every: '*/5 * * * * *', irreversible: false, run: deliverAlerts }

/** Forgets deliveries that ended a month ago. */
export const forgetDeliveries: Job = {
  name: 'alerts.forget-deliveries',
  every: '51 3 * * *',
  irreversible: true,
  run: ({ orm }) =>
    asSystem(orm, async (em) => void (await em.execute(`DELETE FROM alert_deliveries WHERE finished_at < now() - interval '30 days'`))),
}
