import { crc32 } from 'node:zlib'
import { ByteList } from '../../lib/collections/byte-list.ts'

/** One message of AWS's event streams. */
export interface EventStreamMessage {
  /** The type of the event; of an exception with `exception:` in front. Null: it has none. */
  readonly name: string | null
  readonly data: string | null
}

/** The lengths and their checksum. */
const preludeBytes = 12
const sumBytes = 4
const leastMessage = preludeBytes + sumBytes
const mostMessage = 16 * 1024 * 1024
const mostHeaders = 128 * 1024
const textHeader = 7
const none: readonly EventStreamMessage[] = []

/** The bytes of a header's value, by its type; a text and bytes have their own length. */
const sizes: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16]

/**
 * Reads AWS's binary event streams from bytes that are cut anywhere. Checks both checksums of each message. A class, because it keeps the received
 * part of a message.
 */
export class EventStreamReader {
  readonly #held = new ByteList()
  /** As many bytes must be there before there is something to read. */
  #needed = preludeBytes
  #isBroken = false

  /** Returns the messages that are whole now. Null: the bytes are no event stream, or were changed on the way. */
  push(chunk: Buffer): readonly EventStreamMessage[] | null {
    if (this.#isBroken) return null
    if (chunk.length > 0) this.#held.push(chunk)
    if (this.#held.size < this.#needed) return none
    let bytes = this.#held.join()
    const messages: EventStreamMessage[] = []
    while (bytes.length >= this.#needed) {
      const length = messageLength(bytes)
      if (length === null) return this.#break()
      this.#needed = length
      if (bytes.length < length) break
      const message = readMessage(bytes.subarray(0, length))
      if (message === null) return this.#break()
      messages.push(message)
      bytes = bytes.subarray(length)
      this.#needed = preludeBytes
    }
    this.#held.clear()
    if (bytes.length > 0) this.#held.push(Buffer.from(bytes))
    return messages
  }

  /** Null: the bytes ended within a message. */
  end(): readonly EventStreamMessage[] | null {
    return this.#isBroken || this.#held.size > 0 ? null : none
  }

  #break(): null {
    this.#isBroken = true
    this.#held.clear()
    return null
  }
}

/** Returns the length of the message that begins here; null when it cannot be one. */
function messageLength(bytes: Buffer): number | null {
  const [length, headers] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)]
  const fits = length >= leastMessage + headers && length <= mostMessage && headers <= mostHeaders
  return fits && crc32(bytes.subarray(0, 8)) === bytes.readUInt32BE(8) ? length : null
}

function readMessage(message: Buffer): EventStreamMessage | null {
  const sumAt = message.length - sumBytes
  if (crc32(message.subarray(0, sumAt)) !== message.readUInt32BE(sumAt)) return null
  const payloadAt = preludeBytes + message.readUInt32BE(4)
  const headers = readHeaders(message.subarray(preludeBytes, payloadAt))
  if (headers === null) return null
  const data = message.toString('utf8', payloadAt, sumAt)
  switch (headers.get(':message-type')) {
    case 'exception':
      return { name: `exception:${headers.get(':exception-type') ?? ''}`, data }
    case 'error':
      return {
        name: `exception:${headers.get(':error-code') ?? ''}`,
        data: JSON.stringify({ message: headers.get(':error-message') ?? '' }),
      }
    default:
      return { name: headers.get(':event-type') ?? null, data }
  }
}

/** Reads the headers that are texts; null when they do not add up. */
function readHeaders(bytes: Buffer): ReadonlyMap<string, string> | null {
  const headers = new Map<string, string>()
  let at = 0
  while (at < bytes.length) {
    const nameLength = bytes.readUInt8(at)
    const typeAt = at + 1 + nameLength
    if (typeAt + 1 > bytes.length) return null
    const type = bytes.readUInt8(typeAt)
    const fixed = sizes[type]
    if (fixed === undefined || (fixed === null && typeAt + 3 > bytes.length)) return null
    const valueAt = typeAt + (fixed === null ? 3 : 1)
    const end = valueAt + (fixed ?? bytes.readUInt16BE(typeAt + 1))
    if (end > bytes.length) return null
    if (type === textHeader) headers.set(bytes.toString('utf8', at + 1, typeAt), bytes.toString('utf8', valueAt, end))
    at = end
  }
  return headers
}

/** Writes one message with headers that are texts. */
export function eventStreamMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const written = Buffer.concat(Object.entries(headers).map(([name, value]) => headerBytes(name, value)))
  const body = Buffer.from(payload)
  const message = Buffer.alloc(leastMessage + written.length + body.length)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(written.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  written.copy(message, preludeBytes)
  body.copy(message, preludeBytes + written.length)
  message.writeUInt32BE(crc32(message.subarray(0, message.length - sumBytes)), message.length - sumBytes)
  return message
}

function headerBytes(name: string, value: string): Buffer {
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)]
  const head = Buffer.alloc(3)
  head.writeUInt8(textHeader, 0)
  head.writeUInt16BE(valueBytes.length, 1)
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, head, valueBytes])
}
