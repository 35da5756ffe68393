import { exactJson } from '../../lib/json/exact-json.ts'
import { TranslatedAnswer, type TranslatedAnswerOptions } from '../answers/translated-answer.ts'
import { noUnused, type UnusedAnswer } from '../answers/unused-answer.ts'
import { HostedAnswer } from '../answers/hosted-answer.ts'
import type { AimedCall, Call } from '../call.ts'
import type { TokenUsage } from '../dialects/neutral/token-usage.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { plainTraits } from '../dialects/traits.ts'
import type { Steps } from '../dialects/steps.ts'
import { type Translation, translate } from '../dialects/translate.ts'
import { wayBack } from '../dialects/way-back.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { hostedBody } from '../dialects/anthropic/hosted.ts'
import { Loss } from '../dialects/neutral/loss.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { type AskedOfCall, conversationOf } from '../operations/conversation.ts'
import { serves, spokenAt } from '../providers/endpoint.ts'
import { type ServedOperation, servingOf } from '../providers/serving.ts'
import { bend, bendingOf, inItsNames, namesOtherwise } from '../providers/quirks.ts'
import { cannotBeAsked, refuseOperation } from '../targets/refuse-operation.ts'
import type { RequestBody } from '../wire/body.ts'
import { hasHeader, headersWithout, headerValues } from '../wire/header-list.ts'
import { modelOf } from '../wire/body.ts'
import { isAtVendor, ownBody, ownFields, ownJson, type BodyReading } from './own-body.ts'
import { fieldsOf } from '../outgoing/prepare.ts'
import { noTerms, responseTerms, type TermsOptions } from './response-terms.ts'

/** A request in the words of its provider, and the way of its answer back. */
export interface TranslatedCall {
  /** The provider's own endpoint; a template as in the catalogue. */
  readonly path: string
  /** Its host, when that is another one of the provider's; absent or null: that of the provider. */
  readonly baseUrl?: string | null
  /** The model as the path wants it. */
  readonly model: string | null
  readonly body: RequestBody
  /** Absent: JSON. */
  readonly contentType?: string
  /** More headers for the provider, flat. */
  readonly headers: readonly string[]
  /** How its answer is reached where that takes several steps. */
  readonly steps?: Steps
  /** True if both speak one dialect, and only the address differs: the caller's headers go on, but those that are given anew. */
  readonly sameDialect: boolean
  /** The caller's headers that do not go on although both speak one dialect; absent: none. */
  readonly without?: RegExp
  /** True if a stream is asked for. */
  readonly stream: boolean
  /** True if the answer is a response that Gatehouse keeps, since its provider keeps none. */
  readonly keeps: boolean
  /** The fields that were dropped, in the caller's words. */
  readonly dropped: readonly string[]
  /** Returns the translator of the provider's answer into the caller's. */
  answerFor(inner: EgressHandler): EgressHandler
  /** The tokens that the answer used; null: not known. */
  usage(): TokenUsage | null
  /** The provider's answers that may cost although the caller got an error, or nothing; none: the attempt has one answer, which is charged as it came. */
  unused(): readonly UnusedAnswer[]
  /** The error of the provider in its own words; null: it gave none. */
  providerError(): string | null
  /** Forgets the timers of its answer, which has ended. Returns the milliseconds after which the head of its stream went out without any content; null: it did not. */
  close(): number | null
}

export interface TranslationOptions extends TermsOptions {
  /** So much of an answer that is no stream is held. */
  readonly maxHeldBytes: number
  /** The longest wait for the first content of a stream until its head goes on; null: any. */
  readonly opensAfterMs: number | null
}

/** Translates a call whose target speaks another dialect than the caller. Null: it does not, or the call is no conversation. Throws `invalid_request`. */
export function translateCall(aimed: AimedCall, options: TranslationOptions): TranslatedCall | null {
  const { call } = aimed
  const asked = conversationOf(call)
  if (asked === null) return null
  const serving = servingFor(aimed, asked)
  if (serving === null) {
    refuseForeignPath(aimed, asked)
    return call.previousResponse === null ? withoutOthers(aimed, asked) : ownContinuation(aimed)
  }
  if (serving.dialect !== asked.dialect) return translateTo(aimed, { asked, serving }, options)
  const isItsOwnPath = call.operation.name === 'proxy' && serving.traits.host === 'own'
  return isItsOwnPath ? atItsOwnPath(aimed, asked) : atItsHost(aimed, { asked, serving })
}

