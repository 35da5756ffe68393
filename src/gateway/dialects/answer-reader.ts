import { EventStreamReader } from '../wire/event-stream.ts'
import { JsonPlaces } from '../wire/json-places.ts'
import { SsePlaces } from '../wire/sse-places.ts'
import { answerPlaces } from './answer-places.ts'
import type { DialectId } from './dialect.ts'
import { AnswerFacts, type ToldAnswer } from './told-answer.ts'

/**
 * Reads the cost facts of an answer from its bytes as they pass: only at the places of its dialect, never from texts of the caller or the model. One
 * pass in bounded memory, and without parsing the rest. Never throws: metering may fail, the exchange may not. A class, because it keeps its place
 * between pieces.
 */
export class AnswerReader {
  readonly #facts = new AnswerFacts()
  readonly #places: JsonPlaces | null
  readonly #add: (chunk: Buffer) => void

  constructor(dialect: DialectId | null, contentType: string) {
    const framing = framingOf(contentType, dialect)
    const places = framing === null ? null : new JsonPlaces(answerPlaces(dialect, framing !== 'json'), this.#facts)
    this.#places = places
    this.#add = places === null ? ignore : adders[framing ?? 'json'](places)
  }

  add(chunk: Buffer): void {
    this.#add(chunk)
  }

  told(): ToldAnswer {
    const places = this.#places
    return this.#facts.told({
      isJson: places !== null && !places.isText,
      isWhole: places?.isWhole === true,
      isDone: places?.isDone === true,
    })
  }
}

/** Returns the cost facts of a whole JSON answer. */
export function readToldAnswer(dialect: DialectId | null, json: Buffer): ToldAnswer {
  const reader = new AnswerReader(dialect, 'application/json')
  reader.add(json)
  return reader.told()
}

type AnswerFraming = 'json' | 'lines' | 'sse' | 'event-stream'

const lineTypes = /ndjson|jsonl|json-seq|jsonlines|stream\+json/

/** Returns the framing of an answer; null: it is no JSON. A text of unknown type may be the model's own. */
function framingOf(contentType: string, dialect: DialectId | null): AnswerFraming | null {
  if (contentType.startsWith('text/event-stream')) return 'sse'
  if (contentType.startsWith('application/vnd.amazon.eventstream')) return 'event-stream'
  if (lineTypes.test(contentType)) return 'lines'
  if (contentType === '' || contentType.includes('json')) return 'json'
  return contentType.startsWith('text/') && dialect !== null && dialect !== 'audio' ? 'json' : null
}

const ignore = (): void => {}
const feeding = (places: JsonPlaces) => (chunk: Buffer) => places.feed(chunk, 0, chunk.length)

const adders: Readonly<Record<AnswerFraming, (places: JsonPlaces) => (chunk: Buffer) => void>> = {
  json: feeding,
  lines: feeding,
  sse(places) {
    const lines = new SsePlaces(places)
    return (chunk) => lines.push(chunk)
  },
  'event-stream'(places) {
    const messages = new EventStreamReader()
    return (chunk) => {
      for (const { data } of messages.push(chunk) ?? []) {
        if (data === null) continue
        const bytes = Buffer.from(innerOf(data))
        places.reset()
        places.feed(bytes, 0, bytes.length)
      }
    }
  },
}

const wrapped = /^\{(?:"p":"[^"]*",)?\s*"bytes":\s*"([A-Za-z0-9+/=]+)"/

/** Invoke wraps the events of a model's vendor. */
function innerOf(data: string): string {
  const [, bytes] = wrapped.exec(data) ?? []
  return bytes === undefined ? data : Buffer.from(bytes, 'base64').toString('utf8')
}
