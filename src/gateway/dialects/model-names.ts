import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { existingPaths, parseJsonPaths, valueAt } from '../../lib/json/json-path.ts'
import { type RequestBody, stringsOf } from '../wire/body.ts'
import { formValues } from '../wire/form-fields.ts'
import { isForm } from '../wire/form.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import { unescaped } from '../wire/segments.ts'
import { dialects } from './registry.ts'

/** The parts of a request that name models. */
export interface NamingRequest {
  /** Path and query as the provider gets them. */
  readonly path: string
  readonly contentType: string
  readonly body: RequestBody
}

const everywhere = Object.values(dialects).flatMap(({ models = null }) => (models === null ? [] : [models]))
const bodyPlaces = parseJsonPaths([...new Set(everywhere.flatMap(({ body }) => body))])
const segments = everywhere.flatMap((places) => places.segments)

/** `/models/gemini-pro:generateContent`, `/model/anthropic.claude/invoke`, `/deployments/gpt-4o/chat/completions`. */
const inPath = new RegExp(String.raw`/(?:${segments.join('|')})/([^/?:]+(?::\d+)?)(?=[/:?]|$)`, 'g')

/** The names under which one provider or another reads a model, in any letter case: decoders in Go take `Model` for `model`. */
const modelField = 'model(?:_?(?:id|name|uri|version))?'
const namesModel = new RegExp(`^${modelField}$`, 'i')
const isModelKey = (key: string): boolean => namesModel.test(key)

/** So many places of a body are looked at: a body of a million items must not keep all other requests waiting. */
const mostPlaces = 100_000

/**
 * Returns every name of a model in a request, wherever any dialect may have it: a provider may read another place than we do. Throws
 * `invalid_request` for a form that no reader reads, and for a body with too many places.
 */
export function modelNames({ path, contentType, body }: NamingRequest): readonly string[] {
  const named = [...namesInPath(path), ...namesInQuery(path)]
  // Google's bodies repeat it, with the segment that stands before it in the path.
  const again = new Set(named.map((name) => `models/${name}`))
  return [...new Set([...named, ...namesInBody(contentType, body).filter((name) => !again.has(name))])]
}

function namesInBody(contentType: string, { kind, bytes, json }: RequestBody): readonly string[] {
  if (bytes === null) return []
  if (kind === 'bytes') return namesInBytes(contentType, bytes)
  if (!isFields(json)) return []
  const found = existingPaths(json, bodyPlaces, mostPlaces)
  if (found === null)
    throw new ApiError('invalid_request', 'The models that this body names cannot be determined: it has too many tools or requests.', {
      param: 'body',
    })
  return [...stringsOf(bytes, isModelKey), ...found.map((place) => valueAt(json, place)).filter((name) => typeof name === 'string')]
}

function namesInBytes(contentType: string, bytes: Buffer): readonly string[] {
  if (isForm(contentType)) return formValues(bytes, contentType, modelField)
  return isUrlEncoded(contentType) ? modelParameters(bytes.toString()) : []
}

/** Returns true for the form that browsers send unless they are told otherwise. */
export const isUrlEncoded = (contentType: string): boolean => /^application\/x-www-form-urlencoded\b/i.test(contentType)

const modelParameters = (text: string): readonly string[] =>
  [...new URLSearchParams(text)].filter(([key]) => isModelKey(key)).map(([, name]) => name)

/** Some providers take the model from the query, such as Deepgram. */
function namesInQuery(path: string): readonly string[] {
  const at = path.indexOf('?')
  return at === -1 ? [] : modelParameters(path.slice(at + 1))
}

/** Returns the model that a path names; null: it names none. */
export const modelInPath = (path: string): string | null => namesInPath(path)[0] ?? null

function namesInPath(path: string): readonly string[] {
  const [plain = ''] = path.split('?', 1)
  return [
    ...unescaped(plain)
      .replaceAll(/\/{2,}/g, '/')
      .matchAll(inPath),
  ].map(([, name = '']) => decodeSegment(name))
}
