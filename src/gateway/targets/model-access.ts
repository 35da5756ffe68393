import { ApiError } from '../../lib/errors.ts'
import { modelInPath, modelNames, namesModelInQuery, namesModelItself, type NamingRequest } from '../dialects/model-names.ts'
import { modelOf, type RequestBody } from '../wire/body.ts'
import { isForm } from '../wire/form.ts'
import { choosesDeployment } from './azure-deployment.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import type { ModelRules } from './provider-view.ts'
import { conversations } from '../operations/operations.ts'
import type { MatchedOperation } from '../operations/match.ts'
import type { Call } from '../call.ts'
import { refuseUnseenModels } from './unseen-models.ts'
import type { Target } from './target.ts'

/** A request as the models of a provider are looked for in it. */
export interface ModelRequest extends NamingRequest {
  readonly method: string | undefined
  readonly operation: MatchedOperation
}

type AskingCall = Pick<Call, 'upstreamPath' | 'operation' | 'work'> & {
  readonly exchange: Pick<Call['exchange'], 'method'>
  readonly headers: Pick<CallerHeaders, 'contentType'>
}

/** Returns the request from which the model of a call with this body is read. */
export const modelRequest = ({ exchange, upstreamPath, operation, headers, work }: AskingCall, body: RequestBody): ModelRequest => ({
  method: exchange.method,
  path: upstreamPath,
  contentType: headers.contentType,
  operation,
  body,
  nests: work === null || !holdsWords(work),
})

/** What a model of Bedrock's is asked may be a conversation too. */
const holdsWords = ({ task, dialect }: NonNullable<Call['work']>): boolean =>
  (task !== null && conversations.has(task)) || dialect === 'bedrock'

/** Returns whether a body must be read for the model that it names: a form, when only some models may be used, or it decides the target. */
export const readsForm = (target: Target, headers: CallerHeaders): boolean =>
  isForm(headers.contentType) && (isRestricted(target) || choosesDeployment(target))

/** Returns true if only some models of a target may be used. */
export const isRestricted = ({ view }: Target): boolean => (view?.models ?? null) !== null

/** Refuses a body that cannot be read, because it may name any model. */
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
  const names = namesIn(target, request)
  const refused = names.find((name) => !mayUse(rules, name))
  if (refused !== undefined) throw disabled(target, refused)
  if (!rules.allowAll && runsModel(request) && !isNamed(target, request)) throw unnamed(target)
  refuseUnseenModels({
    because: `The models of @${slugOf(target)} are restricted`,
    body: request.body,
    namesOne: namesPlainly(request),
    takesJobs: false,
  })
  const host = names.map((name) => rules.named.get(name)?.customHost ?? null).find((url) => url !== null) ?? null
  return host === null ? target : { ...target, customHost: { url: host, param: 'custom_host' } }
}

/** Returns true if a request names a model where its provider reads it. All other names only forbid: a provider that reads none of them runs another model. */
const isNamed = (target: Target, request: ModelRequest): boolean =>
  isPlain(target.model) || namesModelItself(request) || (readsQuery(target, request) && namesModelInQuery(request.path))

/** Returns true if a request has its model where every provider reads it. */
export const namesPlainly = ({ body, path }: ModelRequest): boolean => isPlain(modelOf(body.json) ?? modelInPath(path))

const slugOf = ({ view }: Target): string => view?.slug ?? ''

const isPlain = (model: string | null): boolean => model !== null && model !== ''

/** Deepgram has all but sound and text in the query, and OpenAI the model of a connection that is made by WebRTC. */
const readsQuery = ({ provider }: Target, { path }: ModelRequest): boolean =>
  provider.readsQuery === true || /\/realtime\/?(?:\?|$)/.test(path)

/** Returns the models that a request names, the one of its target first. */
export const namesIn = (target: Target, request: ModelRequest): readonly string[] => withModelOf(target, modelNames(request))

/** Adds the model by which the target was found, unless it is among the names: Google's bodies write the model of the path as `models/…`. */
const withModelOf = ({ model }: Target, names: readonly string[]): readonly string[] =>
  model === null || names.includes(model) || names.includes(model.replace(/^models\//, '')) ? names : [model, ...names]

/** The same for a body that was changed since: the model that is sent counts, and its host. */
export const admitChanged = (target: Target, request: ModelRequest): Target =>
  admitModel({ ...target, model: modelOf(request.body.json) ?? target.model, customHost: ownHost(target) }, request)

function ownHost({ view, customHost }: Target): Target['customHost'] {
  if (view === null) return customHost
  return view.customHost === null ? null : { url: view.customHost, param: 'custom_host' }
}

export const mayUse = ({ allowAll, named }: ModelRules, name: string): boolean => named.get(name)?.enabled ?? (allowAll && !leadsOn(name))

/** Settings at OpenRouter, which have a model of their own. */
const leadsOn = (name: string): boolean => name.includes('@preset/')

/** The operations that post something without running a model. */
const runsNone: ReadonlySet<string> = new Set(['uploadFile', 'createBatch', 'cancelBatch', 'cancelFinetune'])

const runsModel = ({ method, operation: { name } }: ModelRequest): boolean =>
  (method === 'POST' && !runsNone.has(name)) || name === 'connectRealtime'

/** Throws `forbidden` for a model that a target may not be asked for. */
export function demandModel(target: Target, name: string): void {
  const rules = target.view?.models ?? null
  if (rules !== null && !mayUse(rules, name)) throw disabled(target, name)
}

const disabled = ({ view }: Target, model: string) =>
  new ApiError('forbidden', `The model ${JSON.stringify(model.slice(0, 100))} is disabled for the provider @${view?.slug}.`, {
    param: 'model',
  })

const unnamed = ({ view }: Target) =>
  new ApiError('forbidden', `The provider @${view?.slug} serves only the models that are enabled for it, and this request names none.`, {
    param: 'model',
  })
