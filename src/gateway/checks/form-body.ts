import { isDeepStrictEqual } from 'node:util'
import { isFields } from '../../lib/json/fields.ts'
import { delimiterOf, type FormField } from '../wire/form.ts'
import type { BodyEdit } from './check.ts'

/** A form as checks see it: its texts by their names, null for a file, a list for a name that is there several times. */
export function formJson(fields: readonly FormField[]): Readonly<Record<string, unknown>> {
  const byName = Map.groupBy(fields, ({ name }) => name)
  return Object.fromEntries(
    [...byName].map(([name, [first, ...others]]) => [name, others.length > 0 ? textsIn(byName.get(name)) : first?.text]),
  )
}

const textsIn = (fields: readonly FormField[] = []) => fields.map(({ text }) => text)

export interface Form {
  readonly bytes: Buffer
  readonly contentType: string
  readonly fields: readonly FormField[]
}

/** The form with other texts in some of its fields, and every other byte as it is. Throws for a change that a form cannot have. */
export function editForm({ bytes, contentType, fields }: Form, edits: readonly BodyEdit[]): Buffer {
  const texts = new Map<FormField, string>()
  for (const { path, value } of edits) for (const [field, text] of newTexts(fields, path, value)) texts.set(field, text)
  const delimiter = delimiterOf(contentType)
  const pieces: Buffer[] = []
  let at = 0
  for (const [field, text] of [...texts].toSorted(([a], [b]) => a.start - b.start)) {
    if (delimiter === null || text.includes(delimiter)) throw unfit()
    pieces.push(bytes.subarray(at, field.start), Buffer.from(text))
    at = field.end
  }
  return Buffer.concat([...pieces, bytes.subarray(at)])
}

const unfit = () => new Error('Only the texts of the fields of a form can be changed.')

type Texts = readonly (readonly [field: FormField, text: string])[]

function newTexts(fields: readonly FormField[], path: BodyEdit['path'], value: unknown): Texts {
  const [name, index = 0, ...deeper] = path
  if (name === undefined) return textsOfAll(fields, value)
  const field = fields.filter((one) => one.name === name)[Number(index)]
  if (field === undefined || field.text === null || deeper.length > 0 || typeof value !== 'string') throw unfit()
  return [[field, value]]
}

/** A service returned the whole form anew, in the form in which it got it. */
function textsOfAll(fields: readonly FormField[], value: unknown): Texts {
  const told = formJson(fields)
  if (!isFields(value) || Object.keys(value).length !== Object.keys(told).length) throw unfit()
  return Object.entries(told).flatMap(([name, before]) => {
    const after = value[name]
    if (isDeepStrictEqual(before, after)) return []
    const [olds, news] = [fields.filter((one) => one.name === name), Array.isArray(before) && Array.isArray(after) ? after : [after]]
    if (olds.length !== news.length) throw unfit()
    return olds.flatMap((field, at) => (field.text === news[at] ? [] : newTexts([field], [name], news[at])))
  })
}
