import type { Fields } from '../../lib/json/fields.ts'
import { readForm } from '../wire/form.ts'
import { tokensOfPicture, tokensOfText } from './input-bound.ts'

/** A form as its cost is estimated. */
export interface BoundForm {
  /** Its texts by their names, with numbers where the like of it in JSON has one. */
  readonly fields: Fields
  /** Pictures and masks. */
  readonly files: number
  /** The bytes of its texts. */
  readonly bytes: number
}

/** Of the largest and finest image. */
export const tokensOfImage = 6240

/** Reads a form that is held; null: no reader reads it. */
export function boundForm(bytes: Buffer, contentType: string): BoundForm | null {
  const form = readForm(bytes, contentType)
  if (form === null) return null
  const fields: Record<string, unknown> = {}
  let files = 0
  let length = 0
  for (const { name, text } of form) {
    if (text === null) files += 1
    else {
      fields[name] = name === 'n' ? Number(text) : text
      length += Buffer.byteLength(text)
    }
  }
  return { fields, files, bytes: length }
}

/** Estimates the tokens of the pictures and texts of a form. `isStrict`: a text has as many tokens as bytes, and a picture as many as the finest. */
export const tokensOfForm = ({ files, bytes }: BoundForm, isStrict: boolean): number =>
  isStrict ? bytes + files * tokensOfImage : tokensOfText(bytes) + files * tokensOfPicture
