import { ByteList } from '../../lib/collections/byte-list.ts'
import type { PlaceNode } from './place-tree.ts'

/** Receives the values at the places of a JSON text. */
export interface PlaceListener {
  /** A value, as its JSON text. */
  value(name: string, json: string): void
  /** Begins an object or a list that contains other places. */
  opens(name: string): void
  closes(name: string): void
  /** An object at the root has ended, or an item of the list that is the root. */
  ends(): void
}

/** Longer than any value of interest: a provider must not fill the memory. */
const longestValue = 1024 * 1024
/** No name of a place is longer. */
const longestKey = 64
/** Strings are looked through byte by byte so far, and then by leaps. */
const shortString = 32

const quote = 0x22
const backslash = 0x5c
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const [comma, colon, space] = [0x2c, 0x3a, 0x20]

/**
 * Reports the values at some places of JSON texts whose bytes come in pieces, in one pass and without parsing the rest. A class, because it keeps its
 * place between pieces.
 */
export class JsonPlaces {
  readonly #listener: PlaceListener
  readonly #root: PlaceNode
  /** The open containers that are places, or lead to some. */
  readonly #nodes: PlaceNode[] = []
  readonly #lists: boolean[] = []
  /** How many containers are open in which no place is. */
  #skipped = 0
  #inString = false
  #escaped = false
  /** The name that is being read; null: none is. */
  #key: string | null = null
  #expectsKey = false
  /** The place of the value that comes next; null: it is none. */
  #next: PlaceNode | null = null
  /** The name of the value that is being read; null: none is. */
  #name: string | null = null
  readonly #held = new ByteList()
  #from = 0
  /** True: the value is a number or a word, which the next mark ends. */
  #isBare = false
  #isDead = false
  #hasBegun = false
  /** True once a root has ended. */
  isWhole = false
  /** True once the mark came that ends streams of OpenAI's. */
  isDone = false

  constructor(root: PlaceNode, listener: PlaceListener) {
    this.#root = root
    this.#listener = listener
  }

  /** True if the bytes are no JSON, as far as they came. */
  get isText(): boolean {
    return this.#isDead && !this.#hasBegun
  }

