import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Job } from '../../app/feature.ts'
import { queueMail } from '../../app/mail/outbox.ts'
import { type Alert, ownerOf, recipientsOf } from './alert.ts'
import { mailOf } from './alert-mail.ts'
import { queueDeliveries } from './deliveries.ts'

const batch = 50

/** Several processes may do it at once: a row is one's until its mails are queued, and stays for others when that fails. */
const take = `UPDATE limit_alerts SET queued_at = ? WHERE id IN (
    SELECT id FROM limit_alerts WHERE queued_at IS NULL ORDER BY created_at LIMIT ${batch} FOR UPDATE SKIP LOCKED)
  RETURNING id, organisation_id, kind, owner_kind, owner_id, value_key, counts, trim_scale(used)::text AS used, trim_scale(bound)::text AS bound, resets_at`

/** Queues the mails of new alerts, in one transaction with their mark as sent: each alert is sent once, even if a process dies meanwhile. */
export const tellAlerts: Job = {
  name: 'tell-alerts',
  every: '*/15 * * * * *',
  irreversible: false,
  async run(deps) {
    // Sending is the work of other jobs: a receiver that never answers would delay alerts of others.
    for (let found = batch; found === batch;) found = await asSystem(deps.orm, (em) => tellSome(em, deps))
  },
}

async function tellSome(em: EntityManager, deps: Deps): Promise<number> {
  const alerts = await em.execute<Alert[]>(take, [new Date(deps.clock.now())])
  for (const alert of alerts) await tell(em, alert, deps)
  return alerts.length
}

async function tell(em: EntityManager, alert: Alert, deps: Deps): Promise<void> {
  const owner = await ownerOf(em, alert)
  if (owner === null) return
  const recipients = await recipientsOf(em, alert, { owner, asWorkspace: deps.level.atLeast('1.8.0') })
  const mail = await mailOf(em, alert, owner)
  for (const recipient of recipients) await queueMail(em, deps, { ...mail, recipient, about: alert.id })
  await queueDeliveries(em, alert, { owner, now: deps.clock.now() })
}
