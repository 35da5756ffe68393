import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { modelOf, type RequestBody, stringsOf } from '../wire/body.ts'
import { formValues } from '../wire/form-fields.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import type { ModelRules } from './provider-view.ts'
import { type MatchedOperation, unescaped } from '../front/match.ts'
import { decodeSegment } from '../wire/decode-segment.ts'
import type { Call } from '../call.ts'
import type { Target } from './target.ts'

/** What of a request tells the model. */
export interface ModelRequest {
  readonly method: string
  /** Path and query below `/v1`. */
  readonly path: string
  readonly operation: MatchedOperation
  readonly headers: CallerHeaders
  readonly body: RequestBody
}

/** Returns what tells the model of a call with this body. */
export const modelRequest = ({ exchange, upstreamPath, operation, headers }: Call, body: RequestBody): ModelRequest => ({
  method: exchange.method,
  path: upstreamPath,
  operation,
  headers,
  body,
})

/** Whether a body must be read for the model that it names: of a form, when only some models may be used. */
export const readsForm = ({ view }: Target, headers: CallerHeaders): boolean => (view?.models ?? null) !== null && isForm(headers)

export const isForm = ({ contentType }: CallerHeaders): boolean => contentType.toLowerCase().startsWith('multipart/')

/** What cannot be read may name any model. */
export function refuseUnreadable({ view }: Target, { contentEncoding }: CallerHeaders): void {
  if ((view?.models ?? null) === null || contentEncoding === '') return
  throw new ApiError('unsupported_media_type', `The models of @${view?.slug} are restricted: send the body without content-encoding.`, {
    param: 'content-encoding',
  })
}

/** The target as its models' rules leave it: refused, at the model's own host, or as it is. Throws `forbidden`. */
export function admitModel(target: Target, request: ModelRequest): Target {
  const rules = target.view?.models ?? null
  if (rules === null) return target
  const names = [...new Set([...(target.model === null ? [] : [target.model]), ...modelsNamed(request)])]
  const refused = names.find((name) => !mayUse(rules, name))
  if (refused !== undefined) throw disabled(target, refused)
  if (names.length === 0 && !rules.allowAll && runsModel(request)) throw unnamed(target)
  const host = names.map((name) => rules.named.get(name)?.customHost ?? null).find((url) => url !== null) ?? null
  return host === null ? target : { ...target, customHost: { url: host, param: 'custom_host' } }
}

/** The same for a body that was changed since: the model that is sent counts, and its host. */
export const admitChanged = (target: Target, request: ModelRequest): Target =>
  admitModel({ ...target, model: modelOf(request.body.json) ?? target.model, customHost: ownHost(target) }, request)

function ownHost({ view, customHost }: Target): Target['customHost'] {
  if (view === null) return customHost
  return view.customHost === null ? null : { url: view.customHost, param: 'custom_host' }
}

export const mayUse = ({ allowAll, named }: ModelRules, name: string): boolean => named.get(name)?.enabled ?? allowAll

/** Every name, wherever it stands: a provider may read another of two than we do. Throws `invalid_request` for a form that no reader reads. */
export const modelsNamed = (request: ModelRequest): readonly string[] => [
  ...new Set([...modelsInPath(request.path), ...modelsInBody(request)]),
]

function modelsInBody({ headers, body: { kind, bytes, json } }: ModelRequest): readonly string[] {
  if (bytes === null) return []
  if (kind === 'bytes') return isForm(headers) ? formValues(bytes, headers.contentType, 'model') : []
  const others = isFields(json) && Array.isArray(json['models']) ? json['models'].filter((name) => typeof name === 'string') : []
  return isFields(json) ? [...stringsOf(bytes, 'model'), ...others] : []
}

/** `/models/gemini-pro:generateContent`, `/model/anthropic.claude/invoke`, `/deployments/gpt-4o/chat/completions`, `/engines/ada/completions`. */
const inPath = /\/(?:models?|deployments|endpoints|engines)\/([^/?:]+(?::\d+)?)(?=[/:?]|$)/g

function modelsInPath(path: string): readonly string[] {
  const [plain = ''] = path.split('?', 1)
  return [
    ...unescaped(plain)
      .replaceAll(/\/{2,}/g, '/')
      .matchAll(inPath),
  ].map(([, name = '']) => decodeSegment(name))
}

/** What is posted without running a model. */
const runsNone: ReadonlySet<string> = new Set(['uploadFile', 'createBatch', 'cancelBatch', 'cancelFinetune'])

const runsModel = ({ method, operation: { name } }: ModelRequest): boolean => method === 'POST' && !runsNone.has(name)

const disabled = ({ view }: Target, model: string) =>
  new ApiError('forbidden', `The model ${JSON.stringify(model.slice(0, 100))} is disabled for the provider @${view?.slug}.`, {
    param: 'model',
  })

const unnamed = ({ view }: Target) =>
  new ApiError('forbidden', `The provider @${view?.slug} serves only the models that are enabled for it, and this request names none.`, {
    param: 'model',
  })
