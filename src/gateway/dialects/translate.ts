import type { Fields } from '../../lib/json/fields.ts'
import type { AnswerContext, ClientCodec, EncodedRequest, ProviderCodec } from './codec.ts'
import { clientCodecOf, providerCodecOf } from './codecs.ts'
import type { DialectId } from './dialect.ts'
import { refuseForeignContent } from './leftovers.ts'
import { resultsBehindCalls } from './neutral/calls-and-results.ts'
import { isIdle } from './neutral/idle.ts'
import { Loss } from './neutral/loss.ts'
import type { NeutralRequest } from './neutral/request.ts'
import { truncateTurns } from './neutral/truncate.ts'
import { prefixFirst } from './prefix-first.ts'
import { optionsApart, withOptions } from './provider-options.ts'
import type { Traits } from './traits.ts'

/** A request for a conversation, as its caller wrote it. */
export interface AskedConversation {
  readonly dialect: DialectId
  readonly body: Fields
  /** The provider's name of the model. */
  readonly model: string
  /** Whether a stream is asked for, where the path decides it and not the body; null: the body decides. */
  readonly stream: boolean | null
  readonly requestId: string
  /** True if no field may be dropped. */
  readonly strict: boolean
  /** The most tokens that the model takes, where the request asks to be made shorter than that; absent: it stays as long as it is. */
  readonly truncateTo?: number
  /** Facts of the request that its answer repeats beside those of the body. */
  readonly echo?: Fields
}

/** The other end of a translated conversation. */
export interface SpokenConversation {
  readonly dialect: DialectId
  /** For messages: the provider's name. */
  readonly provider: string
  readonly traits: Traits
  /**
   * Returns a body as this one provider of the dialect takes it, and reports the losses; absent: it takes all of the dialect. Fields that the caller
   * gives in the provider's own words stay as they are.
   */
  readonly bend?: (body: Fields, request: NeutralRequest, loss: Loss) => Fields
}

/** A request in its provider's words, with the state by which its answer is read and written. */
export interface Translation {
  readonly client: ClientCodec
  readonly provider: ProviderCodec
  readonly request: NeutralRequest
  readonly encoded: EncodedRequest
  readonly loss: Loss
  answerContext(nowSeconds: number): AnswerContext
}

/**
 * Translates a request. Null: both speak the same dialect, so that the caller's own bytes go on, or one of them speaks none that is
 * translated. Throws `invalid_request` that names the field whose meaning would be lost.
 */
export function translate(asked: AskedConversation, spoken: SpokenConversation): Translation | null {
  const [client, provider] = [clientCodecOf(asked.dialect), providerCodecOf(spoken.dialect)]
  if (asked.dialect === spoken.dialect || client === null || provider === null) return null
  const { model, requestId } = asked
  const { traits } = spoken
  const { body, options } = optionsApart(asked.body)
  const decoded = client.request.decode(body)
  const echo = asked.echo === undefined ? decoded.echo : { ...decoded.echo, ...asked.echo }
  const whole = { ...decoded, turns: resultsBehindCalls(decoded.turns), model, echo, stream: asked.stream ?? decoded.stream }
  const request = asked.truncateTo === undefined ? whole : truncateTurns(whole, asked.truncateTo)
  const loss = new Loss({ names: client.names, provider: spoken.provider, strict: asked.strict, isIdle: (field) => isIdle(request, field) })
  for (const value of request.chosen) loss.note(value)
  refuseForeignContent(request, provider, loss)
  const written = provider.request.encode(request, { model, traits, loss })
  const encoded = spoken.bend === undefined ? written : { ...written, body: spoken.bend(written.body, request, loss) }
  return {
    client,
    provider,
    request,
    encoded: { ...encoded, body: prefixFirst(withOptions(encoded.body, options, spoken.dialect), spoken.dialect) },
    loss,
    answerContext: (now) => ({ request, memory: encoded.memory, requestId, now, model: asked.model, traits }),
  }
}
