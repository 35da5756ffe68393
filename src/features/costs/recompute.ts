import type { EntityManager } from '@mikro-orm/postgresql'
import type { LoggedCharge, LoggedCostLine } from '../../gateway/ports.ts'
import type { CostState } from '../../gateway/ports/prices.ts'
import type { RepricedCost } from './reprice.ts'

/** The range and the filters of a recompute. */
export interface Recompute {
  readonly organisationId: string
  readonly start: string
  readonly end: string
  readonly workspaceId: string | null
  readonly providers: readonly string[] | null
  readonly models: readonly string[] | null
  readonly states: readonly CostState[] | null
  /** The log that was looked at last. */
  readonly after: string | null
  readonly limit: number
}

/** A log as far as its cost goes, with the adjustments that it has already. */
export interface CostRow {
  readonly id: string
  readonly created_at: string
  /** Epoch milliseconds. */
  readonly begun_ms: number
  readonly workspace_id: string | null
  readonly api_key_id: string | null
  readonly provider: string | null
  readonly provider_slug: string | null
  readonly model: string | null
  readonly cost_pico: string | null
  readonly cost_state: CostState
  readonly charges: readonly LoggedCharge[]
  readonly lines: readonly LoggedCostLine[]
  readonly retry_count: number
  /** The adjustments by the jobs that its attempts began; null: they began none, or none has ended. */
  readonly settlements: readonly Settlement[] | null
  /** The amounts that attempts counted against budgets of all kinds; null: none applied. */
  readonly budgets: readonly SpentAmount[] | null
  /** The changes of those by former adjustments. */
  readonly corrected: readonly SpentDelta[] | null
}

interface Settlement {
  readonly id: string
  readonly state: CostState
  readonly lines: readonly LoggedCostLine[]
  /** Null: of the last attempt, by the former release. */
  readonly job: SettledJob | null
}

/** A job without the other costs of its request. */
interface SettledJob {
  readonly attempt: number
  readonly state: CostState
}

type SpentAmount = readonly [attempt: number, counter: string, slot: string, amount: string | number]
type SpentDelta = readonly [counter: string, slot: string, delta: string]

/** Keeps others from writing adjustments of the organisation until the transaction ends: each is made of the one before. */
export async function lockCosts(em: EntityManager, organisationId: string): Promise<void> {
  await em.execute(`SELECT pg_advisory_xact_lock(hashtextextended('gatehouse:costs:' || ?, 0))`, [organisationId])
}

const among = (column: string, values: readonly string[] | null): readonly (readonly [string, readonly string[]])[] =>
  values === null ? [] : [[`${column} IN (${values.map(() => '?').join(', ')})`, values]]

/** Reads the next logs of a recompute in the order of time. */
export function readCosts(em: EntityManager, asked: Recompute): Promise<CostRow[]> {
  const { sql, values } = nextCosts(asked)
  return em.execute<CostRow[]>(sql, values)
}

/** Reads the providers of the next logs of a recompute. */
export async function readPriced(em: EntityManager, asked: Recompute): Promise<readonly string[]> {
  const { sql, values } = nextCosts(asked)
  const rows = await em.execute<{ provider: string }[]>(`SELECT DISTINCT c.provider FROM (${sql}) c WHERE c.provider IS NOT NULL`, values)
  return rows.map(({ provider }) => provider)
}

/** The first digits of an id are the milliseconds at which its log began. */
const begunMsOf = (id: string): string => String(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))

/**
 * Logs behind another one, found by the order of the index: a page costs as much as its rows, anywhere in the range. The log is looked for at the
 * time in its id, then everywhere.
 */
const behind = `(l.created_at, l.id) > (coalesce(
    (SELECT c.created_at FROM logs c WHERE c.id = ?::uuid AND c.created_at BETWEEN to_timestamp(?::float8 / 1000 - 1) AND to_timestamp(?::float8 / 1000 + 1)),
    (SELECT c.created_at FROM logs c WHERE c.id = ?::uuid AND c.created_at >= ?::timestamptz AND c.created_at < ?::timestamptz),
    to_timestamp(?::float8 / 1000)), ?::uuid)`

