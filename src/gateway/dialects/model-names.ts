import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { parseJson } from '../../lib/json/json.ts'
import { existingPaths, parseJsonPaths, valueAt } from '../../lib/json/json-path.ts'
import { type RequestBody, stringsOf } from '../wire/body.ts'
import { formValues } from '../wire/form-fields.ts'
import { isForm } from '../wire/form.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import { unescaped } from '../wire/segments.ts'
import { isOwnTool, toolsOf } from './asked-tools.ts'
import { listOf } from './openai-responses/sold-tools.ts'
import { dialects } from './registry.ts'
import { sentFields } from './sent-fields.ts'

/** The parts of a request that name models. */
export interface NamingRequest {
  /** Path and query as the provider gets them. */
  readonly path: string
  readonly contentType: string
  readonly body: RequestBody
  /** True if a model may stand at any depth of the body: it is no conversation, whose contents may have the same keys. */
  readonly nests: boolean
}

const everywhere = Object.values(dialects).flatMap(({ models = null }) => (models === null ? [] : [models]))
/** The models of realtime sessions, of runs of evaluations, and of graders. */
const ofOthers = ['session.model', 'data_source.model', 'grader.model']
const bodyPlaces = parseJsonPaths([...new Set([...everywhere.flatMap(({ body }) => body), ...ofOthers])])
const segments = everywhere.flatMap((places) => places.segments)

/** `/models/gemini-pro:generateContent`, `/model/anthropic.claude/invoke`, `/deployments/gpt-4o/chat/completions`. */
const inPath = new RegExp(String.raw`/(?:${segments.join('|')})/([^/?:]+(?::\d+)?)(?=[/:?]|$)`, 'g')

/** The names under which one provider or another reads a model, in any letter case: decoders in Go take `Model` for `model`. */
const modelField = 'model(?:_?(?:id|name|uri|version))?'
const namesModel = new RegExp(`^${modelField}$`, 'i')
const isModelKey = (key: string): boolean => namesModel.test(key)

/** A list of models, such as `allowed_models`, or an object of them. */
const namesModels = /(?:^|_)models$/i

/** So many places of a body are looked at: a body of a million items must not keep all other requests waiting. */
const mostPlaces = 100_000

/** So many models are compared with the rules for models. No provider takes as many in one request, but for batches. */
const mostNames = 100

const tooManyNames = () =>
  new ApiError('invalid_request', `This request names more than ${mostNames} models, and rules for models apply to it.`, { param: 'model' })

/**
 * Returns every name of a model in a request, wherever any dialect may have it: a provider may read another place than we do. Throws
 * `invalid_request` for a form that no reader reads, and for a body with too many places or models.
 */
export function modelNames({ path, contentType, body, nests }: NamingRequest): readonly string[] {
  const named = [...namesInPath(path), ...namesInQuery(path)]
  // Google's bodies repeat it, with the segment that stands before it in the path.
  const again = new Set(named.map((name) => `models/${name}`))
  const inBody = [...namesInBody(contentType, body), ...addedNames(body), ...(nests ? nestedNames(contentType, body) : [])]
  const names = [...new Set([...named, ...inBody.filter((name) => !again.has(name))])]
  if (names.length > mostNames) throw tooManyNames()
  return names
}

/** Returns true if a request names a model in its path or body, where its provider reads it. Most providers do not read a query. */
export const namesModelItself = ({ path, contentType, body }: Omit<NamingRequest, 'nests'>): boolean =>
  modelInPath(path) !== null || namesInBody(contentType, body).length > 0

/** Returns true if the query of a path names a model. */
export const namesModelInQuery = (path: string): boolean => namesInQuery(path).length > 0

function namesInBody(contentType: string, { kind, bytes, json }: RequestBody): readonly string[] {
  if (bytes === null) return []
  if (kind === 'bytes') return namesInBytes(contentType, bytes)
  if (!isFields(json)) return []
  const found = existingPaths(json, bodyPlaces, mostPlaces)
  if (found === null) throw tooManyPlaces()
  return [...stringsOf(bytes, isModelKey), ...found.map((place) => valueAt(json, place)).filter((name) => typeof name === 'string')]
}

