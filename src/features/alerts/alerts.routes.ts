import type { EntityManager } from '@mikro-orm/postgresql'
import type { z } from 'zod'
import { type MailOutcome, mailsAbout } from '../../app/mail/outbox.ts'
import { route, type Actor } from '../../app/route.ts'
import { arrayText } from '../../lib/text/array-text.ts'
import { visibleKeyIds } from '../api-keys/index.ts'
import { ownGroups, patternsOfGroups } from '../limits/index.ts'
import type { AlertKind } from './alert.ts'
import { alertFilter, alertList } from './webhook.schema.ts'

interface Row {
  readonly id: string
  readonly kind: AlertKind
  readonly owner_kind: string
  readonly owner_id: string
  readonly value_key: string | null
  readonly counts: string | null
  readonly used: string | null
  readonly bound: string | null
  readonly created_at: Date | string
  readonly queued_at: Date | string | null
  readonly total: number
}

interface DeliveryRow {
  readonly alert_id: string
  readonly webhook_id: string
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly attempts: number
  readonly last_status: number | null
  readonly last_error: string | null
  readonly next_attempt_at: Date | string
}

const iso = (at: Date | string): string => new Date(at).toISOString()

/** The alerts of a workspace are those of its things; of a workspace key, its own workspace. */
const ofWorkspace = `(a.owner_kind = 'workspace' AND a.owner_id = ? OR a.owner_id IN (
    SELECT id FROM api_keys WHERE workspace_id = ? UNION ALL SELECT id FROM providers WHERE workspace_id = ?
    UNION ALL SELECT id FROM integration_workspaces WHERE workspace_id = ?
    UNION ALL SELECT id FROM usage_limit_policies WHERE workspace_id = ?))`

export const listAlerts = route({
  method: 'GET',
  path: '/alerts',
  summary: 'List alerts of limits and of expiries, with the outcomes of their deliveries',
  permission: ['organisation_settings.read', 'workspaces.read'],
  query: alertFilter,
  response: alertList,
})(async ({ em, actor, query }) => {
  const matching = await conditionOf(em, actor, query)
  const rows = await findAlerts(em, matching, query)
  const ids = rows.map(({ id }) => id)
  const deliveries = Map.groupBy(await deliveriesOf(em, ids), (row) => row.alert_id)
  const mails = Map.groupBy(await mailsAbout(em, ids), ({ about }) => about)
  const data = rows.map((row) => ({
    object: 'alert' as const,
    id: row.id,
    kind: row.kind,
    owner_kind: row.owner_kind,
    owner_id: row.owner_id,
    group: row.value_key === '' ? null : row.value_key,
    type: row.counts,
    used: row.used,
    limit: row.bound,
    created_at: iso(row.created_at),
    told_at: row.queued_at === null ? null : iso(row.queued_at),
    deliveries: (deliveries.get(row.id) ?? []).map(presentDelivery),
    mails: (mails.get(row.id) ?? []).map((mail) => presentMail(mail, actor)),
  }))
  return { object: 'list' as const, total: rows[0]?.total ?? (await countAlerts(em, matching, query)), data }
})

const isInState = `EXISTS (SELECT FROM alert_deliveries d WHERE d.alert_id = a.id AND d.state = ?)
  OR EXISTS (SELECT FROM mail_outcomes m WHERE m.about = a.id AND CASE WHEN m.is_sent THEN 'sent' ELSE 'failed' END = ?)
  OR EXISTS (SELECT FROM outgoing_mails m WHERE m.about = a.id AND 'pending' = ?)`

type AlertFilter = z.output<typeof alertFilter>

function findAlerts(em: EntityManager, { condition, values }: AlertCondition, query: AlertFilter): Promise<Row[]> {
  const { page_size: size, current_page: page } = query
  return em.execute<Row[]>(
    `SELECT a.id, a.kind, a.owner_kind, a.owner_id, a.value_key, a.counts, trim_scale(a.used)::text AS used, trim_scale(a.bound)::text AS bound, a.created_at, a.queued_at, count(*) OVER ()::float8 AS total
       FROM limit_alerts a WHERE ${condition}
      ORDER BY a.created_at DESC, a.id LIMIT ${size} OFFSET ${size * page}`,
    values,
  )
}

/** Returns how many alerts there are, for a page without rows to carry the total. */
async function countAlerts(em: EntityManager, { condition, values }: AlertCondition, query: AlertFilter): Promise<number> {
  if (query.current_page === 0 && query.page_size > 0) return 0
  const [row] = await em.execute<{ readonly total: number }[]>(
    `SELECT count(*)::float8 AS total FROM limit_alerts a WHERE ${condition}`,
    values,
  )
  return row?.total ?? 0
}

/** A condition of SQL on alerts `a`, with its values. */
interface AlertCondition {
  readonly condition: string
  readonly values: readonly unknown[]
}

async function conditionOf(em: EntityManager, actor: Actor, { state }: AlertFilter): Promise<AlertCondition> {
  const { organisationId, workspaceId } = actor
  const keys = await visibleKeyIds(em, actor)
  const own = await ownGroups(em, actor)
  const inWorkspace = workspaceId === null ? '' : ` AND ${ofWorkspace}`
  const inState = state === undefined ? '' : ` AND (${isInState})`
  return {
    condition: `a.organisation_id = ?${inWorkspace}${inState}
      ${keys === null ? '' : "AND (a.owner_kind <> 'api-key' OR a.owner_id = ANY (?::uuid[]))"}
      ${own === null ? '' : "AND coalesce(a.value_key, '') LIKE ANY (?::text[])"}`,
    values: [
      organisationId,
      ...(workspaceId === null ? [] : Array<string>(5).fill(workspaceId)),
      ...(state === undefined ? [] : [state, state, state]),
      ...(keys === null ? [] : [arrayText([...keys])]),
      ...(own === null ? [] : [arrayText(patternsOfGroups(own))]),
    ],
  }
}

async function deliveriesOf(em: EntityManager, alerts: readonly string[]): Promise<readonly DeliveryRow[]> {
  if (alerts.length === 0) return []
  return em.execute<DeliveryRow[]>(
    `SELECT alert_id, webhook_id, state, attempts, last_status, last_error, next_attempt_at FROM alert_deliveries
      WHERE alert_id IN (${alerts.map(() => '?').join(', ')}) ORDER BY created_at`,
    [...alerts],
  )
}

const presentDelivery = ({ webhook_id, state, attempts, last_status, last_error, next_attempt_at }: DeliveryRow) => ({
  webhook_id,
  state,
  attempts,
  last_status,
  last_error,
  next_attempt_at: state === 'pending' ? iso(next_attempt_at) : null,
})

const presentMail = ({ recipient, state, attempts, last_error, next_attempt_at, ended_at }: MailOutcome, { workspaceId }: Actor) => ({
  recipient: workspaceId === null ? recipient : null,
  state,
  attempts,
  last_error,
  next_attempt_at: next_attempt_at === null ? null : iso(next_attempt_at),
  ended_at: ended_at === null ? null : iso(ended_at),
})
