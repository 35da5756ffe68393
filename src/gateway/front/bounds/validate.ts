import type { z } from 'zod'
import { ApiError } from '../../../lib/errors.ts'
import { pathText } from '../../../lib/json/json-path.ts'
import { plainIssue } from '../../../lib/json/plain-issue.ts'
import { promptRequest } from '../../prompts/chat-body.ts'
import type { Operation } from '../operations.ts'
import { completionBody } from './completion.ts'
import { batchBody, responseBody } from './bounds.ts'
import { fineTuningBody, lenientFineTuningBody } from './fine-tuning.ts'
import { batchesQuery, fineTuningQuery, responseQuery, threadMessagesQuery } from './queries.ts'

/** The operations whose bodies and queries the specification bounds. What is not here is the provider's to judge. */
export const bodySchemas: Readonly<Partial<Record<Operation, z.ZodType>>> = {
  complete: completionBody,
  createFinetune: fineTuningBody,
  createModelResponse: responseBody,
  createBatch: batchBody,
  promptComplete: promptRequest,
}

/** What public clients leave out may be absent where `DEDICATED_VALIDATION` is lenient. */
const lenientSchemas: typeof bodySchemas = { createFinetune: lenientFineTuningBody }

/** How the specification's demands on callers of the dedicated endpoints are met: its stored credential and its fields are needed, or may be absent. */
export type DedicatedValidation = 'strict' | 'lenient'

export const querySchemas: Readonly<Partial<Record<Operation, z.ZodObject>>> = {
  listThreadMessages: threadMessagesQuery,
  listBatches: batchesQuery,
  listFinetunes: fineTuningQuery,
  getModelResponse: responseQuery,
}

/** Checks a body; throws `invalid_request` naming the field, the bound and the value. */
export function validateBody(operation: Operation, body: unknown, how: DedicatedValidation): void {
  const schema = (how === 'lenient' ? lenientSchemas[operation] : undefined) ?? bodySchemas[operation]
  if (schema !== undefined) check(schema, body)
}

/** Checks a query string (without `?`); throws like `validateBody`. */
export function validateQuery(operation: Operation, search: string): void {
  const schema = querySchemas[operation]
  if (schema !== undefined) check(schema, queryRecord(new URLSearchParams(search), schema))
}

/**
 * `include` comes as `include=a&include=b`, `include[]=a`, `include[0]=a` or `include=a,b`: all mean a list. Of any other parameter that
 * is judged a provider may take the first or the last, so it comes once.
 */
function queryRecord(search: URLSearchParams, { shape }: z.ZodObject): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (const [name, value] of search) {
    if (name in record && name !== 'include' && Object.hasOwn(shape, name))
      throw new ApiError('invalid_request', `${name} came twice in the query. Send it once.`, { param: name })
    if (!/^include(?:\[\d*\])?$/.test(name)) record[name] = value
    else record['include'] = [...(Array.isArray(record['include']) ? record['include'] : []), ...value.split(',')]
  }
  return record
}

function check(schema: z.ZodType, value: unknown): void {
  const result = schema.safeParse(value, { error: plainIssue })
  if (result.success) return
  const faults = result.error.issues.flatMap((issue) => opened(issue)).map((issue) => describe(issue, value))
  const [first] = faults
  // Of a bound within a wider one the schema tells both, and the wider one first.
  const byField = new Map(faults.map(({ field, text }) => [field, text]))
  throw new ApiError('invalid_request', [...byField.values()].join(' '), { param: first?.field ?? 'body' })
}

/** An issue with one of several shapes, as the issues of the shape that was meant: the one whose own type fits. */
function opened(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const fitting = issue.errors.filter((issues) => issues.every((inner) => inner.code !== 'invalid_type' || inner.path.length > 0))
  // Of several lists, the one whose items are of the right type: 1.5 is a number, only no whole one.
  const meant = fitting.find((issues) => issues.every((inner) => inner.code !== 'invalid_type' || inner.expected === 'int')) ?? fitting[0]
  if (meant !== undefined) return meant.flatMap((inner) => opened({ ...inner, path: [...issue.path, ...inner.path] }))
  const types = issue.errors.flatMap(([first]) => (first?.code === 'invalid_type' ? [first.expected] : []))
  return [{ ...issue, message: `must be one of these types: ${[...new Set(types)].join(', ')}` }]
}

function describe(issue: z.core.$ZodIssue, input: unknown): { readonly field: string; readonly text: string } {
  const field = pathText(issue.path) || 'body'
  const value = at(input, issue.path)
  if (issue.code === 'custom') return { field, text: `${field} ${issue.message}.` }
  if (value === undefined) return { field, text: `${field} is missing: ${sentence(issue)}` }
  return { field, text: `${field}: ${sentence(issue)} Got ${short(value)}.` }
}

function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return `must be at most ${counted(issue.maximum, issue.origin)}.`
  if (issue.code === 'too_small') return `must be at least ${counted(issue.minimum, issue.origin)}.`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}.`
  return `${issue.message}.`
}

const units: Readonly<Record<string, string>> = { array: 'item', string: 'character' }

function counted(bound: number | bigint, origin: string): string {
  const unit = units[origin]
  return unit === undefined ? String(bound) : `${bound} ${unit}${bound === 1 ? '' : 's'}`
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value
  for (const name of path) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Object.getOwnPropertyDescriptor(current, name)?.value
  }
  return current
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