/** Refuses a conversation at a path of Google's clients, which is no operation, where the target surely has none. */
function refuseForeignPath({ call, target }: AimedCall, { operation, dialect }: AskedOfCall): void {
  if (call.operation.name === 'proxy' && cannotBeAsked(target, { dialect, path: call.upstreamPath })) refuseOperation(target, operation)
}

interface AskedAndServed {
  readonly asked: AskedOfCall
  readonly serving: ServedOperation
}

/** Translates a call for a conversation to the words in which it is served. Null: they are not translated. Throws `invalid_request`. */
export function translateTo(aimed: AimedCall, { asked, serving }: AskedAndServed, options: TranslationOptions): TranslatedCall | null {
  const { call, target, body } = aimed
  const { provider, providerId } = target
  const { dialect } = asked
  if (!isFields(body.json)) return null
  const terms = dialect === 'openai-responses' ? responseTerms(aimed, serving.model, options) : noTerms
  const translation = translate(
    {
      dialect,
      body: body.json,
      model: serving.model ?? '',
      stream: asked.stream,
      requestId: call.exchange.requestId,
      strict: isStrict(call),
      ...terms.asked,
    },
    { dialect: serving.dialect, provider: providerId, traits: serving.traits, ...bendingOf(provider.quirks) },
  )
  if (translation === null) return null
  const { request, encoded } = translation
  const json = encoded.body
  const bytes = Buffer.from(exactJson(json))
  return {
    path: request.stream ? serving.streamPath : serving.path,
    model: serving.model,
    body: { kind: 'json', bytes, json, stream: null, length: bytes.length },
    headers: encoded.headers,
    sameDialect: false,
    stream: request.stream,
    keeps: terms.keeps,
    dropped: translation.loss.dropped,
    ...(translation.provider.steps !== undefined && { steps: translation.provider.steps(request) }),
    ...answersOf(translation, { maxHeldBytes: options.maxHeldBytes, framing: asked.framing, opensAfterMs: options.opensAfterMs }),
  }
}

/** Returns how the target serves a conversation otherwise than the caller asks for it; null: it serves it so, or not at all. */
export function servingFor({ call, target, body }: AimedCall, { operation, dialect, model }: AskedOfCall): ServedOperation | null {
  const { provider } = target
  const fields = fieldsOf(target)
  const spoken = call.operation.name === operation ? spokenAt(provider, operation, fields) : null
  const named = model ?? target.model ?? modelOf(body.json)
  const serving = servingOf(provider, { operation, dialect, model: named, fields, options: optionsIn(body.json) })
  return spoken !== null && serves(spoken, named) && serving?.dialect === spoken.dialect ? null : serving
}

const optionsIn = (json: unknown): unknown => (isFields(json) ? json['provider_options'] : undefined)

/**
 * Returns a request for a provider in its own dialect, without the parts of others that its client carries, and a prompt in this provider's form;
 * null: it goes on as it is. A caller's own parameters get the provider's names for them, and stay its to judge.
 */
function withoutOthers(aimed: AimedCall, { dialect }: AskedOfCall): TranslatedCall | null {
  const { call, target, body } = aimed
  const { provider, model } = target
  const { bytes, json } = body
  if (isOwnGateway(target, dialect) || bytes === null || !isFields(json)) return null
  const loss = lossOf(aimed)
  const reading = { dialect, to: { traits: { ...plainTraits, ...provider.traits }, model }, atVendor: isAtVendor(target), loss }
  const isChanged =
    isBent(aimed, json, dialect) || Object.hasOwn(json, 'provider_options') || ownFields[dialect]?.mayHold(bytes, reading) === true
  if (!isChanged) return null
  const spoken = spokenAt(provider, call.operation.name, fieldsOf(target))
  if (spoken === null) return null
  const plain = ownJson(bent(aimed, json, reading), bytes, reading)
  if (plain === json) return null
  const way = { path: withMore(spoken.path, call.upstreamPath), model, stream: json['stream'] === true }
  return { ...unchanged({ ...body, json: plain, bytes: Buffer.from(exactJson(plain)) }, way), dropped: loss.dropped }
}

