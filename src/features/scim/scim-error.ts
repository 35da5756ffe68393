import { ApiError, type ErrorCode } from '../../lib/errors.ts'

/** The name of an error of the client (RFC 7644, table 9). */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidVers'

const codes: Readonly<Partial<Record<ScimType, ErrorCode>>> = { uniqueness: 'AB07' }

/** Returns the error of a write that names an ETag which the resource no longer has. */
export const outdated = (): ApiError =>
  new ApiError('precondition_failed', 'This was changed since you read it. Read it again, and send its new ETag in If-Match.', {
    param: 'if-match',
  })

/** Returns the error of a request that SCIM has a name for; `param` names the attribute or parameter. */
export const scimError = (scimType: ScimType, message: string, param?: string): ApiError =>
  new ApiError(codes[scimType] ?? 'AB01', message, { details: { scimType }, ...(param !== undefined && { param }) })
