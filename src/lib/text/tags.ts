import { z } from 'zod'
import { since } from '../../release/since.ts'
import { textField } from './text.ts'

/** More would be a document. */
const maxTags = 50

const name = textField(128).min(1)
const value = textField(256)
const fewEnough = (tags: Readonly<Record<string, string>>) => Object.keys(tags).length <= maxTags

/** Tags without a mark are for resources that are younger than tags. */
export const tags = {
  /** Names and values that people choose, to find things by. */
  field: z
    .record(name, value)
    .refine(fewEnough, `At most ${maxTags} tags are allowed.`)
    .meta({ description: `Up to ${maxTags} pairs of a name and a value.` }),
  /** Tags as they are answered. */
  view: z.record(z.string(), z.string()),
  /** The filter of a list: `{"env":"prod"}`, or `env:prod,team:search`. A row must have all of them. */
  filter: z
    .string()
    .max(10_000)
    .transform((text, context): unknown => {
      const found = text.trimStart().startsWith('{') ? parsed(text) : pairs(text)
      if (found !== null) return found
      context.addIssue({ code: 'custom', message: 'Write name:value,name:value or a JSON object.' })
      return z.NEVER
    })
    .pipe(z.record(name, value).refine(fewEnough, `At most ${maxTags} tags are allowed.`))
    .meta({ description: 'Rows that have all of these tags: `name:value,name:value`, or a JSON object.' }),
}

export const tagsField = since('1.7.3', tags.field)
export const tagsView = since('1.7.3', tags.view)
export const tagsFilter = since('1.7.3', tags.filter)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function pairs(text: string): Record<string, string> | null {
  // Not by a pattern with spaces around each part: of a text of spaces it would try every way to share them out.
  const found = text.split(',').map((pair) => [pair, pair.indexOf(':')] as const)
  if (found.some(([pair, at]) => pair.slice(0, Math.max(at, 0)).trim() === '')) return null
  return Object.fromEntries(found.map(([pair, at]) => [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]))
}

/** The condition on a row's tags; empty when no tag was asked for. */
export const taggedWith = (wanted: Readonly<Record<string, string>> | undefined) =>
  wanted === undefined ? {} : { tags: { $contains: wanted } }
