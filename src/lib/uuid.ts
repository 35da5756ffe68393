import { hash, randomFillSync } from 'node:crypto'
import { isUuid } from './is-uuid.ts'

const uuidBytes = 16
/** Random bytes for many at a time, because a call for them costs more than all else. */
const random = Buffer.allocUnsafeSlow(256 * uuidBytes)
let used = random.length

const text = Buffer.alloc(36, '-')
const digits = Buffer.from('0123456789abcdef')
/** The positions of the pairs of digits in the text. */
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

/** A UUID of version 7 (RFC 9562): ordered by time, so that new rows go to the end of an index, with 74 random bits. */
export function uuidv7(now: number = Date.now()): string {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  const bytes = used
  used += uuidBytes
  random.writeUIntBE(now, bytes, 6)
  random[bytes + 6] = 0x70 | ((random[bytes + 6] ?? 0) & 0x0f)
  random[bytes + 8] = 0x80 | ((random[bytes + 8] ?? 0) & 0x3f)
  for (let index = 0; index < uuidBytes; index += 1) writeByte(positions[index] ?? 0, random[bytes + index] ?? 0)
  return text.toString('latin1')
}

/** A UUID of version 8 (RFC 9562): the same for the same text. */
export function uuidOf(source: string): string {
  const hex = hash('sha256', source)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function writeByte(position: number, byte: number): void {
  text[position] = digits[byte >> 4] ?? 0
  text[position + 1] = digits[byte & 15] ?? 0
}

/** Returns the epoch milliseconds in a UUID of version 7; null when it is none. */
export function timeOfUuid(id: string): number | null {
  if (!isUuid(id) || id[14] !== '7') return null
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
