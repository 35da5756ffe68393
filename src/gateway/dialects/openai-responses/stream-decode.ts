import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../../lib/json/json.ts'
import type { Frame, StreamDecoder } from '../codec.ts'
import { readError } from '../error-reading.ts'
import type { NeutralEvent } from '../neutral/events.ts'
import { type Finish, finishOf } from '../neutral/finish.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { ItemDecoder } from './item-decode.ts'
import { usageOf } from './usage-decode.ts'

const ping: readonly NeutralEvent[] = [{ type: 'ping' }]
const none: readonly NeutralEvent[] = []
/** So much is held back of items that come while another is open. */
const mostHeld = 4 * 1024 * 1024

interface OpenItem {
  readonly decoder: ItemDecoder
  /** Its events while an earlier item is open. */
  readonly held: NeutralEvent[]
}

/** Reads a stream of events, and whole answers as the last one of it. A class, because it is a state machine. */
class ResponseDecoder implements StreamDecoder {
  readonly #items = new Map<number, OpenItem>()
  #state: 'before' | 'within' | 'over' = 'before'
  /** The item whose events are sent now. */
  #next = 0
  #heldSize = 0
  #called = false

  frame({ data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return ping
    const json = jsonOrUndefined(data)
    return isFields(json) ? this.event(json, data.length) : none
  }

  /** The last event ends it: a stream without it was cut. */
  end(): readonly NeutralEvent[] {
    return none
  }

  event(json: Fields, size: number): readonly NeutralEvent[] {
    const type = saidText(json, 'type') ?? ''
    const events: NeutralEvent[] = []
    const response = saidFields(json, 'response')
    if (type === 'error' || type === 'response.failed') return this.#fail(json)
    if (response !== null) this.#response(type, response, events)
    else if (typeof json['output_index'] === 'number') this.#item(type, json, { index: json['output_index'], size, events })
    if (this.#heldSize > mostHeld) return this.#fail({ error: { message: 'The provider sent too many items at once.' } })
    return events
  }

  /** Reads a whole response. */
  whole(response: Fields): readonly NeutralEvent[] {
    const status = saidText(response, 'status')
    if (saidText(response, 'object') !== 'response') return none
    if (status === 'failed' || status === 'cancelled') return this.#fail({ response })
    const events: NeutralEvent[] = []
    this.#response(status === 'incomplete' ? 'response.incomplete' : 'response.completed', response, events)
    return events
  }

  #response(type: string, response: Fields, events: NeutralEvent[]): void {
    if (this.#state === 'before') {
      this.#state = 'within'
      const { id, model, created_at: created } = response
      events.push({
        type: 'start',
        id: typeof id === 'string' ? id : null,
        model: typeof model === 'string' ? model : null,
        created: countOf(created),
      })
    }
    if (type !== 'response.completed' && type !== 'response.incomplete') return
    this.#rest(response, events)
    this.#state = 'over'
    const usage = saidFields(response, 'usage')
    if (usage !== null) events.push({ type: 'usage', usage: usageOf(usage, response), tier: saidText(response, 'service_tier') })
    events.push({ type: 'finish', choice: 0, finish: finishOfResponse(response, this.#called) }, { type: 'end' })
  }

  /** Sends the items that no event has brought. */
  #rest(response: Fields, events: NeutralEvent[]): void {
    for (const [index, item] of saidList(response, 'output').entries()) {
      const open = this.#items.get(index) ?? this.#begin(index, item)
      if (!open.decoder.isOver) open.decoder.end(item, open.held)
    }
    this.#flush(events)
  }

  #begin(index: number, item: Fields): OpenItem {
    const held: NeutralEvent[] = []
    const open = { decoder: new ItemDecoder(item, held), held }
    this.#items.set(index, open)
    if (open.decoder.isCall) this.#called = true
    return open
  }

  #item(type: string, json: Fields, { index, size, events }: { index: number; size: number; events: NeutralEvent[] }): void {
    const item = saidFields(json, 'item')
    const open = this.#items.get(index) ?? (item === null ? undefined : this.#begin(index, item))
    if (open === undefined || open.decoder.isOver) return
    if (type === 'response.output_item.done' && item !== null) open.decoder.end(item, open.held)
    else open.decoder.push(type, json, open.held)
    this.#flush(events)
    this.#heldSize = open.held.length === 0 ? 0 : this.#heldSize + size
  }

  /** Returns the events of items in their order: those of one only when all before it are whole. */
  #flush(events: NeutralEvent[]): void {
    for (let open = this.#items.get(this.#next); open !== undefined; open = this.#items.get(this.#next)) {
      events.push(...open.held.splice(0))
      if (!open.decoder.isOver) return
      this.#next += 1
    }
  }

  /** The usage of a response before its failure is charged all the same. */
  #fail(body: Fields): readonly NeutralEvent[] {
    this.#state = 'over'
    const error: NeutralEvent = { type: 'error', error: readError(0, body) }
    const response = saidFields(body, 'response')
    const usage = response === null ? null : saidFields(response, 'usage')
    return response === null || usage === null
      ? [error]
      : [{ type: 'usage', usage: usageOf(usage, response), tier: saidText(response, 'service_tier') }, error]
  }
}

function finishOfResponse(response: Fields, called: boolean): Finish {
  const reason = saidText(saidFields(response, 'incomplete_details') ?? {}, 'reason')
  if (reason === 'max_output_tokens') return finishOf('length', reason)
  if (reason === 'content_filter') return finishOf('content-filter', reason)
  if (reason !== null) return finishOf('other', reason)
  return finishOf(called ? 'tool-calls' : 'stop', saidText(response, 'status'))
}

export const streamDecoder = (): StreamDecoder => new ResponseDecoder()

/** Reads a whole answer. */
export const decodeAnswer = (json: unknown): readonly NeutralEvent[] => (isFields(json) ? new ResponseDecoder().whole(json) : none)
