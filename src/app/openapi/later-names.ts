import type { z } from 'zod'
import { defOf, isSchema, partsOf } from '../../release/schema-parts.ts'
import { laterValues, markOf } from '../../release/since.ts'
import { compareVersions, isVersion } from '../../release/version.ts'
import type { Feature } from '../feature.ts'

/** Stands for the first release, which has no mark. */
const always = '0.0.0'

const later = (one: string, other: string): string => (compareVersions(one, other) > 0 ? one : other)

/** Returns the names of fields and values that features take and answer, with the first release that has each of them anywhere. */
function firstReleases(features: readonly Feature[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>()
  const note = (name: string, release: string) => {
    const known = first.get(name)
    if (known === undefined || compareVersions(release, known) < 0) first.set(name, release)
  }
  const seen = new Map<z.ZodType, string>()
  const visit = (part: z.ZodType, above: string) => {
    const release = later(above, markOf(part)?.since ?? always)
    const before = seen.get(part)
    if (before !== undefined && compareVersions(before, release) <= 0) return
    seen.set(part, release)
    const values = laterValues(part)
    for (const value of valuesOf(part)) note(value, later(release, values[value] ?? always))
    for (const [value, since] of Object.entries(values)) note(value, later(release, since))
    for (const inner of partsOf(part)) {
      if (inner.field !== null) note(inner.field, later(release, releaseOf(inner.schema)))
      visit(inner.schema, release)
    }
  }
  for (const { since, routes } of features)
    for (const { params, query, body, response } of routes)
      for (const schema of [params, query, body, response]) if (isSchema(schema)) visit(schema, since)
  return first
}

/** Returns the release of a field, which may stand within a wrapper: `since('1.8.0', text).optional()`. */
function releaseOf(field: z.ZodType): string {
  const { innerType } = defOf(field)
  const own = markOf(field)?.since ?? always
  return isSchema(innerType) ? later(own, releaseOf(innerType)) : own
}

const valuesOf = (part: z.ZodType): readonly string[] => {
  const { entries, values } = defOf(part)
  return [...Object.values(Object(entries)), ...(Array.isArray(values) ? values : [])].filter((value) => typeof value === 'string')
}

/** Returns the names that no field and no value has at a level. */
export function laterNames(features: readonly Feature[], level: string): ReadonlySet<string> {
  const names = [...firstReleases(features)].filter(([, release]) => compareVersions(release, level) > 0)
  return new Set(names.map(([name]) => name))
}

/** The parts of an example that a level has: its later names, and the level itself. */
export interface LevelNames {
  readonly level: string
  readonly later: ReadonlySet<string>
}

const naming = ['id', 'name', 'scope', 'setting', 'key', 'value', 'const', 'field'] as const

/** Returns an example without the names that a level does not have, wherever a schema leaves the names of fields open. */
export function withoutLater(value: unknown, { level, later: names }: LevelNames): unknown {
  const isLater = (item: unknown): boolean => {
    if (typeof item !== 'object' || item === null) return typeof item === 'string' && names.has(item)
    const fields: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(item))
    const { since } = fields
    if (typeof since === 'string' && isVersion(since) && compareVersions(since, level) > 0) return true
    return naming.some((name) => typeof fields[name] === 'string' && names.has(fields[name]))
  }
  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.filter((item) => !isLater(item)).map(visit)
    if (typeof part !== 'object' || part === null) return part
    const kept = Object.entries(part).filter(([name]) => !names.has(name))
    return Object.fromEntries(kept.map(([name, inner]) => [name, name === 'release' && isAbove(inner, level) ? level : visit(inner)]))
  }
  return visit(value)
}

const isAbove = (value: unknown, level: string): boolean =>
  typeof value === 'string' && isVersion(value) && compareVersions(value, level) > 0
