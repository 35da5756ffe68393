/** The operators that compare a value. */
export const comparisons = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'lt', 'ge', 'le'] as const
export type Comparison = (typeof comparisons)[number]

/** A value that something is compared with. */
export type Operand = string | number | boolean | null

/** A filter of RFC 7644, section 3.4.2.2. */
export type Filter =
  | { readonly op: 'and'; readonly left: Filter; readonly right: Filter }
  | { readonly op: 'or'; readonly left: Filter; readonly right: Filter }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: 'present'; readonly path: string }
  | { readonly op: 'compare'; readonly path: string; readonly operator: Comparison; readonly value: Operand }
  /** `emails[type eq "work"]`; with `rest` the comparison behind the bracket, whose path is that of a part. */
  | { readonly op: 'some'; readonly path: string; readonly where: Filter; readonly rest: Filter | null }

/** The target of an operation of a PATCH: `emails[type eq "work"].value`. */
export interface PatchPath {
  readonly path: string
  readonly where: Filter | null
  /** The part behind the bracket. */
  readonly part: string | null
}
