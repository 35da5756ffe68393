import { isFields } from '../../../lib/json/fields.ts'
import type { Pattern } from '../../patterns/pattern.ts'

/** A fault: the value that does not fit, and its place. */
export interface SchemaFault {
  /** JSON Pointer into the value. */
  readonly path: string
  readonly message: string
}

/** The needs of a keyword from the validation that it is part of. */
export interface Validation {
  /** Validates a part of the value against a part of the schema. */
  readonly check: (schema: unknown, value: unknown, path: string) => readonly SchemaFault[]
  readonly pattern: (source: string) => Pattern
  /** The schema behind a reference. */
  readonly resolve: (reference: string) => unknown
}

/** One keyword's value, the schema it stands in, and the value it judges. */
export interface Application {
  readonly rule: unknown
  readonly schema: unknown
  readonly value: unknown
  readonly path: string
}

export type Keyword = (application: Application, validation: Validation) => readonly SchemaFault[]

/** A fault unless all is well. */
export const unless = (isWell: boolean, { path }: Application, message: string): readonly SchemaFault[] =>
  isWell ? [] : [{ path, message }]

/** The types that a schema can name, each with its test. */
export const typeNames: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  object: isFields,
  array: (value) => Array.isArray(value),
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
}