/** Returns true if a call goes to a host of the caller's own that speaks as OpenAI does, and that may be a gateway itself. */
const isOwnGateway = ({ providerId, customHost }: AimedCall['target'], dialect: DialectId): boolean =>
  ownFields[dialect]?.staysAtOwnHosts === true && customHost !== null && providerId === 'openai'

/** Returns true if the provider may take a body otherwise than it stands there. Only a prompt's is made here, the parameters of others are renamed. */
function isBent({ call, target }: AimedCall, json: Fields, dialect: DialectId): boolean {
  const { quirks } = target.provider
  return quirks !== undefined && (call.prompt !== null || (dialect === 'openai-chat' && namesOtherwise(json, quirks)))
}

function bent(aimed: AimedCall, json: Fields, { dialect, loss }: BodyReading): Fields {
  const { call, target } = aimed
  const { quirks = {} } = target.provider
  if (!isBent(aimed, json, dialect)) return json
  return call.prompt === null ? inItsNames(json, quirks) : bend(json, quirks, { loss, nameOf: (parameter) => parameter })
}

/** Returns a kept conversation for a provider that has responses itself: it cannot read reasoning that others sealed. */
function ownContinuation({ call, target, body }: AimedCall): TranslatedCall | null {
  const { provider, model } = target
  const spoken = spokenAt(provider, call.operation.name, fieldsOf(target))
  if (spoken === null || !isFields(body.json)) return null
  const json = withoutReasoning(body.json)
  const { stream } = json
  return unchanged({ ...body, json, bytes: Buffer.from(exactJson(json)) }, { path: spoken.path, model, stream: stream === true })
}

/** Returns a request for a response without the reasoning that stands in its input. */
export function withoutReasoning(body: Fields): Fields {
  const { input } = body
  const items: readonly unknown[] = Array.isArray(input) ? input : []
  return { ...body, input: items.filter((item) => !isFields(item) || item['type'] !== 'reasoning') }
}

interface Way {
  readonly path: string
  readonly model: string | null
  readonly stream: boolean
}

/** Returns a request in the caller's dialect, whose answer goes on as it comes. */
export const unchanged = (body: RequestBody, way: Way): TranslatedCall => ({
  ...way,
  body: { ...body, length: body.bytes?.length ?? null },
  headers: [],
  sameDialect: true,
  keeps: false,
  dropped: [],
  answerFor: (inner) => inner,
  usage: () => null,
  unused: () => noUnused,
  providerError: () => null,
  close: () => null,
})

/** Returns a request at a path of the provider's own, without the fields for others; null: it holds none, and goes on as it is. */
function atItsOwnPath(aimed: AimedCall, asked: AskedOfCall): TranslatedCall | null {
  const { call, target, body } = aimed
  const loss = lossOf(aimed)
  const to = { traits: plainTraits, model: asked.model ?? target.model }
  const plain = ownBody(body, { dialect: asked.dialect, to, atVendor: isAtVendor(target), loss })
  if (plain === body) return null
  const way = { path: literal(call.upstreamPath), model: target.model, stream: asked.stream ?? false }
  return { ...unchanged(plain, way), dropped: loss.dropped }
}

/** Returns the losses of a call, none of which has come yet. */
export const lossOf = ({ call, target }: AimedCall): Loss => new Loss({ names: {}, provider: target.providerId, strict: isStrict(call) })

/**
 * Returns a request for a cloud that serves the caller's own dialect at another address. The cloud's own parts of the answer get the form of the
 * dialect.
 */
