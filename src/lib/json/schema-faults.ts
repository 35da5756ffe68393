import type { z } from 'zod'
import { ApiError } from '../errors.ts'
import type { Issue, IssueCode } from '../issue.ts'
import { pathText } from './json-path.ts'
import { nearest } from '../text/nearest.ts'
import { knownFields } from './known-fields.ts'
import { plainUnion, withoutFullStop } from './plain-issue.ts'

/** A fault with its place in the value that was judged. */
export interface SchemaFault extends Issue {
  readonly path: readonly PropertyKey[]
}

/** The most faults that are looked at. */
export const maxFaults = 100
/** The most unknown fields of one object that are listed, so that the answer to any request stays small. */
const maxUnknown = 20

interface JudgedValue {
  /** The value that was parsed. */
  readonly value: unknown
  /** The name of the value in the request; it comes first in each `param`. */
  readonly above?: string
  /** The `param` of a fault of the value as a whole. */
  readonly whole: string
  /** The schema of the value: an unknown field is then answered with the field that was probably meant. */
  readonly schema?: z.core.$ZodType
}

/** Returns all faults that a schema found, in its order: of a union those of the form that was meant, and each unknown field by itself. */
export const schemaFaults = (error: z.ZodError, { value, above, whole, schema }: JudgedValue): readonly SchemaFault[] =>
  error.issues
    .slice(0, maxFaults)
    .flatMap((issue) => opened(issue, []))
    .slice(0, maxFaults)
    .map(({ path, code, message }) => ({
      path,
      param: pathText(above === undefined ? path : [above, ...path]) || whole,
      code: valueAtPath(value, path) === undefined && code !== 'unknown_field' ? 'missing' : code,
      message: withoutFullStop(message) + (code === 'unknown_field' ? meantField(schema, path) : ''),
    }))

/** Returns the end of a sentence that names the field that was probably meant; empty if no field is near. */
function meantField(schema: z.core.$ZodType | undefined, path: readonly PropertyKey[]): string {
  const name = String(path.at(-1) ?? '')
  if (schema === undefined || name.length < 3 || name.length > longestName) return ''
  const fields = knownFields(schema, path.slice(0, -1))
  const meant = nearest(name, fields) ?? fields.find((field) => field.endsWith(`_${name}`)) ?? null
  return meant === null ? '' : `, did you mean \`${meant}\`?`
}

/** A longer name is no misspelling, and comparing it would take long. */
const longestName = 60

/** Returns faults in the form of `error.issues`. */
export const toIssues = (faults: readonly Issue[]): readonly Issue[] => faults.map(({ param, code, message }) => ({ param, code, message }))

interface OpenFault {
  readonly path: readonly PropertyKey[]
  readonly code: IssueCode
  readonly message: string
}

const codes: Readonly<Partial<Record<z.core.$ZodIssue['code'], IssueCode>>> = {
  invalid_type: 'invalid_type',
  invalid_value: 'invalid_value',
  invalid_format: 'invalid_format',
  too_small: 'too_small',
  too_big: 'too_big',
}

function opened(issue: z.core.$ZodIssue, parents: readonly PropertyKey[]): readonly OpenFault[] {
  const path = [...parents, ...issue.path]
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, maxUnknown)
      .map((key) => ({ path: [...path, key], code: 'unknown_field', message: 'there is no such field' }))
  const meant = issue.code === 'invalid_union' ? meantForm(issue) : null
  if (meant !== null) return meant.slice(0, maxFaults).flatMap((inner) => opened(inner, path))
  const code = issue.code === 'invalid_union' ? 'invalid_type' : (codes[issue.code] ?? 'invalid')
  return [
    { path, code: issue.code === 'invalid_union' && plainUnion(issue.errors) === undefined ? 'invalid' : code, message: issue.message },
  ]
}

/**
 * Returns the faults of the form that was meant: of those whose own type fits the one that got deepest, and of several lists the one
 * whose items are of the right type, since 1.5 is a number, only no whole one. Null: none fits, or the union has words of its own.
 */
function meantForm(issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | null {
  const fitting = issue.errors.filter((issues) => issues.every((inner) => inner.code !== 'invalid_type' || inner.path.length > 0))
  const deepest = Math.max(0, ...fitting.map((issues) => depth(issues)))
  if (deepest === 0 && hasOwnWords(issue)) return null
  const furthest = fitting.filter((issues) => depth(issues) === deepest)
  return furthest.find((issues) => hasRightItems(issues)) ?? furthest[0] ?? null
}

const hasRightItems = (issues: readonly z.core.$ZodIssue[]): boolean =>
  issues.every((inner) => inner.code !== 'invalid_type' || inner.expected === 'int')

const hasOwnWords = ({ errors, message }: z.core.$ZodIssueInvalidUnion): boolean => message !== (plainUnion(errors) ?? 'Invalid input')

/** How far into the value a form got before it failed. */
const depth = (issues: readonly z.core.$ZodIssue[]): number => Math.max(0, ...issues.slice(0, maxFaults).map(({ path }) => path.length))

/** The value at a path. A text that a schema cuts into a list has no parts of its own: then the whole text is the value. */
export function valueAtPath(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const part of path) {
    if (typeof value === 'string') return value
    value = typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, part)?.value : undefined
  }
  return value
}

const toldFaults = 20

/** Joins the messages of the faults to one text, which names the first twenty. */
export const joinFaults = (texts: readonly string[]): string =>
  `${texts.slice(0, toldFaults).join('; ')}${texts.length > toldFaults ? `; and ${texts.length - toldFaults} more` : ''}`

interface Part {
  readonly value: unknown
  readonly above: string
  /** The message for a field that the kind does not have. */
  readonly unknown: string
  /** The schema of the part, for the field that was probably meant. */
  readonly schema?: z.core.$ZodType
}

/** Refuses a part of a body whose fields its kind decides: `configurations` of a provider, `credentials` of a partner. */
export function refusedPart(error: z.ZodError, { value, above, unknown, schema }: Part): ApiError {
  const faults = schemaFaults(error, { value, above, whole: above })
  return refusal(
    faults.map(({ param, code, message, path }) => ({
      param,
      code,
      message: code === 'unknown_field' ? unknown + meantField(schema, path) : `is wrong: ${message}`,
    })),
  )
}

/** Refuses a body for these faults; each message goes on from the name of its field. */
export const refusal = (faults: readonly Issue[]): ApiError =>
  new ApiError('AB01', `${joinFaults(faults.map(({ param, message }) => `${param} ${message}`))}.`, {
    param: faults[0]?.param ?? 'body',
    details: { issues: toIssues(faults) },
  })
