import type { Signature } from '../neutral/signature.ts'
import { JsonScan } from '../json-scan.ts'

/** A tool call as its pieces come. */
export interface Call {
  /** The place among the calls of the choice. */
  readonly at: number
  readonly index: number | null
  /** Empty: none came so far. */
  id: string
  name: string
  /** Arguments that were not sent on yet. */
  held: string
  signature: Signature | null
  state: 'held' | 'open' | 'over'
  told: boolean
  readonly scan: JsonScan
}

/** The calls of a choice in their order, each found again in constant time: one answer may have thousands. A class, because it keeps its indexes. */
export class CallList {
  readonly all: Call[] = []
  readonly #byId = new Map<string, Call>()
  readonly #byIndex = new Map<number, Call>()
  readonly #byBoth = new Map<string, Call>()
  /** All calls before it are open or over. */
  #firstHeld = 0

  /** Servers identify calls by index, by id, or not at all; a new id under an old index is a new call. */
  of(index: number | null, id: string): Call {
    const found = this.#find(index, id)
    if (found === undefined) return this.#add(index, id)
    this.identify(found, id)
    return found
  }

  /** Gives a call an id, unless it has one. */
  identify(call: Call, id: string): void {
    if (call.id !== '' || id === '') return
    call.id = id
    keepLater(this.#byId, id, call)
    if (call.index !== null) keepLater(this.#byBoth, `${call.index} ${id}`, call)
  }

  /** The first call that is not open yet; undefined: there is none. */
  get firstHeld(): Call | undefined {
    while (this.#firstHeld < this.all.length && this.all[this.#firstHeld]?.state !== 'held') this.#firstHeld += 1
    return this.all[this.#firstHeld]
  }

  #find(index: number | null, id: string): Call | undefined {
    if (index === null) return id === '' ? this.all.at(-1) : this.#byId.get(id)
    const last = this.#byIndex.get(index)
    return id === '' || last?.id === '' ? last : this.#byBoth.get(`${index} ${id}`)
  }

  #add(index: number | null, id: string): Call {
    const at = this.all.length
    const call: Call = { at, index, id: '', name: '', held: '', signature: null, state: 'held', told: false, scan: new JsonScan() }
    this.all.push(call)
    if (index !== null) this.#byIndex.set(index, call)
    this.identify(call, id)
    return call
  }
}

/** The later one of two calls with one key counts. */
function keepLater(calls: Map<string, Call>, key: string, call: Call): void {
  const known = calls.get(key)
  if (known === undefined || known.at < call.at) calls.set(key, call)
}
