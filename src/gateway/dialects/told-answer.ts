import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { PlaceListener } from '../wire/json-places.ts'
import { bareCounts, usageNames } from './answer-places.ts'
import { drawnOf } from './openai-responses/drawn.ts'
import { isSold } from './openai-responses/sold-tools.ts'
import type { DrawnImages } from './neutral/drawn.ts'

/** The facts at the places of an answer, as far as its cost depends on them. */
export interface ToldAnswer {
  /** The provider's own usage object; of several the later ones win, field by field. Null: there is none. */
  readonly usage: Fields | null
  /** Null: the answer does not name it. */
  readonly model: string | null
  /** As the provider writes it; null: the answer does not state it. */
  readonly tier: string | null
  /** The calls of tools that the provider ran and sells. */
  readonly items: readonly Fields[]
  /** The images that another model drew for it; null: there are none. */
  readonly drawn: DrawnImages | null
  /** The searches on which it rests. */
  readonly searches: number
  readonly restsOnMaps: boolean
  /** The searches in the caller's own data. */
  readonly retrievals: number
  readonly images: number
  readonly size: string | null
  readonly quality: string | null
  /** Seconds of sound. */
  readonly duration: number | null
  /** True if it came as JSON, or as a stream of it. */
  readonly isJson: boolean
  /** True if its JSON is whole. */
  readonly isWhole: boolean
  /** True if its stream came to the end that its format has. */
  readonly hasEnded: boolean
}

/** The facts of an answer without any. */
export const toldNothing: ToldAnswer = {
  usage: null,
  model: null,
  tier: null,
  items: [],
  drawn: null,
  searches: 0,
  restsOnMaps: false,
  retrievals: 0,
  images: 0,
  size: null,
  quality: null,
  duration: null,
  isJson: false,
  isWhole: false,
  hasEnded: false,
}

/** More calls of tools than this are in no answer. */
const mostItems = 10_000
const lastEvents: ReadonlySet<string> = new Set(['message_stop', 'response.completed', 'response.incomplete', 'response.failed'])
const partialImages: ReadonlySet<string> = new Set(['image_generation.partial_image', 'image_edit.partial_image'])

/** The usage objects under one name: a stream names its input first and its output last. */
interface UsageObjects {
  readonly first: string
  last: string
}

/** The facts so far, beside the counts. */
interface FactsSoFar {
  readonly texts: Map<string, string>
  tier: string | null
  searches: number
  restsOnMaps: boolean
  retrievals: number
  /** In the event, or the whole answer, that is being read. */
  images: number
  type: string
  hasFinished: boolean
  /** The usage of the model that drew images. */
  drawnBy: Fields | null
}

const last = (name: string) => (said: FactsSoFar, json: string) => {
  const text = textOf(json)
  if (text !== null) said.texts.set(name, text)
}
const first = (name: string) => (said: FactsSoFar, json: string) => {
  if (!said.texts.has(name)) last(name)(said, json)
}

/** The ways in which the values under each name are taken. */
const takers: Readonly<Record<string, (said: FactsSoFar, json: string) => void>> = {
  model: first('model'),
  modelVersion: first('modelVersion'),
  size: last('size'),
  quality: last('quality'),
  duration: last('duration'),
  tier: (said, json) => (said.tier = tierIn(json) ?? said.tier),
  type: (said, json) => (said.type = json.slice(1, -1)),
  image: (said) => (said.images += 1),
  maps: (said) => (said.restsOnMaps = true),
  finish: (said) => (said.hasFinished = true),
  drawn: (said, json) => (said.drawnBy = fieldsOf(json) ?? said.drawnBy),
  retrievals: (said, json) => (said.retrievals = lengthOf(json) || said.retrievals),
  queries: (said, json) => (said.searches = lengthOf(json) || said.searches),
}

