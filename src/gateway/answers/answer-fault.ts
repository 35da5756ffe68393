import { jsonOrUndefined } from '../../lib/json/json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Call } from '../call.ts'
import { type AnswerContext, noMemory, type StreamDecoder } from '../dialects/codec.ts'
import { providerCodecOf } from '../dialects/codecs.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { NeutralEvent } from '../dialects/neutral/events.ts'
import { emptyRequest } from '../dialects/neutral/request.ts'
import { type ProviderError, readProviderError } from '../dialects/provider-error.ts'
import { cutFrames, dataOf } from '../wire/sse.ts'
import { plainTraits } from '../dialects/traits.ts'
import { conversations, type Task } from '../operations/operations.ts'

/** The work that an answer belongs to. */
export interface AnsweredWork {
  readonly dialect: DialectId | null
  readonly task: Task | null
}

/** Returns the work that the answer to a call belongs to. */
export const answeredWork = ({ operation: { spec }, work }: Pick<Call, 'operation' | 'work'>): AnsweredWork => ({
  dialect: spec?.dialect ?? work?.dialect ?? null,
  task: work?.task ?? null,
})

/** Why an answer with the status of a success is none. */
export interface AnswerFault {
  /** The status that it stands for. */
  readonly status: number
  readonly message: string
  /** The provider's own words; null: it gave none. */
  readonly error: ProviderError | null
}

/** An answer of a provider that is no answer of its API stands for this status. */
const noAnswerStatus = 502

const noAnswer = (message: string): AnswerFault => ({ status: noAnswerStatus, message, error: null })
const errorFault = (error: ProviderError): AnswerFault => ({
  status: error.status ?? noAnswerStatus,
  message: 'The provider answered with an error in the form of a success.',
  error,
})

/** The lists in which formats without conversations return their results. */
const lists: Readonly<Partial<Record<DialectId, string>>> = {
  completions: 'choices',
  embeddings: 'data',
  images: 'data',
  moderations: 'results',
}

export interface WholeBody {
  /** Without a content encoding. */
  readonly bytes: Buffer
  /** The content type in lower case. */
  readonly contentType: string
}

/** Returns the reason why a whole answer is none; null: it is one, or it cannot be decided. */
export function faultOfWhole({ bytes, contentType }: WholeBody, work: AnsweredWork): AnswerFault | null {
  if (isMedia(contentType)) return null
  const text = bytes.toString('utf8')
  if (text.trim() === '') return noAnswer('The answer of the provider is empty.')
  if (contentType.startsWith('text/html') || isPage.test(text)) return noAnswer('The provider answered with a page in place of an answer.')
  const json = jsonOrUndefined(text)
  if (json === undefined) return contentType.includes('json') ? noAnswer('The answer of the provider is no JSON.') : null
  const error = readProviderError(json)
  if (error !== null) return errorFault(error)
  return faultOfJson(json, work)
}

/** Returns true for the type of bytes without text: whether they are an answer cannot be decided. */
export const isMedia = (contentType: string): boolean => /^(?:audio|image|video)\/|^application\/octet-stream/.test(contentType)

const isPage = /^\s*<(?:!doctype|html)\b/i

function faultOfJson(json: unknown, { dialect, task }: AnsweredWork): AnswerFault | null {
  if (dialect === null || task === null) return null
  // A stream of Google's may be one array.
  if (Array.isArray(json)) return json.length === 0 ? nothingSaid : null
  const list = lists[dialect]
  if (list !== undefined) return isFields(json) && hasEntries(json, list) ? null : nothingSaid
  const codec = conversations.has(task) ? providerCodecOf(dialect) : null
  if (codec === null) return null
  return faultOfEvents(codec.answer.decode(json, contextOf(dialect)))
}

const nothingSaid = noAnswer('The answer of the provider is not one of its API.')

function hasEntries(json: Fields, list: string): boolean {
  const entries = json[list]
  return Array.isArray(entries) && entries.length > 0 && !entries.every((entry) => isFields(entry) && entry['finish_reason'] === 'error')
}

function faultOfEvents(events: readonly NeutralEvent[]): AnswerFault | null {
  const last = events.at(-1)
  if (last?.type === 'error') return { status: last.error.status, message: last.error.message, error: null }
  return events.some(says) ? null : nothingSaid
}

/** Returns true for an event with a part of the answer for the client. */
const says = ({ type }: NeutralEvent): boolean => type !== 'start' && type !== 'usage' && type !== 'ping' && type !== 'end'

const contextOf = (dialect: DialectId): AnswerContext => ({
  request: emptyRequest(dialect),
  memory: noMemory,
  requestId: '',
  now: 0,
  model: '',
  traits: plainTraits,
})

/** Reads the beginning of a stream, to decide whether it is an answer. A class, because it keeps its place between frames. */
export class StreamJudge {
  readonly #decoder: StreamDecoder | null
  #says = false

  constructor({ dialect, task }: AnsweredWork) {
    const codec = dialect === null || task === null || !conversations.has(task) ? null : providerCodecOf(dialect)
    this.#decoder = dialect === null ? null : (codec?.stream.decoder(contextOf(dialect)) ?? null)
  }

  /** Takes the data of a frame. Returns the reason why the stream is no answer; null: no sign of that. */
  frame(data: string): AnswerFault | null {
    if (this.#decoder === null) this.#says = true
    return this.#take(this.#decoder?.frame({ name: null, data }) ?? [])
  }

  /** Returns why a stream that has ended is no answer. */
  end(): AnswerFault | null {
    const fault = this.#take(this.#decoder?.end() ?? [])
    return fault ?? (this.#says ? null : silent)
  }

  #take(events: readonly NeutralEvent[]): AnswerFault | null {
    const last = events.at(-1)
    if (last?.type === 'error') return { status: last.error.status, message: last.error.message, error: null }
    this.#says ||= events.some(says)
    return null
  }
}

/** Returns why a whole stream is no answer. */
export function faultOfStream(bytes: Buffer, work: AnsweredWork): AnswerFault | null {
  const judge = new StreamJudge(work)
  for (const frame of cutFrames(bytes)) {
    const fault = judge.frame(dataOf(frame))
    if (fault !== null) return fault
  }
  return judge.end()
}

const silent = noAnswer('The provider ended its stream before any content.')
