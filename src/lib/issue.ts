/** The kinds of fault that one field can have. */
export const issueCodes = [
  'missing',
  'unknown_field',
  'invalid_type',
  'invalid_value',
  'invalid_format',
  'too_small',
  'too_big',
  'invalid',
] as const

export type IssueCode = (typeof issueCodes)[number]

/** A fault of one field, as `error.issues` lists it. */
export interface Issue {
  readonly param: string
  readonly code: IssueCode
  readonly message: string
}