function behindValues({ start, end }: Pick<Recompute, 'start' | 'end'>, after: string): readonly string[] {
  const begunMs = begunMsOf(after)
  return [after, begunMs, begunMs, after, start, end, begunMs, after]
}

function nextCosts(asked: Recompute): { readonly sql: string; readonly values: string[] } {
  const { organisationId, start, end, workspaceId, providers, models, states, after, limit } = asked
  const conditions: readonly (readonly [sql: string, values: readonly string[]])[] = [
    ['l.organisation_id = ?', [organisationId]],
    ['l.created_at >= ?::timestamptz AND l.created_at < ?::timestamptz', [start, end]],
    ['l.cost_state IS NOT NULL', []],
    ...(workspaceId === null ? [] : ([['l.workspace_id = ?', [workspaceId]]] as const)),
    ...among('l.provider', providers),
    ...among('l.model', models),
    ...among('coalesce(a.cost_state, l.cost_state)', states),
    ...(after === null ? [] : ([[behind, behindValues(asked, after)]] as const)),
  ]
  // Bodies and adjustments are looked up for the rows of the page alone.
  const page = `SELECT l.* FROM logs l${states === null ? '' : latestAdjustment} WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
                 ORDER BY l.created_at, l.id LIMIT ${limit}`
  return {
    sql: `${costRows(`(${page})`)} ORDER BY l.created_at, l.id`,
    values: conditions.flatMap(([, values]) => values),
  }
}

/** Reads one log as far as its cost goes; null: it is there no more. */
export async function readCost(em: EntityManager, { organisationId, id, begunMs }: LogPlace): Promise<CostRow | null> {
  const rows = await em.execute<CostRow[]>(
    `${costRows('logs')} WHERE l.organisation_id = ? AND l.id = ? AND l.created_at BETWEEN to_timestamp(?::float8 / 1000 - 1) AND to_timestamp(?::float8 / 1000 + 1)`,
    [organisationId, id, begunMs, begunMs],
  )
  return rows[0] ?? null
}

interface LogPlace {
  readonly organisationId: string
  readonly id: string
  /** Epoch milliseconds. */
  readonly begunMs: number
}

/** The author of the adjustments by jobs that ended, each of which has the id of its job. */
export const settler = 'gatehouse'

const latestAdjustment = `
    LEFT JOIN LATERAL (SELECT cost_pico, cost_state, lines FROM cost_adjustments
                        WHERE log_id = l.id AND organisation_id = l.organisation_id ORDER BY created_at DESC LIMIT 1) a ON true`

const costRows = (logs: string): string => `
  SELECT l.id, l.created_at::text AS created_at, (extract(epoch FROM l.created_at) * 1000)::float8 AS begun_ms, l.workspace_id, l.api_key_id, l.provider, l.provider_slug, l.model,
         coalesce(a.cost_pico, l.cost_pico)::text AS cost_pico, coalesce(a.cost_state, l.cost_state) AS cost_state,
         coalesce(b.cost -> 'charges', '[]') AS charges, coalesce(a.lines, b.cost -> 'lines', '[]') AS lines, l.retry_count, l.budgets,
         (SELECT jsonb_agg(jsonb_build_object('id', s.recompute_id, 'state', s.cost_state, 'lines', s.lines, 'job', s.job)) FROM cost_adjustments s
           WHERE s.log_id = l.id AND s.made_by = '${settler}' AND s.organisation_id = l.organisation_id) AS settlements,
         (SELECT jsonb_agg(c) FROM cost_adjustments f, jsonb_array_elements(f.budgets) c
           WHERE f.log_id = l.id AND f.organisation_id = l.organisation_id) AS corrected
    FROM ${logs} l
    LEFT JOIN log_bodies b ON b.created_at = l.created_at AND b.id = l.id AND b.organisation_id = l.organisation_id${latestAdjustment}`

/** A log whose cost is another with the price lists of now. */
export interface Change {
  readonly row: CostRow
  readonly now: RepricedCost
  readonly amount: bigint
}