/** Returns the models among the fields for single formats, and those of tools and plugins, which may have models at any depth. */
function addedNames({ json }: RequestBody): readonly string[] {
  if (!isFields(json)) return []
  const names: string[] = []
  const all = sentFields(json)
  for (const fields of all) if (fields !== json) names.push(...namesInFields(fields))
  const tools = toolsOf(json)
  for (const tool of tools) names.push(...ownNames(tool))
  const extensions = [...tools.filter((tool) => !isOwnTool(tool)), ...all.flatMap(({ plugins }) => listOf(plugins))]
  return [...names, ...namesWithin(extensions)]
}

function namesInFields(fields: Fields): readonly string[] {
  const found = existingPaths(fields, bodyPlaces, mostPlaces)
  if (found === null) throw tooManyPlaces()
  return [...ownNames(fields), ...found.map((place) => valueAt(fields, place)).filter((name) => typeof name === 'string')]
}

function ownNames(fields: Fields): readonly string[] {
  const names: string[] = []
  for (const key in fields) if (typeof fields[key] === 'string' && isModelKey(key)) names.push(fields[key])
  return names
}

const tooManyPlaces = () =>
  new ApiError('invalid_request', 'The models that this body names cannot be determined: it has too many tools or requests.', {
    param: 'body',
  })

/** Returns the models that stand anywhere in a JSON body, or in the session of a form, as OpenAI's realtime calls have it. */
function nestedNames(contentType: string, { kind, bytes, json }: RequestBody): readonly string[] {
  if (kind === 'json') return namesWithin(json)
  if (kind !== 'bytes' || bytes === null || !isForm(contentType)) return []
  return formValues(bytes, contentType, { field: 'session', longest: longestSession }).flatMap((text) => {
    const session = parsedSession(text)
    return isFields(session) ? stringsOf(Buffer.from(text), isModelKey).concat(namesWithin(session)) : []
  })
}

const longestSession = 1024 * 1024

function parsedSession(text: string): unknown {
  try {
    return parseJson(Buffer.from(text))
  } catch {
    throw new ApiError('invalid_request', 'The models of this form cannot be determined: its session is no JSON that Gatehouse reads.', {
      param: 'session',
    })
  }
}

/** The parts of a body that hold texts of people or models, or data of the caller's own. */
const contents: ReadonlySet<string> = new Set([
  'messages',
  'contents',
  'metadata',
  'attributes',
  'item',
  'sample',
  'functionDeclarations',
  'function_declarations',
  'toolSpec',
])
/** The settings of a realtime session have an object of this name. */
const isInput = (key: string, value: unknown, depth: number): boolean => key === 'input' && (depth === 0 || Array.isArray(value))
const deepest = 12

function namesWithin(json: unknown): readonly string[] {
  const names: string[] = []
  let left = mostPlaces
  const look = (value: Parts, depth: number): void => {
    if (depth > deepest) return
    for (const [key, child] of Object.entries<unknown>(value)) {
      left -= 1
      if (left < 0) throw tooManyPlaces()
      if (typeof child === 'string') {
        if (isModelKey(key)) names.push(child)
      } else if (hasParts(child) && !contents.has(key) && !isInput(key, child, depth)) {
        if (namesModels.test(key)) names.push(...Object.values<unknown>(child).filter((name) => typeof name === 'string'))
        look(child, depth + 1)
      }
    }
  }
  if (hasParts(json)) look(json, 0)
  return names
}

type Parts = Fields | readonly unknown[]
const hasParts = (value: unknown): value is Parts => isFields(value) || Array.isArray(value)

function namesInBytes(contentType: string, bytes: Buffer): readonly string[] {
  if (isForm(contentType)) return formValues(bytes, contentType, { field: modelField })
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
