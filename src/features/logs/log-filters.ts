import { z } from 'zod'
import type { LogColumns } from '../../app/journal/columns.ts'
import { textField } from '../../lib/text/text.ts'
import { guardrailVerdicts } from '../../app/journal/columns.ts'
import {
  metadataTerm,
  stepped,
  successTerm,
  termOf,
  termsWithin,
  type Range,
  type Search,
  type SteppedColumn,
  type Term,
  type TermColumn,
} from './log-terms.ts'

/** A condition on `logs l`. */
export interface Condition {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/** A filter of logs. */
interface LogFilterRow<Schema extends z.ZodType> {
  readonly schema: z.ZodOptional<Schema>
  readonly condition: (value: z.output<Schema>) => Condition
  /** The part of the value that the terms of logs contain. */
  readonly hints?: (value: z.output<Schema>) => Hints
  /** Roll-ups have it too. */
  readonly ofTrait?: boolean
}

/** The terms of a filter: one of several, all of several, one of each of several groups, a range of a number. */
interface Hints {
  readonly any?: readonly Term[]
  readonly all?: readonly Term[]
  readonly range?: readonly [column: SteppedColumn, bounds: Range]
  readonly groups?: readonly (readonly Term[])[]
}

interface FilterOptions<Schema extends z.ZodType> extends Omit<LogFilterRow<Schema>, 'schema' | 'condition'> {
  readonly description?: string
}

const filter = <Schema extends z.ZodType>(
  schema: Schema,
  condition: (value: z.output<Schema>) => Condition,
  { description, ...more }: FilterOptions<Schema> = {},
): LogFilterRow<Schema> => ({
  schema: description === undefined ? schema.optional() : schema.optional().meta({ description }),
  condition,
  ...more,
})

type Column = keyof LogColumns

const marks = (values: readonly unknown[]): string => values.map(() => '?').join(', ')
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
const statuses = listField(
  z
    .string()
    .regex(/^[1-5]\d\d$/, 'a status code has three digits')
    .transform(Number),
)

type Values = z.ZodType<readonly (string | number)[], string>
interface ListOptions {
  readonly description?: string
  readonly ofTrait?: boolean
}

/** One of several values of a column. */
const isOneOf = <Schema extends Values>(column: TermColumn, schema: Schema, { description = '', ofTrait = false }: ListOptions = {}) =>
  filter<Schema>(schema, (values) => ({ sql: `l.${column} IN (${marks(values)})`, values }), {
    description: `${description} Comma-separated.`.trim(),
    hints: (values) => ({ any: values.map((value) => termOf(column, value)) }),
    ofTrait,
  })

/** None of several values of a column; a log without any is left too. */
const isNoneOf = <Schema extends Values>(column: TermColumn, schema: Schema, { ofTrait = false }: ListOptions = {}) =>
  filter<Schema>(schema, (values) => ({ sql: `(l.${column} IS NULL OR l.${column} NOT IN (${marks(values)}))`, values }), {
    description: 'None of these, comma-separated; logs without any are left too.',
    ofTrait,
  })

const atLeast = (column: Column, schema: typeof count, description?: string) =>
  filter(schema, compared(column, '>='), { ...(description !== undefined && { description }), hints: rangeFrom(column, 'min') })
const atMost = (column: Column, schema: typeof count, description?: string) =>
  filter(schema, compared(column, '<='), { ...(description !== undefined && { description }), hints: rangeFrom(column, 'max') })

const isStepped = (column: Column): column is SteppedColumn => Object.hasOwn(stepped, column)
const rangeFrom =
  (column: Column, bound: 'min' | 'max') =>
  (value: number): Hints =>
    isStepped(column) ? { range: [column, { [bound]: value }] } : {}

/** `{"env":"prod"}`: every pair must be among a log's metadata; of a list of values one. */
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
  .pipe(z.record(textField(255), z.union([textField(2000), z.array(textField(2000)).min(1).max(50)])))
type Metadata = z.output<typeof metadataField>

const valuesOf = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value)
function hasMetadata(pairs: Metadata): Condition {
  const single = Object.entries(pairs).map(([key, value]) => valuesOf(value).map((one) => JSON.stringify({ [key]: one })))
  const sql = single.map((values) => `(${values.map(() => 'l.metadata @> ?::jsonb').join(' OR ')})`)
  return { sql: sql.length === 0 ? 'true' : sql.join(' AND '), values: single.flat() }
}
function metadataHints(pairs: Metadata): Hints {
  const terms = Object.entries(pairs).map(([key, value]) => valuesOf(value).map((one) => metadataTerm(key, one)))
  return { all: terms.flatMap((one) => (one.length === 1 ? one : [])), groups: terms.filter((one) => one.length > 1) }
}

