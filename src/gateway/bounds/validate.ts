import type { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { parseGiven } from '../../lib/json/parse-given.ts'
import { type SchemaFault, schemaFaults, toIssues, valueAtPath } from '../../lib/json/schema-faults.ts'
import { promptRequest } from './prompt.ts'
import type { Operation } from '../operations/operations.ts'
import { completionBody } from './completion.ts'
import { batchBody, chatMetadata, responseBody, responseCountBody } from './bounds.ts'
import { boundFaults, fieldBounds, googleBounds } from './field-bounds.ts'
import { fineTuningBody, lenientFineTuningBody } from './fine-tuning.ts'
import { batchesQuery, fineTuningQuery, inputItemsQuery, responseQuery, threadMessagesQuery } from './queries.ts'

/** The operations whose bodies and queries the specification bounds. The provider judges all others. */
export const bodySchemas: Readonly<Partial<Record<Operation, z.ZodType>>> = {
  complete: completionBody,
  createFinetune: fineTuningBody,
  createModelResponse: responseBody,
  countResponseTokens: responseCountBody,
  createBatch: batchBody,
  promptComplete: promptRequest,
}

/** The schemas where `DEDICATED_VALIDATION` is lenient: fields that public clients leave out may be absent. */
const lenientSchemas: typeof bodySchemas = { createFinetune: lenientFineTuningBody }

/** How the specification's demands on callers of the dedicated endpoints are met: its stored credential and its fields are needed, or may be absent. */
export type DedicatedValidation = 'strict' | 'lenient'

export const querySchemas: Readonly<Partial<Record<Operation, z.ZodObject>>> = {
  listThreadMessages: threadMessagesQuery,
  listBatches: batchesQuery,
  listFinetunes: fineTuningQuery,
  getModelResponse: responseQuery,
  listResponseInputItems: inputItemsQuery,
}

/** Checks a body; throws `invalid_request` naming the field, the bound and the value. */
export function validateBody(operation: Operation, body: unknown, how: DedicatedValidation): void {
  const schema = (how === 'lenient' ? lenientSchemas[operation] : undefined) ?? bodySchemas[operation]
  if (schema !== undefined) check(schema, body)
  const bounds = fieldBounds[operation]
  if (bounds === undefined || !isFields(body)) return
  checkBounds(body, bounds)
  if (operation === 'chatComplete' && body['metadata'] !== undefined) check(chatMetadata, { metadata: body['metadata'] })
}

/** Checks the texts of a form, of which those that are bounded are numbers; throws like `validateBody`. */
export function validateForm(operation: Operation, form: Fields): void {
  const bounds = fieldBounds[operation]
  if (bounds === undefined) return
  const numbers = Object.entries(form).flatMap(([name, text]) => (typeof text === 'string' && text !== '' ? [[name, Number(text)]] : []))
  checkBounds(Object.fromEntries(numbers), bounds)
}

/** Checks a body of Google's own API, whose path is no operation; throws like `validateBody`. */
export const validateGoogleBody = (body: Fields): void => checkBounds(body, googleBounds)

function checkBounds(body: Fields, bounds: Parameters<typeof boundFaults>[1]): void {
  const faults = boundFaults(body, bounds)
  const [first] = faults
  if (first === undefined) return
  throw new ApiError('invalid_request', faults.map(({ param, message, value }) => `${param}: ${message}. Got ${short(value)}.`).join(' '), {
    param: first.param,
    details: { issues: toIssues(faults) },
  })
}

/** Checks a query string (without `?`); throws like `validateBody`. */
export function validateQuery(operation: Operation, search: string): void {
  const schema = querySchemas[operation]
  if (schema !== undefined) readQuery(schema, search)
}

/** Reads a query string (without `?`) by its schema; throws like `validateBody`. */
export const readQuery = <Schema extends z.ZodObject>(schema: Schema, search: string): z.output<Schema> =>
  check(schema, queryRecord(new URLSearchParams(search), schema))

/**
 * `include` comes as `include=a&include=b`, `include[]=a`, `include[0]=a` or `include=a,b`: all mean a list. Any other checked parameter must come
 * once, because a provider may take the first or the last.
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

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = parseGiven(schema, value)
  if (result.success) return result.data
  // For a bound within a wider one the schema reports both, the wider one first.
  const byField = new Map(schemaFaults(result.error, { value, whole: 'body' }).map((fault) => [fault.param, fault]))
  const faults = [...byField.values()]
  throw new ApiError('invalid_request', faults.map((fault) => describe(fault, value)).join(' '), {
    param: faults[0]?.param ?? 'body',
    details: { issues: toIssues(faults) },
  })
}

function describe({ path, param, code, message }: SchemaFault, input: unknown): string {
  if (code === 'invalid') return `${param} ${message}.`
  return code === 'missing' ? `${param} is missing: ${message}.` : `${param}: ${message}. Got ${short(valueAtPath(input, path))}.`
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
