import type { z } from 'zod'
import { ApiError } from '../../../lib/errors.ts'
import { atLevel, type Shown } from '../../../release/at-level.ts'
import { pathText } from '../../../lib/json/json-path.ts'
import { plainIssue, withoutFullStop } from '../../../lib/json/plain-issue.ts'
import { scrubSecrets } from '../../../lib/text/secret-shapes.ts'
import { isSecretName } from '../../secrets/secret-names.ts'
import type { IssueCode } from '../../openapi/error-schema.ts'
import { withoutSecrets } from '../../audit/mask.ts'

/** Where a value came from, and the release whose fields may be in it. */
interface Given {
  readonly place: 'path' | 'query' | 'body'
  readonly level: string | Shown
}

/** Returns the parsed value. Throws AB01 that names every wrong field, its bound, and what came instead; `issues` lists them too. */
export function parseInput<T>(schema: z.ZodType<T> | undefined, value: unknown, { place, level }: Given): T | undefined {
  if (schema === undefined) return undefined
  const parsed = atLevel(schema, level, 'request').safeParse(value, { error: plainIssue })
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.slice(0, maxFaults).flatMap((issue) => describe(issue, value, []))
  const told = faults.slice(0, toldFaults).map(({ param, message, got: instead }) => `\`${param}\`: ${message}${instead}`)
  const more = faults.length > toldFaults ? `; and ${faults.length - toldFaults} more` : ''
  throw new ApiError('AB01', `The ${place} is not valid: ${told.join('; ')}${more}.`, {
    param: faults[0]?.param ?? place,
    details: { issues: faults.map(toIssue) },
    cause: parsed.error,
  })
}

const toIssue = ({ param, code, message, got: instead }: Fault) => ({ param, code, message: `${message}${instead}` })

/** A body without the fields that say once more what the path says, as some clients send them: `workspace_id` for `:workspaceId`. */
export function withoutRepeated(body: unknown, params: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const repeats = new Map(
    Object.entries(Object(params)).flatMap(([name, value]) => [name, toSnakeCase(name)].map((field) => [field, value])),
  )
  const fields = Object.entries(body)
  const kept = fields.filter(([field, value]) => !repeats.has(field) || repeats.get(field) !== value)
  return kept.length === fields.length ? body : Object.fromEntries(kept)
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

interface Fault {
  readonly param: string
  readonly code: IssueCode
  readonly message: string
  /** What came instead, in brackets; empty when it cannot be shown. */
  readonly got: string
}

const maxFaults = 100
/** The message names so many. */
const toldFaults = 20
/** Of a value that came instead no more than this is looked at: it may be megabytes long. */
const longestValue = 2000

function describe(issue: z.core.$ZodIssue, root: unknown, parents: readonly PropertyKey[]): readonly Fault[] {
  const path = [...parents, ...issue.path]
  if (issue.code === 'unrecognized_keys') return issue.keys.slice(0, maxFaults).map((key) => unknownField([...path, key]))
  if (issue.code === 'invalid_union') {
    const nearest = issue.errors.toSorted((one, other) => depth(other) - depth(one))[0] ?? []
    if (nearest.length > 0 && depth(nearest) > 0) return nearest.slice(0, maxFaults).flatMap((inner) => describe(inner, root, path))
  }
  const instead = got(root, path)
  return [{ param: toField(path), code: codeOf(issue, instead), message: withoutFullStop(issue.message), got: instead }]
}

const missing = ' (missing)'

/** Codes of schema faults by what callers need to tell apart; all others are `invalid`. */
const codes: Readonly<Partial<Record<z.core.$ZodIssue['code'], IssueCode>>> = {
  invalid_type: 'invalid_type',
  invalid_value: 'invalid_value',
  invalid_format: 'invalid_format',
  too_small: 'too_small',
  too_big: 'too_big',
}

const codeOf = ({ code }: z.core.$ZodIssue, instead: string): IssueCode => (instead === missing ? 'missing' : (codes[code] ?? 'invalid'))

/** How far into the value a branch of a union got before it failed. */
const depth = (issues: readonly z.core.$ZodIssue[]) => Math.max(0, ...issues.slice(0, maxFaults).map(({ path }) => path.length))

const unknownField = (path: readonly PropertyKey[]): Fault => ({
  param: toField(path),
  code: 'unknown_field',
  message: 'there is no such field',
  got: '',
})

const toField = (path: readonly PropertyKey[]) => pathText(path) || 'body'

/** What came instead, cut short; nothing of a field that may hold a secret. */
function got(root: unknown, path: readonly PropertyKey[]): string {
  const names = path.filter((part) => typeof part === 'string')
  if (names.some((name, at) => isSecretName(name, names[at - 1]))) return ''
  let value = root
  // A text that a schema cuts into a list has no parts of its own: then the whole text is what came.
  for (const part of path)
    if (typeof value !== 'string') value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined
  if (value === undefined) return missing
  const shown = JSON.stringify(withoutSecrets(value, () => '[secret]', { secret: false, list: names.at(-1) ?? '' })) ?? typeof value
  const text = scrubSecrets(shown.slice(0, longestValue))
  return ` (got ${text.length > 100 ? `${text.slice(0, 100)}…` : text})`
}
