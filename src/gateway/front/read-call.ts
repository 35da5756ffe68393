import { ApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { namesNoTarget } from '../targets/addressing.ts'
import { admitChanged, admitModel, isForm, modelRequest, readsForm, refuseUnreadable } from '../targets/model-access.ts'
import {
  type BodyOptions,
  isJsonType,
  isReadableJson,
  mayHoldWords,
  modelOf,
  readBody,
  replaceModel,
  type RequestBody,
} from '../wire/body.ts'
import { changeBody } from '../config/change-body.ts'
import { readsBody } from '../checks/plan.ts'
import { validateBody, validateQuery } from './bounds/validate.ts'
import type { ChosenConfig } from '../config/choose.ts'
import type { PromptSource } from '../prompts/prompt-source.ts'
import type { ProviderSource } from '../targets/provider-view.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import { keyInQuery, withoutKeySegments } from '../callers/own-keys.ts'
import { type MatchedOperation, matchOperation } from './match.ts'
import { checkDebug, known, type Progress } from '../progress.ts'
import { type FormModel, noFormModel, takeModelOfForm } from './form-model.ts'
import { takeModelOfPath, withoutSlugOfPath } from './google-key.ts'
import { expandPrompt } from '../prompts/expand.ts'
import { signsBody } from '../attempts/prepare.ts'
import type { GatewaySettings } from '../settings.ts'
import { resolveTarget, type Target } from '../targets/target.ts'

export interface ReadDeps {
  readonly snapshot: ProviderSource & PromptSource
  readonly settings: GatewaySettings
}

/** A slash and a dot as one server or another reads them: plain, percent-encoded once or more often, in an overlong UTF-8. */
const slash = String.raw`[/\\]|%(?:25)*(?:2f|5c|c0%(?:25)*af)`
const dot = String.raw`\.|%(?:25)*(?:2e|c0%(?:25)*ae)`
/** What some servers cut a segment off at before they look for dots: `/..;a/`. */
const segmentEnd = String.raw`;|%(?:25)*(?:3b|3f|23|00|09|20)`

/** A segment `.` or `..`, by which a server would climb out of the base path. */
const dotSegment = new RegExp(`(?:^|${slash})(?:${dot}){1,2}(?:${slash}|${segmentEnd}|$)`, 'i')

/** No TRACE among them: a server that honours it would show the caller the stored credential. */
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])

/** What can be said of a request before its body is read: its path, its operation, its query. */
export function checkRequestLine(progress: Progress): void {
  const at = progress.path.indexOf('?')
  const path = at === -1 ? progress.path : progress.path.slice(0, at)
  const { method = 'GET' } = progress.exchange.req
  if (!methods.has(method)) throw new ApiError('method_not_allowed', `${method} is not passed on. These are: ${[...methods].join(', ')}.`)
  if (path === '/' || path === '')
    throw new ApiError('not_found', 'There is nothing at this path. Append the path of a provider endpoint to the base URL.')
  if ((path.includes('.') || path.includes('%')) && dotSegment.test(path))
    throw new ApiError('invalid_request', 'The path must not hold the segments "." or "..".', { param: 'path' })
  progress.operation = matchOperation(method, path)
  refuseOwnKey(progress, path)
  checkDebug(known(progress.headers))
  if (progress.operation.name !== 'proxy') validateQuery(progress.operation.name, at === -1 ? '' : progress.path.slice(at + 1))
}

/** A key of ours would go to the provider, and into its logs; ours keep the path without it. */
function refuseOwnKey(progress: Progress, path: string): void {
  const caller = known(progress.caller)
  const search = progress.path.slice(path.length)
  const param = search === '' ? null : keyInQuery(search.slice(1), caller)
  const kept = withoutKeySegments(path, caller)
  if (param === null && kept === path) return
  progress.path = kept + (param === null ? search : '?[removed]')
  const where = param === null ? 'path' : 'query'
  throw new ApiError('invalid_request', `A Gatehouse key must not stand in the ${where}. Put it in x-service-api-key.`, {
    param: param ?? 'path',
  })
}