/** Returns the change of a log; null: its cost is the same, or the price of an attempt is not known any more, and the former cost stays. */
export function changeOf(row: CostRow, now: RepricedCost): Change | null {
  if (now.amount === null || row.charges.length === 0 || row.lines.some(({ attempt }) => !now.amounts.has(attempt))) return null
  return row.cost_pico === String(now.amount) && row.cost_state === now.state ? null : { row, now, amount: now.amount }
}

/** A budget that money counts against, as its counters are named. */
const ofMoney = ':usage:cost:'

/** Returns the amount to add to each budget in money that the request counted against. */
function correctionsOf({ budgets, corrected }: CostRow, { amounts, least }: RepricedCost): readonly SpentDelta[] {
  const deltas = new Map<string, SpentDelta>()
  const add = (counter: string, slot: string, delta: bigint) =>
    deltas.set(`${slot} ${counter}`, [counter, slot, String(BigInt(deltas.get(`${slot} ${counter}`)?.[2] ?? '0') + delta)])
  for (const [attempt, counter, slot, amount] of budgets ?? []) {
    const now = amounts.get(attempt)
    // A lower bound takes nothing from a budget that kept its reservation.
    if (now !== undefined && counter.includes(ofMoney) && !(least.has(attempt) && now < BigInt(amount)))
      add(counter, slot, now - BigInt(amount))
  }
  for (const [counter, slot, delta] of corrected ?? []) if (deltas.has(`${slot} ${counter}`)) add(counter, slot, -BigInt(delta))
  return [...deltas.values()].filter(([, , delta]) => delta !== '0')
}

export interface Author {
  readonly organisationId: string
  readonly recomputeId: string
  readonly reason: string | null
  readonly madeBy: string
  /** Null: it is by no job. */
  readonly job: SettledJob | null
}

/**
 * Writes adjustments beside the costs of logs, in one statement. The same recompute changes a log once. Budgets follow by a trigger, except where the
 * cost stays and a budget does not: a budget that reserved the possible cost of a job gets it back when the job cost nothing.
 */
export async function writeAdjustments(em: EntityManager, changes: readonly Change[], author: Author): Promise<void> {
  if (changes.length === 0) return
  const rows = changes.map(({ row, now, amount }) => ({
    workspace_id: row.workspace_id,
    log_id: row.id,
    log_created_at: row.created_at,
    api_key_id: row.api_key_id,
    provider_slug: row.provider_slug,
    delta_pico: String(amount - BigInt(row.cost_pico ?? '0')),
    cost_pico: String(amount),
    cost_state: now.state,
    price_catalogue: now.catalogue,
    budgets: correctionsOf(row, now),
    lines: now.lines.map((line) =>
      Object.assign({}, line, { rate: line.rate === null ? null : String(line.rate), amount: String(line.amount) }),
    ),
  }))
  await em.execute(
    `WITH written AS (INSERT INTO cost_adjustments (organisation_id, recompute_id, reason, made_by, workspace_id, log_id, log_created_at, api_key_id,
                                   provider_slug, delta_pico, cost_pico, cost_state, price_catalogue, budgets, lines, job, created_at)
     SELECT ?::uuid, ?::uuid, ?, ?, r.*, ?::jsonb, clock_timestamp()
       FROM jsonb_to_recordset(?::jsonb) AS r (workspace_id uuid, log_id uuid, log_created_at timestamptz, api_key_id uuid, provider_slug text,
                                               delta_pico numeric, cost_pico numeric, cost_state text, price_catalogue text,
                                               budgets jsonb, lines jsonb)
     ON CONFLICT (log_id, recompute_id) DO NOTHING RETURNING delta_pico, budgets)
     SELECT correct_limit(b ->> 0, (b ->> 1)::bigint, round((b ->> 2)::numeric / 1000)::bigint)
       FROM written, jsonb_array_elements(budgets) b WHERE delta_pico = 0 ORDER BY b ->> 0, b ->> 1`,
    [
      author.organisationId,
      author.recomputeId,
      author.reason,
      author.madeBy,
      author.job && JSON.stringify(author.job),
      JSON.stringify(rows),
    ],
  )
}
