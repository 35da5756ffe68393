import type { Fields } from '../../lib/json/fields.ts'
import { tokensOfImage } from '../tokens/estimate-tokens.ts'
import { readForm } from '../wire/form.ts'
import { tokensOfPicture, tokensOfText } from './input-bound.ts'

/** A form as its cost is estimated. */
export interface BoundForm {
  /** Null: it names none, or two. */
  readonly model: string | null
  /** Its texts by their names, with numbers where the like of it in JSON has one. */
  readonly fields: Fields
  /** Pictures and masks. */
  readonly files: number
  /** The bytes of its texts. */
  readonly bytes: number
}

/** Uploads are long: each is read once. */
const known = new WeakMap<Buffer, BoundForm | null>()

/** Reads a form that is held; null: no reader reads it. */
export function boundForm(bytes: Buffer, contentType: string): BoundForm | null {
  const found = known.get(bytes)
  if (found !== undefined) return found
  const form = read(bytes, contentType)
  known.set(bytes, form)
  return form
}

function read(bytes: Buffer, contentType: string): BoundForm | null {
  const form = readForm(bytes, contentType)
  if (form === null) return null
  const fields: Record<string, unknown> = {}
  const models = new Set<string>()
  let files = 0
  let length = 0
  for (const { name, text } of form) {
    if (text === null) {
      files += 1
      continue
    }
    length += Buffer.byteLength(text)
    if (name === 'model') models.add(text)
    fields[name] = name === 'n' ? Math.max(numberOf(fields['n']), numberOf(text)) : text
  }
  const [model = null] = models
  return { model: models.size === 1 ? model : null, fields, files, bytes: length }
}

/** A field may come twice, and it is unknown which of them a provider reads. */
const numberOf = (value: unknown): number => Number(value) || 0

/** Estimates the tokens of the pictures and texts of a form. `isStrict`: a text has as many tokens as bytes, and a picture as many as the finest. */
export const tokensOfForm = ({ files, bytes }: BoundForm, isStrict: boolean): number =>
  isStrict ? bytes + files * tokensOfImage : tokensOfText(bytes) + files * tokensOfPicture