/**
 * Reads the body and finds where it goes. A JSON body is read first, because it may name the target; any other is opened after
 * the target is known, and held only when the credential signs it.
 */
export async function readAndResolve(deps: ReadDeps, progress: Progress): Promise<void> {
  const headers = known(progress.headers)
  const modelOfPath = takeModelOfPath(progress)
  if (progress.operation.name === 'promptComplete') {
    progress.body = await read(deps, progress)
    checkBody(deps, progress, progress.body)
    progress.body = changed(await expandPrompt(deps, progress), progress)
    progress.target = await resolve(deps, progress, modelOf(progress.body.json))
  } else if (isReadableJson(headers)) {
    progress.body = changed(await read(deps, progress), progress)
    checkBody(deps, progress, progress.body)
    progress.target = await resolve(deps, progress, modelOfPath ?? modelOf(progress.body.json))
  } else {
    const reads = progress.guardrails !== null && readsBody(progress.guardrails)
    if (reads) refuseEncoded(headers)
    const form = modelOfPath === null ? await modelOfForm(progress) : noFormModel
    progress.target = await resolve(deps, progress, modelOfPath ?? form.model)
    refuseUnreadable(progress.target, headers)
    progress.body = changed(await read(deps, progress, { ...holding(deps, progress, reads), shortenedBy: form.shortenedBy }), progress)
    checkBody(deps, progress, progress.body)
  }
  assertServed(progress.target, progress.operation)
  if (modelOfPath !== null) progress.body = withoutSlugOfPath(progress.body, modelOfPath)
  progress.body = withPlainModel(progress.body, progress.target)
  progress.target = admitModel(progress.target, modelRequest(progress, known(progress.body)))
}

/** What guardrails made of the body may name another model than the one that was admitted. */
export function admitAgain(progress: Progress): void {
  progress.target = admitChanged(known(progress.target), modelRequest(progress, known(progress.body)))
}

/** A guardrail reads what is sent; what it cannot read, nobody may send past it. */
function refuseEncoded({ contentEncoding }: CallerHeaders): void {
  if (contentEncoding === '') return
  throw new ApiError('unsupported_media_type', 'Guardrails read this request: send its body without content-encoding.', {
    param: 'content-encoding',
  })
}

const changed = (body: RequestBody, { config }: Progress): RequestBody =>
  config === null || config.changes === null ? body : changeBody(body, config.changes)

/** A form is looked into when nothing else names its target. */
const modelOfForm = ({ exchange, headers, config }: Progress): MaybePromise<FormModel> =>
  isForm(known(headers)) && known(headers).contentEncoding === '' && namesNoTarget(known(headers), config)
    ? takeModelOfForm(exchange.req, known(headers).contentType)
    : noFormModel

type Holding = Pick<BodyOptions, 'maxHeldBytes' | 'letsLongOnesPass' | 'shortenedBy'>

/** How much is held of a body that is no JSON. Of uploads guardrails read what is held anyhow, or is no longer than other bodies may be. */
function holding({ settings }: ReadDeps, { target, headers }: Progress, reads: boolean): Holding {
  const { contentType } = known(headers)
  if (readsForm(known(target), known(headers))) return { maxHeldBytes: settings.maxUploadBytes }
  if (signsBody(known(target).provider)) return { maxHeldBytes: settings.maxJsonBytes }
  return { maxHeldBytes: reads ? settings.maxJsonBytes : 0, letsLongOnesPass: !mayHoldWords(contentType) }
}

async function read({ settings }: ReadDeps, progress: Progress, held: Holding = { maxHeldBytes: 0 }): Promise<RequestBody> {
  const { contentType, contentEncoding } = known(progress.headers)
  const { maxJsonBytes, maxUploadBytes } = settings
  const body = await readBody(progress.exchange.req, { contentType, contentEncoding, maxJsonBytes, maxUploadBytes, ...held })
  if (body.kind === 'json' && contentEncoding !== '') progress.headers = withoutEncoding(known(progress.headers))
  return body
}

