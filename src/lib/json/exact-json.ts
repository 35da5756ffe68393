import { parseAnswer } from './json.ts'

/**
 * JSON that JavaScript cannot hold: integers above 2^53, `1.0`, and keys such as `"1"`, which move to the front of an object. Values that were read
 * from such a text remember it, and are written as it. A copied or changed value is new and remembers no text.
 */
interface Source {
  readonly text: string
  readonly start: number
  readonly end: number
}

/**
 * The property that holds the text of a value. No copy has it, because it is not enumerable, and no writer of JSON reads it. A weak map would keep
 * what requests have left behind until the next full collection, and stop the process for seconds then.
 */
const source = Symbol('source')

interface ValueWithSource {
  readonly [source]?: Source
}

const sourceOf = (value: object): Source | undefined => (value satisfies ValueWithSource as ValueWithSource)[source]

/** False until the first text of the process is remembered: until then no value is looked up. */
let remembers = false

const isHeld = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Signs of numbers or keys that change on their way through JavaScript. They may stand in a text, too. */
const suspect = /[:,[\s]-?(?:\d{16}|\d+\.(?:\d*0(?!\d)|\d{15})|\d+(?:\.\d+)?[eE])|-0[,\]}\s]|"\d+"\s*:/

/** Returns the value of a JSON text, which is written again as it came. Throws `SyntaxError`. */
export function parseExact(text: string): unknown {
  const value = parseAnswer(text)
  if (isHeld(value) && suspect.test(text)) new Marker(text, null).walk(value)
  return value
}

