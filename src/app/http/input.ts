import type { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'
import { atLevel } from '../../release/at-level.ts'
import { plainIssue, withoutFullStop } from '../../lib/plain-issue.ts'
import { scrubSecrets } from '../../lib/scrub.ts'
import { isSecretName } from '../secret-names.ts'
import { withoutSecrets } from '../audit/mask.ts'

/** Where a value came from, and the release whose fields may be in it. */
interface Given {
  readonly place: 'path' | 'query' | 'body'
  readonly level: string
}

/** The parsed value. Throws AB01 that names every wrong field, its bound, and what came instead. */
export function parseInput<T>(schema: z.ZodType<T> | undefined, value: unknown, { place, level }: Given): T | undefined {
  if (schema === undefined) return undefined
  const parsed = atLevel(schema, level, 'request').safeParse(value, { error: plainIssue })
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.slice(0, maxFaults).flatMap((issue) => describe(issue, value, []))
  const [first] = faults
  throw new ApiError('AB01', `The ${place} is not valid: ${faults.map(({ text }) => text).join('; ')}.`, {
    param: first?.field ?? place,
    cause: parsed.error,
  })
}

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
  readonly field: string
  readonly text: string
}

const maxFaults = 20
/** Of a value that came instead no more than this is looked at: it may be megabytes long. */
const longestValue = 2000

function describe(issue: z.core.$ZodIssue, root: unknown, parents: readonly PropertyKey[]): readonly Fault[] {
  const path = [...parents, ...issue.path]
  if (issue.code === 'unrecognized_keys') return issue.keys.slice(0, maxFaults).map((key) => unknownField([...path, key]))
  if (issue.code === 'invalid_union') {
    const nearest = issue.errors.toSorted((one, other) => depth(other) - depth(one))[0] ?? []
    if (nearest.length > 0 && depth(nearest) > 0) return nearest.slice(0, maxFaults).flatMap((inner) => describe(inner, root, path))
  }
  const field = toField(path)
  return [{ field, text: `\`${field}\`: ${withoutFullStop(issue.message)}${got(root, path)}` }]
}

/** How far into the value a branch of a union got before it failed. */
const depth = (issues: readonly z.core.$ZodIssue[]) => Math.max(0, ...issues.slice(0, maxFaults).map(({ path }) => path.length))

const unknownField = (path: readonly PropertyKey[]): Fault => ({
  field: toField(path),
  text: `\`${toField(path)}\`: there is no such field`,
})

const toField = (path: readonly PropertyKey[]) =>
  path.length === 0
    ? 'body'
    : path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('')

/** What came instead, cut short; nothing of a field that may hold a secret. */
function got(root: unknown, path: readonly PropertyKey[]): string {
  const names = path.filter((part) => typeof part === 'string')
  if (names.some((name, at) => isSecretName(name, names[at - 1]))) return ''
  let value = root
  // A text that a schema cuts into a list has no parts of its own: then the whole text is what came.
  for (const part of path)
    if (typeof value !== 'string') value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined
  if (value === undefined) return ' (missing)'
  const shown = JSON.stringify(withoutSecrets(value, () => '[secret]', { secret: false, list: names.at(-1) ?? '' })) ?? typeof value
  const text = scrubSecrets(shown.slice(0, longestValue))
  return ` (got ${text.length > 100 ? `${text.slice(0, 100)}…` : text})`
}