/** Collects the facts of an answer. A class, because it gets one value at a time. */
export class AnswerFacts implements PlaceListener {
  readonly #counted = new Map<string, UsageObjects>()
  readonly #bare: Record<string, unknown> = {}
  readonly #items = new Map<unknown, Fields>()
  #item: Record<string, unknown> | null = null
  readonly #said: FactsSoFar = {
    texts: new Map(),
    tier: null,
    searches: 0,
    restsOnMaps: false,
    retrievals: 0,
    images: 0,
    type: '',
    hasFinished: false,
    drawnBy: null,
  }
  #images = 0

  value(name: string, json: string): void {
    const take = takers[name]
    if (take === undefined) this.#count(name, json)
    else take(this.#said, json)
  }

  #count(name: string, json: string): void {
    if (this.#item !== null && name.startsWith('item.')) this.#item[name.slice(5)] = jsonOrUndefined(json)
    else if (bareCounts.has(name)) this.#bare[name] = jsonOrUndefined(json)
    else if (json.startsWith('{')) {
      const held = this.#counted.get(name)
      if (held === undefined) this.#counted.set(name, { first: json, last: json })
      else held.last = json
    }
  }

  opens(name: string): void {
    if (name === 'item') this.#item = {}
  }

  closes(name: string): void {
    if (name === 'item') this.#endItem()
  }

  ends(): void {
    const said = this.#said
    if (said.images > 0 && !partialImages.has(said.type)) this.#images += said.images
    if (lastEvents.has(said.type)) said.hasFinished = true
    said.images = 0
    said.type = ''
  }

  /** A stream adds to an item later. */
  #endItem(): void {
    const item = this.#item
    this.#item = null
    if (item === null || !isSold(item) || this.#items.size >= mostItems) return
    this.#items.set(item['id'] ?? item, nested(item))
  }

  /** Returns the facts so far; an incomplete item counts as far as it came. */
  told({ isJson, isWhole, isDone }: Pick<ToldAnswer, 'isJson' | 'isWhole'> & { readonly isDone: boolean }): ToldAnswer {
    this.#endItem()
    this.ends()
    const { texts, tier, searches, restsOnMaps, retrievals, hasFinished, drawnBy } = this.#said
    const items = [...this.#items.values()]
    const duration = Number(texts.get('duration') ?? NaN)
    return {
      usage: this.#usage(),
      model: texts.get('model') ?? texts.get('modelVersion') ?? null,
      tier,
      items,
      drawn: drawnOf(items, drawnBy),
      searches,
      restsOnMaps,
      retrievals,
      images: this.#images,
      size: texts.get('size') ?? null,
      quality: texts.get('quality') ?? null,
      duration: Number.isFinite(duration) ? duration : null,
      isJson,
      isWhole,
      hasEnded: isDone || hasFinished,
    }
  }

  #usage(): Fields | null {
    for (const name of usageNames) {
      const held = this.#counted.get(name)
      if (held === undefined) continue
      const merged = merge(held.first === held.last ? [held.last] : [held.first, held.last])
      if (merged !== null) return merged
    }
    return Object.keys(this.#bare).length === 0 ? null : this.#bare
  }
}

/** Null overrides no value: an answer that grows names some counts only once. */
function merge(texts: readonly string[]): Fields | null {
  const objects = texts.map((text) => jsonOrUndefined(text)).filter(isFields)
  const [before, after] = objects
  if (before === undefined || after === undefined) return before ?? null
  const merged: Record<string, unknown> = { ...before }
  for (const [name, value] of Object.entries(after)) if (value !== null) merged[name] = value
  return merged
}

/** Returns an item as it was written, of which fields of objects came by their paths. */
function nested(item: Fields): Fields {
  const { 'action.type': action, 'environment.type': environment, ...flat } = item
  return {
    ...flat,
    ...(action !== undefined && { action: { type: action } }),
    ...(environment !== undefined && { environment: { type: environment } }),
  }
}

const longestText = 255

/** Returns a text, or a number as one; null for all else, and for one that is empty or too long. */
function textOf(json: string): string | null {
  if (json.length > longestText + 2) return null
  if (!json.startsWith('"')) return /^\d/.test(json) ? json : null
  const text = json.includes('\\') ? jsonOrUndefined(json) : json.slice(1, -1)
  return typeof text === 'string' && text !== '' ? text : null
}

/** Converse writes its tier as an object: `{"type":"flex"}`. */
function tierIn(json: string): string | null {
  if (!json.startsWith('{')) return textOf(json)
  const tier = jsonOrUndefined(json)
  return isFields(tier) && typeof tier['type'] === 'string' ? tier['type'] : null
}

function fieldsOf(json: string): Fields | null {
  const fields = jsonOrUndefined(json)
  return isFields(fields) ? fields : null
}

function lengthOf(json: string): number {
  const list = jsonOrUndefined(json)
  return Array.isArray(list) ? list.length : 0
}
