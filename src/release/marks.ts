import type { z } from 'zod'
import { partsOf } from './schema-parts.ts'
import { laterValues, markOf } from './since.ts'

/** A part of a schema that a release brought: the name of a field, however deep, or a value. */
export interface MarkedPart {
  readonly name: string
  readonly since: string
}

/** Everything that is marked within a schema, each name once. A schema that contains itself is visited once. */
export function marksWithin(schema: z.ZodType): readonly MarkedPart[] {
  const found = new Map<string, string>()
  const visit = (part: z.ZodType, name: string, above: ReadonlySet<z.ZodType>) => {
    if (above.has(part)) return
    const mark = markOf(part)
    if (mark !== null) found.set(name, mark.since)
    for (const [value, since] of Object.entries(laterValues(part))) found.set(value, since)
    const within = new Set([...above, part])
    for (const inner of partsOf(part)) visit(inner.schema, inner.field ?? name, within)
  }
  visit(schema, '', new Set())
  return [...found].map(([name, since]) => ({ name, since }))
}
