import { namesInOrder } from './names-in-order.ts'

/** Most bytes of one UTF-16 unit: an escape such as `\u001f`. */
const mostBytes = 6
/** A longer text is written by the runtime: from there on its call costs less than a loop. */
const longest = 200
const smallest = 64 * 1024
const largestKept = 1024 * 1024
const most31 = 0x7f_ff_ff_ff

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const zero = 0x30
const openings = { '[': 0x5b, '{': 0x7b } as const
const closings = { ']': 0x5d, '}': 0x7d } as const

/**
 * Writes JSON as UTF-8 into memory that it keeps, as `JSON.stringify` would write it, but without a text in between: writing a request leaves no
 * garbage to collect. Commas come by themselves.
 */
export class JsonWriter {
  readonly #reserved: number
  readonly #isOrdered: boolean
  #bytes = Buffer.allocUnsafeSlow(smallest)
  #end: number
  #follows = false

  /** `reserved`: so many bytes before the first value are left to the caller. `isOrdered`: the members of every object stand in order. */
  constructor({ reserved = 0, isOrdered = false }: { readonly reserved?: number; readonly isOrdered?: boolean } = {}) {
    this.#reserved = reserved
    this.#isOrdered = isOrdered
    this.#end = reserved
  }

  /** The memory, of which the bytes before `end` are written. Valid until something is written. */
  get bytes(): Buffer {
    return this.#bytes
  }

  get end(): number {
    return this.#end
  }

  /** Begins anew. Memory beyond 1 MiB is given back. */
  reset(): void {
    if (this.#bytes.length > largestKept) this.#bytes = Buffer.allocUnsafeSlow(smallest)
    this.#end = this.#reserved
    this.#follows = false
  }

  open(bracket: keyof typeof openings): void {
    this.#separate()
    this.#bytes[this.#end++] = openings[bracket]
    this.#follows = false
  }

  close(bracket: keyof typeof closings): void {
    this.#room(1)
    this.#bytes[this.#end++] = closings[bracket]
    this.#follows = true
  }

  /** Writes a member of the open object; skips it if the value is undefined. */
  member(name: string, value: unknown): void {
    if (value === undefined) return
    this.#separate()
    this.#text(name)
    this.#bytes[this.#end++] = colon
    this.#follows = false
    this.value(value)
  }

  /** Writes any JSON value. Throws as `JSON.stringify` does for other values. */
  value(value: unknown): void {
    this.#separate()
    if (typeof value === 'string') this.#text(value)
    else if (typeof value === 'number') this.#number(value)
    else if (value === null || value === undefined) this.#ascii('null')
    else if (typeof value === 'boolean') this.#ascii(value ? 'true' : 'false')
    else if (Array.isArray(value)) this.#list(value)
    else if (isPlain(value)) this.#object(value)
    else this.raw(JSON.stringify(value))
  }

  /** Ends a line, so that the next value begins without a comma. */
  line(): void {
    this.#room(1)
    this.#bytes[this.#end++] = 0x0a
    this.#follows = false
  }

  /** Writes text as it is. */
  raw(text: string): void {
    // UTF-8 needs at most three bytes for one UTF-16 unit.
    this.#room(text.length * 3)
    this.#end += this.#bytes.write(text, this.#end, 'utf8')
  }

  #list(values: readonly unknown[]): void {
    this.#bytes[this.#end++] = openings['[']
    this.#follows = false
    for (let at = 0; at < values.length; at += 1) this.value(values[at])
    this.close(']')
  }

  #object(value: Readonly<Record<string, unknown>>): void {
    this.#bytes[this.#end++] = openings['{']
    this.#follows = false
    if (this.#isOrdered) for (const name of namesInOrder(value)) this.member(name, value[name])
    else for (const name in value) if (Object.hasOwn(value, name)) this.member(name, value[name])
    this.close('}')
  }

  /** Makes room for a value of a few bytes, and writes the comma before it. */
  #separate(): void {
    this.#room(32)
    if (this.#follows) this.#bytes[this.#end++] = comma
    this.#follows = true
  }

  #room(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#end + bytes))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }

  #text(text: string): void {
    if (text.length > longest) return this.raw(JSON.stringify(text))
    this.#room((text.length + 1) * mostBytes)
    const bytes = this.#bytes
    let end = this.#end
    bytes[end++] = quote
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code < 0x20 || code > 0x7e || code === quote || code === 0x5c) return this.raw(JSON.stringify(text))
      bytes[end++] = code
    }
    bytes[end++] = quote
    this.#end = end
  }

  #ascii(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.#bytes[this.#end++] = text.charCodeAt(at)
  }

  #number(value: number): void {
    const thousands = Math.round(value * 1000)
    if (value >= 0 && value <= most31 && Number.isInteger(value)) this.#digits(value, 1)
    else if (value > most31 && Number.isSafeInteger(value)) this.#long(value)
    else if (value > 0 && thousands <= most31 && thousands / 1000 === value) this.#thousandths(thousands)
    else this.#ascii(Number.isFinite(value) ? String(value) : 'null')
  }

  /** Writes an integer of more than 31 bits. */
  #long(value: number): void {
    const upper = Math.floor(value / 1e9)
    this.#digits(upper, 1)
    this.#digits(value - upper * 1e9, 9)
  }

  /** Writes a number with up to three decimals, as durations are. */
  #thousandths(thousands: number): void {
    const whole = Math.floor(thousands / 1000)
    this.#digits(whole, 1)
    this.#bytes[this.#end++] = 0x2e
    this.#digits(thousands - whole * 1000, 3)
    while (this.#bytes[this.#end - 1] === zero) this.#end -= 1
  }

  /** Writes an integer of at most 31 bits in at least `least` digits. */
  #digits(value: number, least: number): void {
    let count = 1
    for (let rest = value; rest >= 10; rest = Math.trunc(rest / 10)) count += 1
    if (count < least) count = least
    let rest = value
    for (let at = this.#end + count - 1; at >= this.#end; at -= 1) {
      const tenth = Math.trunc(rest / 10)
      this.#bytes[at] = zero + rest - tenth * 10
      rest = tenth
    }
    this.#end += count
  }
}

/** Returns true for objects whose members are all that they are. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
