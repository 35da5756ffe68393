import { delimiterOf } from '../wire/form.ts'
import { createFormScan } from '../wire/form-scan.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import type { MatchedOperation } from '../operations/match.ts'
import { fieldBounds } from './field-bounds.ts'
import { validateForm } from './validate.ts'

/** Returns a check of a form as it comes, in pieces, which throws like `validateForm`; null: the operation bounds no field, or the form cannot be read. */
export function formCheck(
  { name }: MatchedOperation,
  { contentType, contentEncoding }: Pick<CallerHeaders, 'contentType' | 'contentEncoding'>,
): ((chunk: Buffer) => void) | null {
  const bounds = name === 'proxy' ? undefined : fieldBounds[name]
  const delimiter = bounds === undefined || contentEncoding !== '' ? null : delimiterOf(contentType)
  if (name === 'proxy' || bounds === undefined || delimiter === null) return null
  return createFormScan(delimiter, {
    names: new Set(bounds.map(({ path: [field] }) => field)),
    tell: (field) => validateForm(name, { [field.name]: field.text }),
  })
}