/** The same for a text that need not be JSON; undefined: it is none. */
export function exactOrUndefined(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

/** Makes the values within a value remember the text from which all were read. The value itself would keep the whole text for a number of its own. */
export function rememberExact(value: unknown, text: string): void {
  if (isHeld(value) && suspect.test(text)) new Marker(text, value).walk(value)
}

/** Returns a value as JSON, with all digits and in the order of the texts that its parts were read from. */
export function exactJson(value: unknown): string {
  if (!remembers || !isHeld(value)) return JSON.stringify(value)
  const holders = new Set<object>()
  return findHolders(value, holders) ? write(value, holders) : JSON.stringify(value)
}

/** Collects the values within which something remembers its text. */
function findHolders(value: unknown, holders: Set<object>): boolean {
  if (!isHeld(value)) return false
  if (sourceOf(value) !== undefined) return true
  let found = false
  for (const child of Array.isArray(value) ? value : Object.values(value)) if (findHolders(child, holders)) found = true
  if (found) holders.add(value)
  return found
}

function write(value: unknown, holders: ReadonlySet<object>): string {
  if (!isHeld(value)) return JSON.stringify(value) ?? 'null'
  const told = sourceOf(value)
  if (told !== undefined) return compactJson(told.text.slice(told.start, told.end))
  if (!holders.has(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((child) => write(child, holders)).join(',')}]`
  const fields = Object.entries(value).filter(([, child]) => child !== undefined)
  return `{${fields.map(([name, child]) => `${JSON.stringify(name)}:${write(child, holders)}`).join(',')}}`
}

/** Returns a JSON text without the white space between its tokens: lines may not break where it goes. */
function compactJson(text: string): string {
  if (!/\s/.test(text)) return text
  let compact = ''
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at)
    const end = quote === -1 ? text.length : quote
    compact += text.slice(at, end).replaceAll(/\s+/g, '')
    if (quote === -1) break
    at = endOfString(text, quote)
    compact += text.slice(quote, at)
  }
  return compact
}

/** The index behind the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1
    if (backslashes % 2 === 0) return end + 1
  }
  return text.length
}

/** An object or a list whose text is walked through. */
interface Open {
  readonly value: unknown
  readonly start: number
  readonly isList: boolean
  /** How many keys, or items, have come. */
  count: number
  /** The key of the value that comes. */
  key: string
  /** True if a string that comes is a key. */
  awaitsKey: boolean
  /** True if JavaScript changes one of its own keys or numbers. */
  isLossy: boolean
  /** True if a key stands twice in it: then the text holds more than the parsed value. */
  isDouble: boolean
  /** The number of values that were found before it. */
  readonly found: number
  /** True if it remembers its text in place of the values within it. */
  isWhole: boolean
}

/** A value of a text that is to remember it. */
interface ValueSource extends Source {
  readonly value: object
}

/**
 * So many values remember one text; of more, a value above them remembers it in their place. The collector of V8 takes seconds for weak tables with a
 * million entries.
 */
const mostFound = 4096
/** A value above fewer values does not stand in for them: parts of a request are moved by themselves. */
const leastWithin = 64

const isIndex = (key: string): boolean => /^(?:0|[1-9]\d{0,9})$/.test(key)

/** Walks through a text beside its value. A class, because it keeps its place. */
class Marker {
  readonly #text: string
  /** The value that remembers no text. */
  readonly #except: object | null
  readonly #open: Open[] = []
  readonly #found: ValueSource[] = []
  #at = 0

  constructor(text: string, except: object | null) {
    this.#text = text
    this.#except = except
  }

  walk(root: object): void {
    const text = this.#text
    while (this.#at < text.length) {
      const char = text.charCodeAt(this.#at)
      if (char === 0x22) this.#string()
      else if (char === 0x7b || char === 0x5b) this.#begin(root, char === 0x5b)
      else if (char === 0x7d || char === 0x5d) this.#end()
      else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) this.#number()
      else {
        if (char === 0x2c) this.#next()
        this.#at += 1
      }
    }
    this.#remember()
  }

  #remember(): void {
    for (const { value, text, start, end } of this.#found)
      Object.defineProperty(value, source, { value: { text, start, end }, configurable: true })
    if (this.#found.length > 0) remembers = true
  }

  #string(): void {
    const start = this.#at
    this.#at = endOfString(this.#text, start)
    const open = this.#open.at(-1)
    if (open === undefined || !open.awaitsKey) return
    const text = this.#text.slice(start + 1, this.#at - 1)
    open.key = text.includes('\\') ? String(JSON.parse(`"${text}"`)) : text
    open.awaitsKey = false
    open.count += 1
    if (isIndex(open.key)) open.isLossy = true
  }

  #begin(root: object, isList: boolean): void {
    const parent = this.#open.at(-1)
    const value = parent === undefined ? root : childOf(parent)
    this.#open.push({
      value,
      start: this.#at,
      isList,
      count: 0,
      key: '',
      awaitsKey: !isList,
      isLossy: false,
      isDouble: false,
      found: this.#found.length,
      isWhole: parent?.isWhole === true,
    })
    this.#at += 1
  }

  #next(): void {
    const open = this.#open.at(-1)
    if (open === undefined) return
    if (open.isList) open.count += 1
    else open.awaitsKey = true
  }

  #number(): void {
    const start = this.#at
    while (this.#at < this.#text.length && isOfNumber(this.#text.charCodeAt(this.#at))) this.#at += 1
    const open = this.#open.at(-1)
    if (open === undefined || open.isLossy) return
    const token = this.#text.slice(start, this.#at)
    if (String(Number(token)) !== token) open.isLossy = true
  }

  #end(): void {
    this.#at += 1
    const closed = this.#open.pop()
    if (closed === undefined) return
    const { value, isList, count } = closed
    const isOf = isHeld(value) && Array.isArray(value) === isList
    if (!isList && isOf && Object.keys(value).length !== count) closed.isDouble = true
    const parent = this.#open.at(-1)
    if (parent !== undefined) parent.isDouble ||= closed.isDouble
    if (isOf && (closed.isLossy || closed.isWhole) && !closed.isDouble) this.#find(value, closed.start)
  }

  /** Takes a value that has ended for one that remembers its text, unless one above it does. */
  #find(value: object, start: number): void {
    if (value === this.#except) return
    if (this.#found.length >= mostFound) this.#makeRoom()
    if (this.#found.length >= mostFound || this.#open.at(-1)?.isWhole === true) return
    this.#found.push({ value, text: this.#text, start, end: this.#at })
  }

  /** The innermost value above very many of those that were found stands in for them. */
  #makeRoom(): void {
    const at = this.#open.findLastIndex(({ found, value }) => this.#found.length - found > leastWithin && value !== this.#except)
    const whole = this.#open.slice(at === -1 ? this.#open.length : at)
    for (const one of whole) one.isWhole = true
    this.#found.length = whole[0]?.found ?? this.#found.length
  }
}

const isOfNumber = (char: number): boolean =>
  (char >= 0x30 && char <= 0x39) || char === 0x2d || char === 0x2b || char === 0x2e || char === 0x45 || char === 0x65

function childOf({ value, isList, count, key }: Open): unknown {
  if (!isHeld(value) || Array.isArray(value) !== isList) return undefined
  const found: unknown = Reflect.get(value, isList ? count : key)
  return found
}
