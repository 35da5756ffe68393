import { z } from 'zod'
import type { Document } from './schema/normalise.ts'

/** The answer to a SCIM request. */
export interface ScimAnswer {
  readonly status: 200 | 201 | 204 | 304
  readonly headers: Readonly<Record<string, string>>
  /** Null: no body. */
  readonly body: Document | null
}

/** The answer of every SCIM route: its own code builds it from the schema of the resource. */
export const scimAnswer = z.custom<ScimAnswer>()

/** Returns a usual answer. */
export const answered = (body: Document, headers: ScimAnswer['headers'] = {}): ScimAnswer => ({ status: 200, headers, body })
export const nothing: ScimAnswer = { status: 204, headers: {}, body: null }

/** Returns the answer about one resource, with its ETag; without a body for a client that has it already. */
export function resourceAnswer(body: Document, { version, location, ifNoneMatch, made = false }: AnswerHeaders): ScimAnswer {
  const headers = { etag: version, ...(made && { location }) }
  if (ifNoneMatch !== undefined && isNamed(ifNoneMatch, version)) return { status: 304, headers, body: null }
  return { status: made ? 201 : 200, headers, body }
}

interface AnswerHeaders {
  readonly version: string
  readonly location: string
  readonly ifNoneMatch?: string | undefined
  readonly made?: boolean
}

/** Returns true if a header of ETags names this one, or any. */
export const isNamed = (header: string, version: string): boolean =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === version.replace(/^W\//, ''))
