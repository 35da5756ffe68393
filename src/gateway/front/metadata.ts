import { ApiError } from '../../lib/errors.ts'
import { type CallerHeaders, valueText } from '../wire/headers.ts'

/** The trace that a request names as its own. */
export interface Trace {
  readonly traceId: string
  readonly spanId: string | null
  readonly parentSpanId: string | null
  readonly spanName: string | null
}

/** Neither the version ff nor an id of zeros is valid; fields behind the flags belong to versions to come. */
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?![^-])/
const maxIdLength = 255

/** The trace of a request that names none. */
export const ownTrace = (requestId: string): Trace => ({ traceId: requestId, spanId: null, parentSpanId: null, spanName: null })

/** The caller's trace id, else the one of W3C `traceparent`, else the request id. */
export function readTrace(headers: CallerHeaders, requestId: string, parent: string | undefined): Trace {
  const match = parent === undefined ? null : traceparent.exec(parent)
  return {
    traceId: short(headers.service.get('trace-id')) ?? match?.[1] ?? requestId,
    spanId: short(headers.service.get('span-id')) ?? null,
    parentSpanId: short(headers.service.get('parent-span-id')) ?? match?.[2] ?? null,
    spanName: short(headers.service.get('span-name')) ?? null,
  }
}

const short = (value: string | undefined): string | undefined => (value === undefined || value === '' ? undefined : cut(valueText(value)))

const cut = (text: string): string => (text.length <= maxIdLength ? text : text.slice(0, maxIdLength).toWellFormed())

const empty: Readonly<Record<string, string>> = {}

/**
 * `x-service-metadata`: a flat JSON object; values become strings, at most 64 keys of at most 128 characters.
 * The key's own metadata lies under it. Throws `invalid_request` naming the fault.
 */
export function readMetadata(headers: CallerHeaders, inherited: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const text = headers.service.get('metadata')
  if (text === undefined || text === '') return inherited
  const merged: Record<string, string> = { ...inherited }
  const entries = parseFlat(valueText(text))
  if (entries.length > 64) throw invalid('holds more than 64 keys')
  for (const [name, value] of entries) {
    if (name.length > 128) throw invalid(`has a key of more than 128 characters: ${name.slice(0, 40)}…`)
    Object.defineProperty(merged, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return entries.length === 0 && inherited === empty ? empty : merged
}

function parseFlat(text: string): readonly (readonly [string, string])[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    throw invalid('is not valid JSON', cause)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw invalid('must be a JSON object of strings, numbers and booleans')
  return Object.entries(parsed).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'string') return [name, value]
    if (typeof value === 'number' || typeof value === 'boolean') return [name, String(value)]
    throw invalid(`must hold strings, numbers and booleans only, but ${name.slice(0, 40)} is ${value === null ? 'null' : typeof value}`)
  })
}

const invalid = (fault: string, cause?: unknown) =>
  new ApiError('invalid_request', `The header x-service-metadata ${fault}. Example: {"team":"search","_user":"u-42"}`, {
    param: 'x-service-metadata',
    cause,
  })
