import type { Fields } from '../../../lib/json/fields.ts'

/** Returns the field of a prediction that names a model's version, where the path names no model. */
export function versionFields(model: string): Fields {
  return /^[0-9a-f]{64}$/.test(model) ? { version: model } : {}
}
