import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import { isFields } from '../../../lib/json/fields.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { Feature } from '../../feature.ts'
import { isConditional, wholePath, type Route } from '../../route.ts'

/** The pairs of GETs whose answers have an ETag and writes whose `If-Match` refers to them. */
export interface Representations {
  /** The GET whose answer a PUT changes, or a DELETE ends; null when there is none. */
  of(write: Route): Route | null
  /** Returns true if a PUT or DELETE may send the ETag of this GET back. */
  has(get: Route): boolean
}

/** Pairs every PUT and DELETE with the GET of its path, or of the path that it names. */
export function representations(features: readonly Feature[]): Representations {
  const routes = features.flatMap((feature) => feature.routes)
  const gets = new Map(routes.filter(({ method }) => method === 'GET').map((route) => [wholePath(route), route]))
  const of = (write: Route) => gets.get(wholePath({ ...write, path: write.representation ?? write.path })) ?? null
  const paired = new Set(routes.filter(isConditional).map(of))
  return { of, has: (get) => paired.has(get) }
}

/** The fields that change without an edit, so that they are no reason to refuse one. */
const restless: ReadonlySet<string> = new Set(['last_used_at', 'bounded_by'])

/** Fields that do so in an object with the first of them, and may be edited in others: the count of a budget, and the state of a limit. */
const restlessTogether: readonly (readonly [first: string, ...others: string[]])[] = [
  ['current_usage', 'status', 'last_reset_at', 'is_threshold_alerts_sent', 'is_exhausted_alerts_sent'],
  ['runs_out_at', 'spent', 'reserved', 'limit', 'resets_at', 'state'],
]

function withoutRestless(value: unknown): unknown {
  const names = isFields(value) ? restlessTogether.find(([first]) => Object.hasOwn(value, first)) : undefined
  return isFields(value) && names !== undefined
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
    : value
}

/** The ETag of an answer: equal as long as the resource is unchanged. */
export function etagOf(answer: unknown): string {
  const settled = JSON.stringify(answer, (name, value: unknown) => (restless.has(name) ? undefined : withoutRestless(value)))
  return `"${createHash('sha256')
    .update(canonicalJson(JSON.parse(settled)))
    .digest('base64url')
    .slice(0, 27)}"`
}

/** The ETags that a header allows; null: any, or no header. A proxy that compresses makes them weak, which does not matter here. */
export function parseIfMatch(header: string): ReadonlySet<string> | null {
  if (header === '' || header.trim() === '*') return null
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (tags.every((tag) => /^"[\x21\x23-\x7e]*"$/.test(tag))) return new Set(tags)
  throw new ApiError('AB01', 'If-Match is a list of ETags in double quotes, as a GET answers them, or *.', { param: 'if-match' })
}

/** Another write was faster. */
export const outdated = (): ApiError =>
  new ApiError('precondition_failed', 'This was changed since you read it. Read it again, and send its new ETag in If-Match.', {
    param: 'if-match',
  })
