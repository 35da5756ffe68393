import { rememberExact } from '../../lib/json/exact-json.ts'
import { editJson, type JsonEdit } from '../../lib/json/json-edit.ts'
import type { RequestBody } from './body.ts'

/** Returns a JSON body with some of its values changed; a body that stays the same is the very same. */
export function editBody(body: RequestBody, edits: readonly JsonEdit[]): RequestBody {
  if (edits.length === 0 || body.bytes === null) return body
  const text = editJson(body.bytes.toString('utf8'), edits)
  const bytes = Buffer.from(text)
  const json: unknown = JSON.parse(text)
  rememberExact(json, text)
  return { ...body, bytes, json, length: bytes.length }
}