const count = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

const picoOfCent = 1e10
const cents = z.coerce.number().min(0).max(1_000_000_000)
const costCompared =
  (operator: '>=' | '<=') =>
  (value: number): Condition => ({ sql: `l.cost_pico ${operator} ?::numeric * 10000000000`, values: [value] })

/** `openai__gpt-4o`: the provider, and the model. */
const providerModels = listField(
  z
    .string()
    .max(511, { abort: true })
    .regex(/^.+?__.+$/, 'not `provider__model`'),
)
const split = (pair: string): readonly [provider: string, model: string] => [
  pair.slice(0, pair.indexOf('__')),
  pair.slice(pair.indexOf('__') + 2),
]
const ofProviderModels = (pairs: readonly string[]): Condition => ({
  sql: `(l.provider, l.model) IN (${pairs.map(() => '(?, ?)').join(', ')})`,
  values: pairs.flatMap(split),
})

const score = z.coerce.number().min(-10).max(10)
const scoreCompared =
  (operator: '>=' | '<=') =>
  (value: number): Condition => ({
    sql: `(SELECT avg(f.value * f.weight) FROM feedbacks f WHERE f.workspace_id = l.workspace_id AND f.trace_id = l.trace_id) ${operator} ?`,
    values: [value],
  })

/** The same in JavaScript is `is_success` of the fields. */
export const success = `(l.status < 400 AND l.outcome = 'complete')`

const trait = { ofTrait: true }
const outcomes = listField(z.enum(['complete', 'incomplete', 'client_closed', 'error']))

