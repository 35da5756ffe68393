/** A message that is not in the protobuf format, or not in the shape that was expected. */
export class ProtobufError extends Error {}

type Scalar = 'text' | 'hex' | 'base64' | 'varint' | 'signed' | 'bool' | 'fixed64' | 'double'

/** The fields of a message that are read, by their numbers; others are skipped. */
export interface Message {
  readonly [number: number]: Field
}

interface Field {
  /** The name in OTLP's JSON. */
  readonly name: string
  readonly type: Scalar | (() => Message)
  readonly repeated?: true
}

/** Deeper values than clients make; OTLP itself needs five levels. */
const deepest = 32
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads a protobuf message into OTLP's JSON form of it. Throws a ProtobufError. */
export function readMessage(bytes: Uint8Array, message: Message): Readonly<Record<string, unknown>> {
  return new Reader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).message(message, 0)
}

/** Wire types. */
const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  message(message: Message, depth: number): Record<string, unknown> {
    if (depth > deepest) throw new ProtobufError(`it is nested deeper than ${deepest} levels`)
    const read: Record<string, unknown> = {}
    while (this.#at < this.#bytes.length) {
      const tag = this.#varint()
      const [number, type] = [Number(tag >> 3n), Number(tag & 7n)]
      const field = message[number]
      if (field === undefined) this.#skip(type)
      else add(read, field, this.#value(field, type, depth))
    }
    return read
  }

  #value({ name, type: expected }: Field, type: number, depth: number): unknown {
    const given = typeof expected === 'function' ? wire.bytes : wireTypes[expected]
    if (given !== type) throw new ProtobufError(`${name} has the wire type ${type} instead of ${given}`)
    if (typeof expected === 'function') return new Reader(this.#take(this.#length())).message(expected(), depth + 1)
    return this.#scalar(name, expected)
  }

  #scalar(name: string, type: Scalar): unknown {
    if (type === 'bool') return this.#varint() !== 0n
    if (type === 'varint') return Number(BigInt.asUintN(32, this.#varint()))
    if (type === 'signed') return BigInt.asIntN(64, this.#varint()).toString()
    if (type === 'fixed64') return this.#take(8).readBigUInt64LE().toString()
    if (type === 'double') return this.#take(8).readDoubleLE()
    const bytes = this.#take(this.#length())
    return type === 'text' ? toText(name, bytes) : bytes.toString(type)
  }

  #varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at]
      if (byte === undefined) throw new ProtobufError('it ends within a number')
      this.#at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new ProtobufError('a number in it is longer than 64 bits')
  }

  #length(): number {
    const length = this.#varint()
    return length > BigInt(this.#bytes.length) ? this.#bytes.length + 1 : Number(length)
  }

  #take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new ProtobufError('it ends within a field')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  #skip(type: number): void {
    if (type === wire.varint) this.#varint()
    else if (type === wire.fixed64) this.#take(8)
    else if (type === wire.bytes) this.#take(this.#length())
    else if (type === wire.fixed32) this.#take(4)
    else throw new ProtobufError(`it has the wire type ${type}, which does not exist`)
  }
}

const wireTypes: Readonly<Record<Scalar, number>> = {
  text: wire.bytes,
  hex: wire.bytes,
  base64: wire.bytes,
  varint: wire.varint,
  signed: wire.varint,
  bool: wire.varint,
  fixed64: wire.fixed64,
  double: wire.fixed64,
}

function toText(name: string, bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new ProtobufError(`${name} is not UTF-8`, { cause })
  }
}

function add(read: Record<string, unknown>, { name, repeated }: Field, value: unknown): void {
  const list = read[name]
  if (repeated !== true) read[name] = value
  else if (Array.isArray(list)) list.push(value)
  else read[name] = [value]
}