function atItsHost(aimed: AimedCall, { asked, serving }: AskedAndServed): TranslatedCall | null {
  const { call, target, body: sent } = aimed
  const { dialect, traits, path, streamPath, model } = serving
  const loss = lossOf(aimed)
  const body = ownBody(sent, { dialect, to: serving, atVendor: isAtVendor(target), loss })
  if (!isFields(body.json)) return null
  const streams = asked.stream ?? body.json['stream'] === true
  const way = { path: streams ? streamPath : path, model, stream: streams }
  if (dialect === 'google') return { ...unchanged(body, { ...way, path: withSearch(way.path, call.upstreamPath) }), dropped: loss.dropped }
  if (dialect !== 'anthropic') return { ...unchanged(body, way), dropped: loss.dropped }
  const hosted = hostedBody(body.json, { host: traits.host, betas: headerValues(call.headers.forward, betaHeader), loss })
  const json = hosted.body
  const bytes = json === body.json ? body.bytes : Buffer.from(exactJson(json))
  const { requestId } = call.exchange
  return {
    ...unchanged({ ...body, json, bytes }, way),
    ...(hosted.betas !== undefined && { without: isBetaHeader, headers: hosted.betas === null ? [] : [betaHeader, hosted.betas] }),
    dropped: loss.dropped,
    answerFor: (inner) => new HostedAnswer(inner, requestId),
  }
}

const betaHeader = 'anthropic-beta'
const isBetaHeader = /^anthropic-beta$/

/** Returns a path with the query of the caller, which sets the framing of a stream. */
function withSearch(path: string, asked: string): string {
  const at = asked.indexOf('?')
  return (path.split('?', 1)[0] ?? path) + (at === -1 ? '' : literal(asked.slice(at)))
}

/** Returns a path with the query of the caller behind its own, which may hold the version of an API. */
function withMore(path: string, asked: string): string {
  const at = asked.indexOf('?')
  return at === -1 ? path : path + (path.includes('?') ? '&' : '?') + literal(asked.slice(at + 1))
}

/** Returns a text of the caller for a template, in which no part of it is filled. */
export const literal = (text: string): string => text.replaceAll('{', '%7B')

/** Returns true if no field may be dropped: the caller asks for it, or the config, which a caller that is bound to it cannot loosen. */
export function isStrict({ headers, config }: Call): boolean {
  const asked = headers.service.get('strict-translation')?.toLowerCase()
  if (asked === 'true') return true
  return config !== null && config.strictTranslation && (config.locked || asked !== 'false')
}

function answersOf(
  translation: Translation,
  held: Pick<TranslatedAnswerOptions, 'maxHeldBytes' | 'framing' | 'opensAfterMs'>,
): Pick<TranslatedCall, 'answerFor' | 'usage' | 'unused' | 'providerError' | 'close'> {
  let answer: TranslatedAnswer | null = null
  return {
    answerFor(inner) {
      const { client, provider, encoded } = translation
      answer = new TranslatedAnswer({
        inner,
        client,
        provider,
        context: translation.answerContext(Math.floor(Date.now() / 1000)),
        back: wayBack(encoded.memory),
        ...held,
        now: Date.now,
      })
      return answer
    },
    usage: () => answer?.usage ?? null,
    unused: () => (answer === null || answer.refused === null ? noUnused : [answer.refused]),
    providerError: () => answer?.providerError ?? null,
    close: () => answer?.close() ?? null,
  }
}

/** Headers of one vendor's clients, which mean nothing to another, and those that ask for compressed answers. */
const foreign = /^(?:anthropic-|openai-|x-stainless-|accept-encoding$|content-type$)/

/** Returns the caller's headers for a provider that speaks another dialect. */
export const translatedHeaders = (
  forward: readonly string[],
  { headers, contentType, sameDialect, without }: TranslatedCall,
): readonly string[] =>
  sameDialect
    ? without === undefined
      ? forward
      : headersWithout(forward, (name) => without.test(name)).concat(headers)
    : headersWithout(forward, (name) => foreign.test(name) || hasHeader(headers, name)).concat(
        'content-type',
        contentType ?? 'application/json',
        'accept-encoding',
        'identity',
        headers,
      )
