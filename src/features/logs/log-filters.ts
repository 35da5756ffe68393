import { z } from 'zod'
import type { LogColumns } from '../../app/journal/columns.ts'
import { textField } from '../../lib/text/text.ts'

/** A condition on `logs l`. */
export interface Condition {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/** One filter of the list of logs. */
interface LogFilterRow<Schema extends z.ZodType> {
  readonly schema: z.ZodOptional<Schema>
  readonly condition: (value: z.output<Schema>) => Condition
}

const filter = <Schema extends z.ZodType>(
  schema: Schema,
  condition: (value: z.output<Schema>) => Condition,
  description?: string,
): LogFilterRow<Schema> => ({ schema: description === undefined ? schema.optional() : schema.optional().meta({ description }), condition })

type Column = keyof LogColumns

const anyOf =
  (column: Column) =>
  (values: readonly (string | number)[]): Condition => ({ sql: `l.${column} IN (${values.map(() => '?').join(', ')})`, values })

const compared =
  (column: Column, operator: '>=' | '<=' | '=') =>
  (value: string | number): Condition => ({ sql: `l.${column} ${operator} ?`, values: [value] })

/** Comma-separated values, at most 50. */
const listField = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item).min(1).max(50))

const texts = listField(textField(255))
const statuses = listField(z.string().regex(/^[1-5]\d\d$/, 'a status code has three digits'))

/** `{"env":"prod"}`: every pair must be among a log's metadata. */
const metadataField = z
  .string()
  .max(10_000)
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      context.addIssue({ code: 'custom', message: 'not a JSON object' })
      return z.NEVER
    }
  })
  .pipe(z.record(textField(255), textField(2000)))
const count = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

const cents = z.coerce.number().min(0).max(1_000_000_000)
const costCompared =
  (operator: '>=' | '<=') =>
  (value: number): Condition => ({ sql: `l.cost_pico ${operator} ?::numeric * 10000000000`, values: [value] })

/** `openai__gpt-4o`: what the provider is, and the model. */
const providerModels = listField(
  z
    .string()
    .max(511)
    .regex(/^.+?__.+$/, 'not `provider__model`'),
)
const ofProviderModels = (pairs: readonly string[]): Condition => ({
  sql: `(l.provider, l.model) IN (${pairs.map(() => '(?, ?)').join(', ')})`,
  values: pairs.flatMap((pair) => [pair.slice(0, pair.indexOf('__')), pair.slice(pair.indexOf('__') + 2)]),
})

const score = z.coerce.number().min(-10).max(10)
const scoreCompared =
  (operator: '>=' | '<=') =>
  (value: number): Condition => ({
    sql: `(SELECT avg(f.value * f.weight) FROM feedbacks f WHERE f.workspace_id = l.workspace_id AND f.trace_id = l.trace_id) ${operator} ?`,
    values: [value],
  })

/** In JavaScript: `is_success` of the fields. */
export const success = `(l.status < 400 AND l.outcome = 'complete')`

/** Every filter by what a log holds: the parameter, and the condition that it makes. */
const filters = {
  status_code: filter(statuses, (values) => anyOf('status')(values.map(Number)), 'Comma-separated.'),
  ai_org: filter(texts, anyOf('provider'), 'Provider types, e.g. `openai`, comma-separated.'),
  ai_model: filter(texts, anyOf('model'), 'Comma-separated.'),
  ai_org_model: filter(providerModels, ofProviderModels, 'Provider type and model, e.g. `openai__gpt-4o`, comma-separated.'),
  configs: filter(texts, anyOf('config_slug'), 'Slugs of configs, comma-separated.'),
  virtual_keys: filter(texts, anyOf('provider_slug'), 'Slugs of providers or virtual keys, comma-separated.'),
  api_key_ids: filter(listField(z.uuid()), anyOf('api_key_id'), 'Comma-separated.'),
  prompt_slug: filter(texts, anyOf('prompt_slug'), 'Slugs of prompts, comma-separated.'),
  trace_id: filter(textField(255), compared('trace_id', '=')),
  span_id: filter(textField(255), compared('span_id', '=')),
  weighted_feedback_min: filter(score, scoreCompared('>='), 'The mean of value times weight of the feedback on the trace.'),
  weighted_feedback_max: filter(score, scoreCompared('<=')),
  total_units_min: filter(count, compared('total_tokens', '>='), 'Tokens in all.'),
  total_units_max: filter(count, compared('total_tokens', '<=')),
  prompt_token_min: filter(count, compared('input_tokens', '>=')),
  prompt_token_max: filter(count, compared('input_tokens', '<=')),
  completion_token_min: filter(count, compared('output_tokens', '>=')),
  completion_token_max: filter(count, compared('output_tokens', '<=')),
  cost_min: filter(cents, costCompared('>='), 'US cents. Requests without a known price have no cost, and are left out.'),
  cost_max: filter(cents, costCompared('<='), 'US cents.'),
  metadata: filter(
    metadataField,
    (pairs) => ({ sql: 'l.metadata @> ?::jsonb', values: [JSON.stringify(pairs)] }),
    'A JSON object; logs that have all its pairs.',
  ),
  is_success: filter(z.stringbool(), (value) => ({ sql: value ? success : `NOT ${success}`, values: [] })),
}

type Filters = typeof filters
type Name = keyof Filters

const schemaEntries: readonly (readonly unknown[])[] = Object.entries(filters).map(([name, { schema }]) => [name, schema])
/** The parameters of the filters. */
export const valueFilters: { readonly [Filter in Name]: Filters[Filter]['schema'] } = Object.fromEntries(schemaEntries)

/** The filters that were given. */
export type FilterValues = { readonly [Filter in Name]?: z.output<Filters[Filter]['schema']> }
const conditions: { readonly [Filter in Name]: (value: NonNullable<FilterValues[Filter]>) => Condition } = Object.fromEntries(
  Object.entries(filters).map(([name, { condition }]): readonly unknown[] => [name, condition]),
)

const isName = (name: string): name is Name => Object.hasOwn(filters, name)
const names = Object.keys(filters).filter(isName)

const conditionOf = <Filter extends Name>(name: Filter, value: FilterValues[Filter]): Condition | null =>
  value === undefined ? null : conditions[name](value)

/** Returns the conditions of the filters that were given. */
export const valueConditions = (given: FilterValues): Condition[] =>
  names.map((name) => conditionOf(name, given[name])).filter((condition) => condition !== null)

/** The filters by traits, which roll-ups have too. */
const ofTraits: ReadonlySet<string> = new Set<Name>([
  'status_code',
  'ai_org',
  'ai_model',
  'ai_org_model',
  'configs',
  'virtual_keys',
  'api_key_ids',
  'prompt_slug',
  'is_success',
])

/** Returns true if a filter asks for what only the logs themselves have. */
export const needsLogs = (given: FilterValues): boolean => names.some((name) => given[name] !== undefined && !ofTraits.has(name))
