import type { EntityManager } from '@mikro-orm/postgresql'
import { type Limit, endpointNamesOfLog, policyLimits, type PolicyRequest, type PolicyView } from '../../gateway/ports/limits.ts'
import type { OwnData } from '../../lib/access/rank.ts'
import { scopeConditions } from '../logs/index.ts'
import { fromPico } from '../../lib/pico.ts'
import type { Condition, Group } from './conditions.schema.ts'
import { toCondition } from './policy.view.ts'

/** A policy that is not made yet. */
export interface Draft {
  readonly conditions: readonly Condition[]
  readonly groupBy: readonly Group[]
  readonly counts: Limit['counts']
  /** The amount in US dollars or in the unit that it counts. */
  readonly value: number
  /** The window of a rate limit; null for usage, of which all counts. */
  readonly windowMs: number | null
}

/** Logs of a workspace to try a draft on. */
export interface Trial {
  readonly organisationId: string
  readonly workspaceId: string
  readonly hours: number
  /** The only logs that the caller may see counted; null: all. */
  readonly own: OwnData | null
}

interface Row {
  readonly at: number
  readonly api_key_id: string
  readonly workspace_slug: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly config_slug: string | null
  readonly prompt_id: string | null
  readonly prompt_slug: string | null
  readonly operation: string
  readonly provider: string | null
  readonly provider_slug: string | null
  readonly provider_id: string | null
  readonly model: string | null
  readonly tokens: number
  readonly cost_pico: string
}

/** The latest logs are looked at, up to so many: a look at a draft must not take long. */
export const mostTried = 5000

const triedLogs = (where: string): string => `
  SELECT (extract(epoch FROM l.created_at) * 1000)::float8 AS at, l.api_key_id, w.slug AS workspace_slug, l.metadata, l.config_slug, l.prompt_id, l.prompt_slug,
         l.operation, l.provider, l.provider_slug, p.id AS provider_id, l.model, coalesce(l.cost_pico, 0)::text AS cost_pico,
         coalesce(l.total_tokens, coalesce(l.input_tokens, 0) + coalesce(l.output_tokens, 0))::float8 AS tokens
    FROM logs l JOIN workspaces w ON w.id = l.workspace_id
    LEFT JOIN providers p ON p.workspace_id = l.workspace_id AND p.slug = l.provider_slug AND p.status <> 'archived'
   WHERE ${where} AND l.created_at > now() - make_interval(hours => ?) AND l.billed
   ORDER BY l.created_at DESC, l.id DESC LIMIT ${mostTried}`

/** Returns the amounts that a draft would have counted in the latest logs, by value key, the most used first. */
export async function tryDraft(em: EntityManager, draft: Draft, { organisationId, workspaceId, hours, own }: Trial) {
  const scope = scopeConditions({ organisationId, workspaceId, own })
  const where = scope.map(({ sql }) => sql).join(' AND ')
  const rows = await em.execute<Row[]>(triedLogs(where), [...scope.flatMap(({ values }) => values), hours])
  const policy = toView(draft, organisationId)
  const groups = Map.groupBy(
    rows.flatMap((row) =>
      policyLimits([policy], toRequest(row, { organisationId, workspaceId })).map(({ id }) => ({ row, key: id.slice(prefix.length) })),
    ),
    ({ key }) => key,
  )
  const data = [...groups].map(([key, ones]) =>
    countOf(
      key,
      ones.map(({ row }) => row),
      draft,
    ),
  )
  return {
    requests: rows.length,
    is_whole: rows.length < mostTried,
    matched: data.reduce((sum, { requests }) => sum + requests, 0),
    groups: data.length,
    groups_over: data.filter(({ over }) => over).length,
    data: data.toSorted((one, other) => other.used - one.used).slice(0, mostShown),
  }
}

const mostShown = 100
/** The id of a counter without a reset is that of the limit, two colons, and the value key. */
const prefix = 'draft::'

const toView = ({ conditions, groupBy, counts, value }: Draft, organisationId: string): PolicyView => ({
  id: 'draft',
  conditions: conditions.map(toCondition),
  groupBy: groupBy.map(({ key }) => key),
  limit: { id: 'draft', organisationId, name: 'the draft', kind: 'rate', counts, value, window: { slotMs: 1, slots: 1 } },
  resets: new Map(),
})

const toRequest = (row: Row, { organisationId, workspaceId }: Pick<Trial, 'organisationId' | 'workspaceId'>): PolicyRequest => ({
  call: {
    caller: { key: { id: row.api_key_id, organisationId, workspaceId, workspaceSlug: row.workspace_slug } },
    metadata: row.metadata,
    config: { slug: row.config_slug },
    prompt: row.prompt_id === null || row.prompt_slug === null ? null : { id: row.prompt_id, slug: row.prompt_slug },
  },
  endpoints: () => endpointNamesOfLog(row.operation),
  target: {
    providerId: row.provider ?? '',
    model: row.model,
    view: row.provider_slug === null ? null : { slug: row.provider_slug, id: row.provider_id ?? '' },
  },
})

function countOf(key: string, rows: readonly Row[], { counts, value, windowMs }: Draft) {
  const used = windowMs === null ? sumOf(rows, counts) : busiest(rows, counts, windowMs)
  return { value_key: key, requests: rows.length, used, over: used > value }
}

function sumOf(rows: readonly Row[], counts: Limit['counts']): number {
  if (counts === 'cost') return fromPico(rows.reduce((sum, { cost_pico: pico }) => sum + BigInt(pico), 0n))
  return counts === 'requests' ? rows.length : rows.reduce((sum, { tokens }) => sum + tokens, 0)
}

/** Returns the amount of the busiest window. Rows come from the latest to the oldest. */
function busiest(rows: readonly Row[], counts: Limit['counts'], windowMs: number): number {
  const amount = ({ tokens }: Row): number => (counts === 'requests' ? 1 : tokens)
  let most = 0
  let inWindow = 0
  let last = 0
  for (const row of rows) {
    inWindow += amount(row)
    for (let latest = rows[last]; latest !== undefined && latest.at - row.at >= windowMs; latest = rows[(last += 1)])
      inWindow -= amount(latest)
    most = Math.max(most, inWindow)
  }
  return most
}