/** Every filter on the contents of a log: the parameter, and the condition that it makes. */
const filters = {
  status_code: isOneOf('status', statuses, trait),
  status_code_not: isNoneOf('status', statuses, trait),
  ai_org: isOneOf('provider', texts, { ...trait, description: 'Provider types, e.g. `openai`.' }),
  ai_org_not: isNoneOf('provider', texts, trait),
  ai_model: isOneOf('model', texts, trait),
  ai_model_not: isNoneOf('model', texts, trait),
  ai_org_model: filter(providerModels, ofProviderModels, {
    description: 'Provider type and model, e.g. `openai__gpt-4o`, comma-separated.',
    hints: (pairs) => ({ any: pairs.map((pair) => termOf('model', split(pair)[1])) }),
    ofTrait: true,
  }),
  configs: isOneOf('config_slug', texts, { ...trait, description: 'Slugs of configs.' }),
  configs_not: isNoneOf('config_slug', texts, trait),
  virtual_keys: isOneOf('provider_slug', texts, { ...trait, description: 'Slugs of providers or virtual keys.' }),
  virtual_keys_not: isNoneOf('provider_slug', texts, trait),
  api_key_ids: isOneOf('api_key_id', listField(z.uuid()), trait),
  api_key_ids_not: isNoneOf('api_key_id', listField(z.uuid()), trait),
  user_id: isOneOf('user_id', listField(z.uuid()), { ...trait, description: 'The people whose keys were used.' }),
  user_id_not: isNoneOf('user_id', listField(z.uuid()), trait),
  prompt_slug: isOneOf('prompt_slug', texts, { ...trait, description: 'Slugs of prompts.' }),
  prompt_slug_not: isNoneOf('prompt_slug', texts, trait),
  operation: isOneOf('operation', texts),
  operation_not: isNoneOf('operation', texts),
  outcome: isOneOf('outcome', outcomes, trait),
  outcome_not: isNoneOf('outcome', outcomes, trait),
  error_code: isOneOf('error_code', texts),
  error_code_not: isNoneOf('error_code', texts),
  cache_status: isOneOf('cache_status', texts, trait),
  cache_status_not: isNoneOf('cache_status', texts, trait),
  guardrail: isOneOf('guardrail', listField(z.enum(guardrailVerdicts)), {
    description: 'The worst verdict of the guardrails that ran: `passed`, `failed` (found, and let through) or `denied`.',
  }),
  stream: filter(z.stringbool(), (value) => ({ sql: value ? 'l.stream' : 'NOT l.stream', values: [] }), {
    hints: (value) => ({ all: [termOf('stream', Number(value))] }),
  }),
  trace_id: filter(textField(255), compared('trace_id', '=')),
  span_id: filter(textField(255), compared('span_id', '=')),
  weighted_feedback_min: filter(score, scoreCompared('>='), {
    description: 'The mean of value times weight of the feedback on the trace.',
  }),
  weighted_feedback_max: filter(score, scoreCompared('<=')),
  total_units_min: atLeast('total_tokens', count, 'Tokens in all.'),
  total_units_max: atMost('total_tokens', count),
  prompt_token_min: atLeast('input_tokens', count),
  prompt_token_max: atMost('input_tokens', count),
  completion_token_min: atLeast('output_tokens', count),
  completion_token_max: atMost('output_tokens', count),
  response_time_min: atLeast('duration_ms', count, 'Milliseconds of the whole request.'),
  response_time_max: atMost('duration_ms', count),
  cost_min: filter(cents, costCompared('>='), {
    description: 'US cents. Requests without a known price have no cost, and are left out.',
    hints: (value) => ({ range: ['cost_pico', { min: value * picoOfCent }] }),
  }),
  cost_max: filter(cents, costCompared('<='), {
    description: 'US cents.',
    hints: (value) => ({ range: ['cost_pico', { max: value * picoOfCent }] }),
  }),
  metadata: filter(metadataField, hasMetadata, {
    description: 'A JSON object; logs that have all its pairs. One of a list of values is enough: `{"env":["test","prod"]}`.',
    hints: metadataHints,
  }),
  metadata_keys: filter(texts, (keys) => ({ sql: keys.map(() => 'jsonb_exists(l.metadata, ?)').join(' AND '), values: keys }), {
    description: 'Keys that the metadata have, with any value, comma-separated.',
  }),
  is_success: filter(z.stringbool(), (value) => ({ sql: value ? success : `NOT ${success}`, values: [] }), {
    hints: (value) => ({ all: [successTerm(value)] }),
    ofTrait: true,
  }),
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

/** The filters on models for figures, which count a model in any case as one. */
const inAnyCase: { readonly [Filter in Name]?: (value: NonNullable<FilterValues[Filter]>) => Condition } = {
  ai_model: (models) => ({ sql: `lower(l.model) IN (${lowered(models)})`, values: models }),
  ai_model_not: (models) => ({ sql: `(l.model IS NULL OR lower(l.model) NOT IN (${lowered(models)}))`, values: models }),
  ai_org_model: (pairs) => ({
    sql: `(l.provider, lower(l.model)) IN (${pairs.map(() => '(?, lower(?))').join(', ')})`,
    values: pairs.flatMap(split),
  }),
}
const lowered = (models: readonly string[]): string => models.map(() => 'lower(?)').join(', ')

const conditionOf = <Filter extends Name>(name: Filter, value: FilterValues[Filter]): Condition | null =>
  value === undefined ? null : conditions[name](value)

/** Returns the conditions of the filters that were given. */
export const valueConditions = (given: FilterValues): Condition[] =>
  names.map((name) => conditionOf(name, given[name])).filter((condition) => condition !== null)

/** Returns the conditions of the filters that were given, for figures. */
export const figureConditions = (given: FilterValues): Condition[] =>
  names.map((name) => figureConditionOf(name, given[name])).filter((condition) => condition !== null)

const figureConditionOf = <Filter extends Name>(name: Filter, value: FilterValues[Filter]): Condition | null =>
  value === undefined ? null : (inAnyCase[name]?.(value) ?? conditions[name](value))

/** Returns true if a filter needs a field that only the logs themselves have. */
export const needsLogs = (given: FilterValues): boolean => names.some((name) => given[name] !== undefined && !isOfTrait(name))
const isOfTrait = (name: Name): boolean => 'ofTrait' in filters[name] && filters[name].ofTrait

/** Returns filters as terms. */
export function searchOf(given: FilterValues): Search {
  const hints = names.map((name) => hintsOf(name, given[name])).filter((hint) => hint !== null)
  const single = hints.flatMap(({ any = [], all = [] }) => [...all, ...(any.length === 1 ? any : [])])
  const several = hints.flatMap(({ any = [], groups = [] }) => [...(any.length > 1 ? [any] : []), ...groups])
  const ranges = Map.groupBy(
    hints.flatMap(({ range }) => (range === undefined ? [] : [range])),
    ([column]) => column,
  )
  const within = [...ranges].flatMap(([column, bounds]) => {
    const terms = termsWithin(column, Object.assign({}, ...bounds.map(([, bound]) => bound)))
    return terms === null ? [] : [[terms]]
  })
  return { all: single, any: [...several, ...within] }
}

const hinters: { readonly [Filter in Name]?: (value: NonNullable<FilterValues[Filter]>) => Hints } = Object.fromEntries(
  Object.entries(filters).flatMap(([name, row]): readonly (readonly unknown[])[] => ('hints' in row ? [[name, row.hints]] : [])),
)
const hintsOf = <Filter extends Name>(name: Filter, value: FilterValues[Filter]): Hints | null =>
  value === undefined ? null : (hinters[name]?.(value) ?? null)