  /** Begins anew: another frame follows. */
  reset(): void {
    if (this.#nodes.length > 0) this.#nodes.length = this.#lists.length = 0
    this.#skipped = 0
    this.#inString = this.#escaped = this.#isDead = this.#isBare = false
    this.#key = this.#next = null
    this.#drop()
  }

  /** Ends a line of a stream: no text of JSON goes on behind it, and text that is no JSON ends with it. */
  endLine(): void {
    if (this.#inString || (this.#nodes.length === 0 && this.#skipped === 0)) this.reset()
  }

  feed(bytes: Buffer, from: number, to: number): void {
    let at = from
    this.#from = from
    while (at < to && !this.#isDead) {
      if (this.#inString) at = this.#string(bytes, at, to)
      else if (this.#skipped > 0) at = this.#skip(bytes, at, to)
      else at = this.#step(bytes, at)
    }
    if (this.#name !== null) this.#hold(bytes, to)
  }

  /** Goes on in a string. Returns where its end was passed. */
  #string(bytes: Buffer, from: number, to: number): number {
    const start = this.#escaped ? from + 1 : from
    const end = stringEnd(bytes, start, to)
    this.#escaped = end === -1 && endsEscaped(bytes, start, to)
    if (this.#key !== null && this.#key.length < longestKey)
      this.#key += bytes.toString('latin1', from, Math.min(end === -1 ? to : end, from + longestKey))
    if (end === -1) return to
    this.#inString = false
    if (this.#skipped > 0) return end + 1
    if (this.#key !== null) this.#takeKey()
    else if (this.#name !== null) this.#take(bytes, end + 1)
    return end + 1
  }

  #takeKey(): void {
    const fields = this.#nodes.at(-1)?.fields ?? null
    this.#next = fields?.get(this.#key ?? '') ?? null
    this.#key = null
    this.#expectsKey = false
  }

  /** Goes on where no place is. */
  #skip(bytes: Buffer, from: number, to: number): number {
    let depth = this.#skipped
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at]
      if (byte === quote) {
        const end = stringEnd(bytes, at + 1, to)
        if (end !== -1) {
          at = end
          continue
        }
        this.#skipped = depth
        this.#inString = true
        return at + 1
      }
      if (byte === openBrace || byte === openBracket) depth += 1
      else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1
        if (depth === 0) return this.#leave(bytes, at + 1)
      }
    }
    this.#skipped = depth
    return to
  }

  #leave(bytes: Buffer, end: number): number {
    this.#skipped = 0
    if (this.#name !== null) this.#take(bytes, end)
    return end
  }

  #step(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0
    if (this.#isBare && endsBare(byte)) this.#take(bytes, at)
    if (byte === quote) this.#openString(at)
    else if (byte === openBrace || byte === openBracket) this.#open(byte === openBracket, at)
    else if (byte === closeBrace || byte === closeBracket) this.#close()
    else if (byte === comma) this.#separate()
    else if (byte > space && byte !== colon) this.#bare(byte, at)
    return at + 1
  }

  #openString(at: number): void {
    if (this.#nodes.length === 0) return this.#die()
    this.#inString = true
    if (this.#expectsKey) this.#key = ''
    else if (this.#next !== null) this.#begin(at)
  }

  #open(isList: boolean, at: number): void {
    const node = this.#nodes.length === 0 ? this.#rootNode(isList) : this.#next
    this.#hasBegun = true
    this.#next = null
    if (node === null || (isList ? node.each : node.fields) === null) {
      this.#skipped = 1
      if (node !== null && node.fields === null && node.each === null) this.#begin(at, node)
      return
    }
    this.#nodes.push(node)
    this.#lists.push(isList)
    this.#expectsKey = !isList
    if (isList) this.#next = node.each
    if (node.name !== null) this.#listener.opens(node.name)
  }

  /** A list of roots is a stream of them. */
  #rootNode(isList: boolean): PlaceNode {
    return isList ? { name: null, isMark: false, fields: null, each: this.#root } : this.#root
  }

  #close(): void {
    const node = this.#nodes.pop()
    const wasList = this.#lists.pop() ?? false
    if (node === undefined) return this.#die()
    this.#next = null
    this.#expectsKey = false
    if (node.name !== null) this.#listener.closes(node.name)
    if (this.#nodes.length === 0) this.isWhole = true
    if (node === this.#root && !wasList) this.#listener.ends()
  }

  #separate(): void {
    if (this.#nodes.length === 0) return
    const isList = this.#lists.at(-1) === true
    this.#expectsKey = !isList
    this.#next = isList ? (this.#nodes.at(-1)?.each ?? null) : null
  }

  /** A number or a word. */
  #bare(byte: number, at: number): void {
    // A byte order mark is no letter.
    if (this.#nodes.length === 0) return byte < 0x80 ? this.#die() : undefined
    if (this.#isBare) return
    if (byte === letterD && this.#nodes.length === 1 && this.#lists[0] === true) this.isDone = true
    if (this.#next === null || this.#next.isMark) return
    this.#begin(at)
    this.#isBare = this.#name !== null
  }

  /** Stops reading: bytes that are no JSON go by until another frame begins. */
  #die(): void {
    this.#isDead = true
  }

  #begin(at: number, node: PlaceNode | null = this.#next): void {
    this.#next = null
    if (node === null || node.name === null) return
    if (node.isMark) return this.#listener.value(node.name, '')
    this.#name = node.name
    this.#from = at
  }

  #hold(bytes: Buffer, to: number): void {
    if (this.#held.size <= longestValue && to > this.#from) this.#held.push(bytes.subarray(this.#from, to))
    this.#from = to
  }

  #take(bytes: Buffer, end: number): void {
    const name = this.#name
    if (name === null) return
    const json = this.#held.size === 0 ? bytes.toString('utf8', this.#from, end) : this.#joined(bytes, end)
    this.#drop()
    if (json.length <= longestValue) this.#listener.value(name, json)
  }

  #joined(bytes: Buffer, end: number): string {
    this.#hold(bytes, end)
    return this.#held.join().toString('utf8')
  }

  #drop(): void {
    this.#name = null
    this.#isBare = false
    if (this.#held.size > 0) this.#held.clear()
  }
}

const letterD = 0x44
const endsBare = (byte: number): boolean => byte === comma || byte === closeBrace || byte === closeBracket || byte <= space

/** Returns the place of the quote that ends a string; -1: it is not among these bytes. */
function stringEnd(bytes: Buffer, from: number, to: number): number {
  let at = from
  const near = Math.min(to, from + shortString)
  while (at < near) {
    const byte = bytes[at]
    if (byte === quote) return at
    at += byte === backslash ? 2 : 1
  }
  while (at < to) {
    // Not beyond the end: many short lines of one chunk would each be looked through to the end of it.
    const found = to === bytes.length ? bytes.indexOf(quote, at) : indexWithin(bytes, at, to)
    if (found === -1) return -1
    if (!isEscaped(bytes, at, found)) return found
    at = found + 1
  }
  return -1
}

function indexWithin(bytes: Buffer, from: number, to: number): number {
  const found = bytes.subarray(from, to).indexOf(quote)
  return found === -1 ? -1 : from + found
}

/** Returns true if an odd number of backslashes stands before a place; none of those before `from` belongs to it. */
function isEscaped(bytes: Buffer, from: number, place: number): boolean {
  let at = place
  while (at > from && bytes[at - 1] === backslash) at -= 1
  return (place - at) % 2 === 1
}

/** Returns true if a string goes on with a letter that is escaped. */
const endsEscaped = (bytes: Buffer, from: number, to: number): boolean => to > from && isEscaped(bytes, from, to)
