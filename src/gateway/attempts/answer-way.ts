import { isFields } from '../../lib/json/fields.ts'
import { HostEvents, isChunkOfOpenai, isEventOfAnthropic } from '../answers/host-events.ts'
import { VectorAnswer } from '../answers/vector-answer.ts'
import type { AimedCall } from '../call.ts'
import type { VectorEncoding } from '../dialects/embeddings/vector-turner.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { headersWithout, type HeaderList } from '../wire/header-list.ts'
import { type TranslatedCall, translatedHeaders } from './translation.ts'

/** The encodings of vectors that a request may ask for: numbers by default. */
const encodings: Readonly<Record<string, VectorEncoding>> = { float: 'float', base64: 'base64' }

/** Returns the encoding in which a caller wants the vectors that its provider is asked for in the caller's own words; null: it asks for none. */
function askedVectors({ call: { work }, body: { json } }: AimedCall): VectorEncoding | null {
  if (work === null || work.task !== 'embedding' || work.dialect !== 'embeddings' || !isFields(json)) return null
  const asked = json['encoding_format'] ?? 'float'
  return typeof asked === 'string' && Object.hasOwn(encodings, asked) ? (encodings[asked] ?? null) : null
}

/** How an attempt asks, and how its answer comes. */
export interface AnswerWay {
  readonly forward: HeaderList
  /** Returns the handler of the provider's answer. */
  answerFor(handler: EgressHandler): EgressHandler
}

/** Returns the way of an answer; `translated` is null where the provider is asked in the caller's own words. */
export function wayOf(aimed: AimedCall, forward: HeaderList, translated: TranslatedCall | null): AnswerWay {
  if (translated !== null) {
    const plain = translated.sameDialect ? withoutHostEvents(aimed) : asItComes
    return { forward: translatedHeaders(forward, translated), answerFor: (handler) => translated.answerFor(plain(handler)) }
  }
  const vectors = askedVectors(aimed)
  if (vectors !== null) return { forward: plainly(forward), answerFor: (handler) => new VectorAnswer(handler, vectors) }
  return { forward, answerFor: withoutHostEvents(aimed) }
}

const asItComes: AnswerWay['answerFor'] = (handler) => handler
const withoutFilters: AnswerWay['answerFor'] = (handler) => new HostEvents(handler, isChunkOfOpenai)

const withoutOthers: AnswerWay['answerFor'] = (handler) => new HostEvents(handler, isEventOfAnthropic)

/** Returns the filter that takes the events of their host out of a stream in the caller's own format. */
function withoutHostEvents({ call: { work }, target: { provider, providerId } }: AimedCall): AnswerWay['answerFor'] {
  if (work === null || work.task !== 'conversation') return asItComes
  if (work.dialect === 'openai-chat') return provider.addsEvents === true ? withoutFilters : asItComes
  return work.dialect === 'anthropic' && providerId !== 'anthropic' ? withoutOthers : asItComes
}

/** Returns headers that ask for an answer which can be looked into. */
const plainly = (forward: HeaderList): HeaderList => [
  ...headersWithout(forward, (name) => name === 'accept-encoding'),
  'accept-encoding',
  'identity',
]