/** Of a body that was unfolded to be read the plain bytes go on. */
const withoutEncoding = (headers: CallerHeaders): CallerHeaders => ({
  ...headers,
  contentEncoding: '',
  forward: headers.forward.filter((_, at, all) => all[at - (at % 2)]?.toLowerCase() !== 'content-encoding'),
})

function resolve({ snapshot, settings }: ReadDeps, progress: Progress, model: string | null): Promise<Target> {
  const storedOnly = progress.operation.spec?.virtualKey === true && settings.dedicatedValidation === 'strict'
  return resolveTarget({
    caller: known(progress.caller),
    headers: known(progress.headers),
    config: progress.config,
    promptProvider: progress.prompt?.virtualKey ?? null,
    model,
    storedOnly,
    snapshot,
    atLeast: settings.atLeast,
  })
}

/** The operations that take a JSON object; the others take multipart, or nothing. */
const jsonOperations = new Set<string>([
  'chatComplete',
  'promptComplete',
  'complete',
  'embed',
  'messages',
  'countTokens',
  'createModelResponse',
  'imageGenerate',
  'createSpeech',
  'createBatch',
  'createFinetune',
])

function checkBody({ settings }: ReadDeps, { operation, headers }: Progress, body: RequestBody): void {
  const { name, spec } = operation
  const { contentType } = known(headers)
  if (name === 'proxy' || spec === null || !jsonOperations.has(name)) return
  if (body.kind === 'none') throw new ApiError('invalid_request', `${spec.path} needs a JSON body.`, { param: 'body' })
  if (!isJsonType(contentType)) {
    const got = contentType === '' ? 'a body without content-type' : contentType
    throw new ApiError('unsupported_media_type', `${spec.path} takes application/json, not ${got}.`, { param: 'content-type' })
  }
  if (body.kind !== 'json') return
  if (!isFields(body.json)) throw new ApiError('invalid_request', 'The body must be a JSON object.', { param: 'body' })
  validateBody(name, body.json, settings.dedicatedValidation)
}

/** Takes the slug out of a model `@slug/model`, which only we understand. */
function withPlainModel(body: RequestBody, target: Target): RequestBody {
  const named = modelOf(body.json)
  if (
    !target.modelRewritten ||
    target.model === null ||
    named !== `@${target.view?.slug}/${target.model}` ||
    body.bytes === null ||
    !isFields(body.json)
  )
    return body
  const bytes = replaceModel(body.bytes, named, target.model)
  return { ...body, bytes, json: { ...body.json, model: target.model }, length: bytes.length }
}

/** Dialects whose providers have paths like ours only when they serve them; a path of any other may well be its own. */
const foreignDialects = new Set<string>(['google', 'vertex', 'bedrock', 'cohere', 'oracle'])

/** Translation between dialects will hook in here; until then a provider serves what it speaks. */
function assertServed({ provider, providerId }: Target, { name }: MatchedOperation): void {
  if (name === 'proxy' || provider.serves.includes(name) || !foreignDialects.has(provider.dialect)) return
  throw new ApiError(
    'unsupported_operation',
    `${providerId} does not speak this endpoint's format, and Gatehouse does not translate to it yet. Call the provider's own endpoint by its path instead.`,
    { param: 'x-service-provider' },
  )
}

/** `x-service-request-timeout`, in milliseconds, or else the config's, may shorten the installation's own; that of a locked config, too. */
export function requestTimeout({ service }: CallerHeaders, config: ChosenConfig | null, settings: GatewaySettings): number {
  const asked = service.get('request-timeout')
  const configured = config?.requestTimeoutMs ?? Infinity
  if (asked === undefined || asked === '') return Math.min(configured, settings.requestTimeoutMs)
  const ceiling = config?.locked === true ? Math.min(configured, settings.requestTimeoutMs) : settings.requestTimeoutMs
  if (/^[1-9]\d{0,8}$/.test(asked)) return Math.min(Number(asked), ceiling)
  throw new ApiError(
    'invalid_request',
    `x-service-request-timeout must be a whole number of milliseconds from 1 to 999999999, not ${JSON.stringify(asked.slice(0, 20))}.`,
    {
      param: 'x-service-request-timeout',
    },
  )
}
