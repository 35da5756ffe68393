import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { PlaceListener } from '../wire/json-places.ts'
import { bareCounts, usageNames } from './answer-places.ts'
import { soldItems } from './openai-responses/sold-tools.ts'

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
  /** The searches on which it rests. */
  readonly searches: number
  readonly restsOnMaps: boolean
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
  searches: 0,
  restsOnMaps: false,
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
  /** In the event, or the whole answer, that is being read. */
  images: number
  type: string
  hasFinished: boolean
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
    images: 0,
    type: '',
    hasFinished: false,
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
    if (item === null || soldItems[String(item['type'])] === undefined || this.#items.size >= mostItems) return
    this.#items.set(item['id'] ?? item, { ...item, ...('action.type' in item && { action: { type: item['action.type'] } }) })
  }

  /** Returns the facts so far; an incomplete item counts as far as it came. */
  told({ isJson, isWhole, isDone }: Pick<ToldAnswer, 'isJson' | 'isWhole'> & { readonly isDone: boolean }): ToldAnswer {
    this.#endItem()
    this.ends()
    const { texts, tier, searches, restsOnMaps, hasFinished } = this.#said
    const duration = Number(texts.get('duration') ?? NaN)
    return {
      usage: this.#usage(),
      model: texts.get('model') ?? texts.get('modelVersion') ?? null,
      tier,
      items: [...this.#items.values()],
      searches,
      restsOnMaps,
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

function lengthOf(json: string): number {
  const list = jsonOrUndefined(json)
  return Array.isArray(list) ? list.length : 0
}
