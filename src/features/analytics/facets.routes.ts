import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { route } from '../../app/route.ts'
import { findLogs, logFilter, logScopeOf, needsLogs, type LogRow } from '../logs/index.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { dayMs } from './steps.ts'
import { logsFrom } from './usage-of.ts'
import { usageSource, type Usage } from './usage-source.ts'

/** The fields by which lists are filtered, with the columns of a log that they are of. */
const columns = {
  ai_model: 'model',
  ai_org: 'provider',
  virtual_keys: 'provider_slug',
  configs: 'config_slug',
  prompt_slug: 'prompt_slug',
  api_key_ids: 'api_key_id',
  user_id: 'user_id',
  status_code: 'status',
  outcome: 'outcome',
  cache_status: 'cache_status',
  operation: 'operation',
  error_code: 'error_code',
  guardrail: 'guardrail',
  stream: 'stream',
} as const satisfies Readonly<Record<string, keyof LogRow>>
type Field = keyof typeof columns
const isField = (name: string): name is Field => Object.hasOwn(columns, name)
const fieldNames = Object.keys(columns).filter(isField)

/** The fields that only logs have. */
const ofLogs: ReadonlySet<Field> = new Set(['operation', 'error_code', 'guardrail', 'stream'])

const namesOf = (fields: readonly Field[]): string => fields.map((name) => `\`${name}\``).join(', ')

const mostValues = 20
/** So many of the latest logs are counted where roll-ups lack the field. */
const mostLogs = 2000
const defaultRangeMs = 30 * dayMs

const query = logFilter
  .omit({ page_size: true, after: true, order: true })
  .extend({
    fields: z
      .string()
      .max(1000)
      .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))])
      .pipe(z.array(z.enum(fieldNames)).min(1))
      .default(fieldNames.filter((name) => !ofLogs.has(name)))
      .meta({ description: `Comma-separated: ${namesOf(fieldNames)}. Absent: all but ${namesOf([...ofLogs])}, for which logs are read.` }),
  })
  .meta({ id: 'LogFacetQuery', description: 'The logs and the fields; without a time the last 30 days.' })

const response = z
  .object({
    object: z.literal('log.facets'),
    data: z.array(
      z.object({
        field: z.enum(fieldNames),
        complete: z.boolean().meta({ description: `False: only the latest ${mostLogs} logs were counted.` }),
        values: z
          .array(z.object({ value: z.string().nullable(), count: z.int() }))
          .meta({ description: `The ${mostValues} most frequent; null: the logs have none.` }),
      }),
    ),
  })
  .meta({ id: 'LogFacets', description: 'The values in the fields of the logs of a filter.' })

type Counts = ReadonlyMap<string | null, number>

export const readLogFacets = route({
  method: 'GET',
  path: '/logs/facets',
  summary: 'Read the most frequent values of fields of logs, with their counts',
  permission: 'logs.list',
  query,
  costly: () => true,
  response,
})(async ({ em, actor, query: { fields, workspace_id, time_of_generation_min: min, time_of_generation_max: max, ...filters }, deps }) => {
  const scope = { ...logScopeOf(actor), workspaceId: await workspaceFilter(em, actor, workspace_id) }
  const to = max === undefined ? deps.clock.now() : Date.parse(max)
  const usage: Usage = { scope, filters, to, from: min === undefined ? to - defaultRangeMs : Date.parse(min), step: 'day', exact: true }
  const told = needsLogs(filters) ? [] : fields.filter((field) => !ofLogs.has(field))
  const counted = await countInRollUps(em, usage, { fields: told, logsFrom: await logsFrom(em, usage.scope, deps) })
  const rest = fields.filter((field) => !told.includes(field))
  const logs = rest.length === 0 ? [] : await latestLogs(em, usage)
  const data = fields.map((field) => ({
    field,
    complete: told.includes(field) || logs.length < mostLogs,
    values: mostFrequent(counted.get(field) ?? countIn(logs, field)),
  }))
  return { object: 'log.facets' as const, data }
})

const latestLogs = (em: EntityManager, { scope, filters, from, to }: Usage) =>
  findLogs(em, scope, {
    limit: mostLogs,
    filter: {
      ...filters,
      page_size: mostLogs,
      order: 'desc',
      time_of_generation_min: new Date(from).toISOString(),
      time_of_generation_max: new Date(to).toISOString(),
    },
  })

interface Row extends Readonly<Record<string, unknown>> {
  /** Zero at the place of the column by which the row is grouped. */
  readonly grouping: number
  readonly count: number
}

/** Counts the values of fields in one pass. */
async function countInRollUps(
  em: EntityManager,
  usage: Usage,
  { fields, logsFrom: keptFrom }: { readonly fields: readonly Field[]; readonly logsFrom: number },
): Promise<ReadonlyMap<Field, Counts>> {
  if (fields.length === 0) return new Map()
  const source = await usageSource(em, usage, keptFrom)
  const by = fields.map((field) => `l.${columns[field]}`)
  const rows = await em.execute<Row[]>(
    `SELECT grouping(${by.join(', ')})::int AS grouping, sum(l.requests)::float8 AS count, ${fields.map((field, at) => `${by[at]}::text AS ${field}`).join(', ')}
       FROM ${source.sql} GROUP BY GROUPING SETS (${by.map((column) => `(${column})`).join(', ')})`,
    [...source.values],
  )
  const all = 2 ** fields.length - 1
  return new Map(
    fields.map((field, at) => {
      const own = all - 2 ** (fields.length - 1 - at)
      const values = rows.filter(({ grouping }) => grouping === own)
      return [field, new Map(values.map((row) => [textOf(row[field]), row.count]))]
    }),
  )
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : null

const countIn = (logs: readonly LogRow[], field: Field): Counts => {
  const groups = Map.groupBy(logs, (log) => textOf(log[columns[field]]))
  return new Map([...groups].map(([value, { length }]) => [value, length]))
}

const mostFrequent = (counts: Counts) =>
  [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((one, other) => other.count - one.count || (String(one.value) < String(other.value) ? -1 : 1))
    .slice(0, mostValues)
