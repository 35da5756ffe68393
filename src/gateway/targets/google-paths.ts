import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { JsonEdit } from '../../lib/json/json-edit.ts'
import { existingPaths, parseJsonPaths, valueAt } from '../../lib/json/json-path.ts'
import { models } from '../dialects/google/models.ts'
import { editBody } from '../wire/edit-body.ts'
import { modelReference } from './addressing.ts'
import { isGooglePath } from '../operations/fronts.ts'
import { googleVersions } from '../operations/google-versions.ts'
import { unescaped } from '../wire/segments.ts'
import type { RequestBody } from '../wire/body.ts'

/** Returns the value of `?key=` on the paths of Google's clients; null elsewhere, and when there is none. */
export function googleKey(path: string): string | null {
  if (!isGooglePath(path)) return null
  const at = path.indexOf('?')
  return at === -1 ? null : new URLSearchParams(path.slice(at + 1)).get('key')
}

/** Returns a path without the `key` of its query: one of ours has served, and is no business of the provider or the log. */
export function withoutGoogleKey(path: string): string {
  const at = path.indexOf('?')
  const rest = path
    .slice(at + 1)
    .split('&')
    .filter((part) => decodedName(part) !== 'key')
  return path.slice(0, at) + (rest.length === 0 ? '' : `?${rest.join('&')}`)
}

const decodedName = (part: string): string => [...new URLSearchParams(part).keys()][0] ?? ''

const named = new RegExp(String.raw`^(?:(/(?:${googleVersions.join('|')}))(?:/models)?|/models)/(@[^/?:]+/[^?]+)(:[^?:/]*)(\?.*)?$`)

/**
 * Takes the slug out of the path: `/v1beta/models/@slug/gemini-2.5-flash:generateContent`. Some clients leave `/models` out when a
 * model has a slash; the path goes on with it. Returns the model with its slug, null when the path names none.
 */
export function takeModelOfPath(path: string): { readonly model: string | null; readonly path: string } {
  if (!path.includes('/models/') && !isGooglePath(path)) return { model: null, path }
  const [, version = '', model = '', action = '', search = ''] = named.exec(withPlainAt(path)) ?? []
  const reference = modelReference(model === '' ? null : model)
  return reference === null ? { model: null, path } : { model, path: `${version}/models/${reference.model}${action}${search}` }
}

/** The places in which bodies of Google's repeat the model of their path. */
const bodyPlaces = parseJsonPaths(['model', ...models.body])
const mostPlaces = 100_000

/** Takes the slug out of the models that a body repeats from its path, as embeddings and the counting of tokens do. */
export const withoutSlugOfPath = (body: RequestBody, modelOfPath: string): RequestBody =>
  renameModelInBody(body, modelOfPath, modelReference(modelOfPath)?.model ?? modelOfPath)

/** Gives the model that a body repeats from its path another name. */
export function renameModelInBody(body: RequestBody, from: string, to: string): RequestBody {
  if (!isFields(body.json)) return body
  const places = existingPaths(body.json, bodyPlaces, mostPlaces)
  if (places === null) throw new ApiError('invalid_request', 'The body has too many requests.', { param: 'requests' })
  const again = places.filter((path) => valueAt(body.json, path) === `models/${from}`)
  const edits = again.map((path): JsonEdit => ({ path, value: `models/${to}` }))
  return editBody(body, edits)
}

/** Clients that escape the model send `%40slug%2Fgemini`. */
function withPlainAt(path: string): string {
  const [plain = '', ...search] = path.split('?')
  const unfolded = plain.includes('%40') || plain.includes('/@') ? unescaped(plain).replace(/%40/i, '@').replace(/%2f/i, '/') : plain
  return search.length === 0 ? unfolded : `${unfolded}?${search.join('?')}`
}
