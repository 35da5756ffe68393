/**
 * Header fields as latin1 text, name, value, name, value ... in the order and case of the wire. undici gives views into the bytes
 * it read, mostly in one piece of memory: that piece is decoded once and cut, which is several times cheaper than decoding each.
 */
export function rawHeaderText(fields: unknown): string[] {
  if (!Array.isArray(fields) || fields.length === 0) return []
  if (!areBuffers(fields)) return []
  const [first] = fields
  const last = fields.at(-1)
  if (first === undefined || last === undefined || !sameMemory(fields, first)) return fields.map((field) => field.toString('latin1'))
  const start = first.byteOffset
  const text = Buffer.from(first.buffer, start, last.byteOffset + last.length - start).toString('latin1')
  return fields.map((field) => text.slice(field.byteOffset - start, field.byteOffset - start + field.length))
}

const areBuffers = (fields: readonly unknown[]): fields is readonly Buffer[] => fields.every((field) => Buffer.isBuffer(field))

/** True when all lie in one piece of memory, in rising order, close together. */
function sameMemory(buffers: readonly Buffer[], first: Buffer): boolean {
  let end = first.byteOffset
  for (const field of buffers) {
    if (field.buffer !== first.buffer || field.byteOffset < end || field.byteOffset - end > maxGap) return false
    end = field.byteOffset + field.length
  }
  return true
}

/** Between two fields lie `: ` or a line end with some blanks; more means other memory. */
const maxGap = 64
