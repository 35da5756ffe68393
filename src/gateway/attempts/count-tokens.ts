import { exactJson } from '../../lib/json/exact-json.ts'
import { CountAnswer } from '../answers/count-answer.ts'
import type { CachedAnswer } from '../cache/answer-store.ts'
import type { AimedCall, Call } from '../call.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { hostedBody } from '../dialects/anthropic/hosted.ts'
import { countClients, countProviders } from '../dialects/token-counts.ts'
import { translate } from '../dialects/translate.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import { isAtVendor, ownBody, ownFields } from './own-body.ts'
import { fieldsOf } from '../outgoing/prepare.ts'
import { type ServedOperation, servingOf } from '../providers/serving.ts'
import { estimateInput } from '../tokens/estimate-tokens.ts'
import { isGooglePath } from '../operations/fronts.ts'
import { googlePattern } from '../operations/google-versions.ts'
import type { Operation } from '../operations/operations.ts'
import { modelOf, type RequestBody } from '../wire/body.ts'
import { headerValues } from '../wire/header-list.ts'
import { literal, lossOf, type TranslatedCall, unchanged, withoutReasoning } from './translation.ts'

/** A count of tokens that a call asks for. */
interface AskedCount {
  /** The operation that asks for the like of it. */
  readonly operation: Operation
  readonly dialect: DialectId
  /** The model that the path names; null: the body names it. */
  readonly model: string | null
}

const ofGoogle = googlePattern(String.raw`/models/([^?]+):countTokens(?:\?|$)`)

/** Returns the count that a call asks for; null: it asks for something else. */
function countAsked({ operation, upstreamPath, exchange }: Call): AskedCount | null {
  const { name, spec } = operation
  if (name !== 'proxy' && spec?.task === 'token-count') return { operation: name, dialect: spec.dialect, model: null }
  if (spec !== null || exchange.method !== 'POST' || !isGooglePath(upstreamPath)) return null
  const [, model] = ofGoogle.exec(upstreamPath) ?? []
  return model === undefined ? null : { operation: 'countTokens', dialect: 'google', model: decodeSegment(model) }
}

/** How a count comes about: the provider's own counter is asked in its words, or the process estimates. */
export type CountedCall =
  | { readonly kind: 'asked'; readonly call: TranslatedCall }
  | { readonly kind: 'estimated'; readonly answer: CachedAnswer }

const sizeOf = ({ bytes }: RequestBody): number => bytes?.length ?? 0

/** Returns how the tokens are counted that a call asks for. Null: it asks for no count, or for one that its target gives as it is asked. */
export function countCall(aimed: AimedCall, maxHeldBytes: number): CountedCall | null {
  const { call, target, body } = aimed
  const asked = countAsked(call)
  const client = asked === null ? undefined : countClients[asked.dialect]
  if (asked === null || client === undefined || !isFields(body.json)) return null
  const model = asked.model ?? target.model ?? modelOf(body.json) ?? ''
  const serving = servingOf(target.provider, { operation: asked.operation, model, fields: fieldsOf(target) })
  const conversation = client.conversation(body.json, model)
  const own = { json: conversation, size: sizeOf(body), dialect: asked.dialect, model }
  if (serving === null) return estimate(call, client.answer(estimateInput(own), true))
  if (isAsAsked(call, asked, serving) && call.previousResponse === null) return ownCount(aimed, { asked, serving })
  return { kind: 'asked', call: askProvider(aimed, { asked, serving, conversation }, maxHeldBytes) }
}

/** Returns true if the provider itself takes the caller's body, at the path to which it goes. */
const isAsAsked = ({ operation }: Call, { dialect }: AskedCount, serving: ServedOperation): boolean =>
  serving.dialect === dialect && serving.traits.host === 'own' && (operation.name === 'proxy') === (dialect === 'google')

/**
 * Returns the caller's question, without the parts of other providers' answers that its client carries; null: there are none, and it goes on as it
 * is.
 */
function ownCount(aimed: AimedCall, { asked, serving }: Omit<CountRequest, 'conversation'>): CountedCall | null {
  const { call, target, body } = aimed
  const own = ownBody(body, { dialect: asked.dialect, to: serving, atVendor: isAtVendor(target), loss: lossOf(aimed) })
  if (own === body) return null
  const path = call.operation.name === 'proxy' ? literal(call.upstreamPath) : serving.path
  return { kind: 'asked', call: unchanged(own, { path, model: target.model, stream: false }) }
}

interface CountRequest {
  readonly asked: AskedCount
  readonly serving: ServedOperation
  readonly conversation: Readonly<Record<string, unknown>>
}

/** Returns the question to the provider's own counter: the conversation in its words, and no more of it than it counts. */
function askProvider(aimed: AimedCall, { asked, serving, conversation }: CountRequest, maxHeldBytes: number): TranslatedCall {
  const { call, target } = aimed
  const { dialect, traits, path, model } = serving
  const { requestId } = call.exchange
  const translation =
    dialect === asked.dialect
      ? null
      : translate(
          { dialect: asked.dialect, body: conversation, model: model ?? '', stream: false, requestId, strict: false },
          { dialect, provider: target.providerId, traits },
        )
  const plain = continued(call, conversation)
  const spoken = translation?.encoded.body ?? asItIs(plain, serving, aimed)
  const json = countProviders[dialect]?.ask(spoken, { model: model ?? '', host: traits.host }) ?? spoken
  const bytes = Buffer.from(exactJson(json))
  return {
    ...unchanged({ kind: 'json', bytes, json, stream: null, length: bytes.length }, { path, model, stream: false }),
    sameDialect: dialect === asked.dialect,
    answerFor: (inner) => new CountAnswer({ inner, from: dialect, to: asked.dialect, requestId, maxHeldBytes }),
  }
}

/** Returns a conversation in the provider's own dialect, as its host takes it. */
function asItIs(conversation: Fields, serving: ServedOperation, aimed: AimedCall): Fields {
  const { dialect, traits } = serving
  const loss = lossOf(aimed)
  const own = ownFields[dialect]?.without(conversation, { to: serving, atVendor: isAtVendor(aimed.target), loss }) ?? conversation
  if (dialect !== 'anthropic') return own
  return hostedBody(own, { host: traits.host, betas: headerValues(aimed.call.headers.forward, 'anthropic-beta'), loss }).body
}

/** Returns a conversation without the reasoning of a kept response, which others sealed. */
const continued = ({ previousResponse }: Call, conversation: Fields): Fields =>
  previousResponse === null ? conversation : withoutReasoning(conversation)

/** Returns a count as an answer that no provider gave. */
function estimate({ exchange }: Call, body: object): CountedCall {
  const now = Date.now()
  return {
    kind: 'estimated',
    answer: {
      status: 200,
      rawHeaders: ['content-type', 'application/json'],
      body: Buffer.from(JSON.stringify(body)),
      stream: false,
      requestId: exchange.requestId,
      createdAt: now,
      expiresAt: now,
    },
  }
}
