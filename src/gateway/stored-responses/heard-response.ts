import { ByteList } from '../../lib/collections/byte-list.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'

/** The events of which each holds a whole response. */
const last = /event: response\.(?:completed|incomplete|failed)\n/
/** So much of the end of a chunk may be the beginning of such an event. */
const longestMark = 32

/**
 * Collects from an answer as its caller gets it, after guardrails, the response in it. Only the last event of a stream is held. A class, because it
 * is one object per answer that collects.
 */
export class HeardResponse {
  readonly #held = new ByteList()
  readonly #isStream: boolean
  #found = false
  #tail = ''

  constructor(isStream: boolean) {
    this.#isStream = isStream
  }

  add(chunk: Buffer): void {
    if (!this.#isStream || this.#found) {
      this.#held.push(chunk)
      return
    }
    const text = this.#tail + chunk.toString('latin1')
    const at = last.exec(text)
    this.#found = at !== null
    if (at !== null) this.#held.push(Buffer.from(text.slice(at.index), 'latin1'))
    else this.#tail = text.slice(-longestMark)
  }

  /** Returns the response; null when the answer was none, or not whole. */
  response(): Fields | null {
    const text = this.#held.join().toString('utf8')
    if (!this.#isStream) return responseIn(jsonOrUndefined(text))
    const data = /\ndata: (.*)\n/.exec(text)?.[1]
    const event = data === undefined ? undefined : jsonOrUndefined(data)
    return isFields(event) ? responseIn(event['response']) : null
  }
}

const responseIn = (value: unknown): Fields | null => (isFields(value) && value['object'] === 'response' ? value : null)
