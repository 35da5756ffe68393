import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** The size in pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

/** How opaque each pixel of a picture is: 0 to 255, row by row. */
export interface Opacity extends Size {
  readonly pixels: Uint8Array
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** So many pixels are looked at: all other requests wait while a picture is unpacked. */
const mostPixels = 2048 * 2048

interface Header extends Size {
  readonly depth: number
  readonly color: number
  readonly interlaced: boolean
}

/** The bytes of a sample of one color type, in whole samples: gray with alpha, and RGB with alpha. */
const channels: Readonly<Record<number, number>> = { 4: 2, 6: 4 }

/** Returns the opacity of a PNG (w3.org/TR/png). Null: it is none, it has no channel of opacity, or it is larger than any real use. */
export function opacityOf(png: Buffer): Opacity | null {
  if (!png.subarray(0, 8).equals(signature)) return null
  const header = readHeader(png)
  const perPixel = header === null ? undefined : channels[header.color]
  if (header === null || perPixel === undefined || header.interlaced || header.width * header.height > mostPixels) return null
  const bytes = perPixel * (header.depth / 8)
  const rows = unpacked(png, (header.width * bytes + 1) * header.height)
  return rows === null ? null : { ...header, pixels: alphaOf(rows, header, bytes) }
}

function readHeader(png: Buffer): Header | null {
  if (png.length < 33 || png.toString('latin1', 12, 16) !== 'IHDR') return null
  const [depth = 0, color = 0] = [png[24], png[25]]
  return depth === 8 || depth === 16
    ? { width: png.readUInt32BE(16), height: png.readUInt32BE(20), depth, color, interlaced: png[28] !== 0 }
    : null
}

/** Returns the rows of a picture, each behind the number of its filter; null when there are not as many as the header states. */
function unpacked(png: Buffer, size: number): Buffer | null {
  const parts: Buffer[] = []
  for (let at = 8; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  try {
    const rows = inflateSync(Buffer.concat(parts), { maxOutputLength: size })
    return rows.length === size ? rows : null
  } catch {
    // It holds more than its header states, or is no picture at all.
    return null
  }
}

/** Undoes the filters of rows in place, and picks the last sample of each pixel. */
function alphaOf(rows: Buffer, { width, height, depth }: Header, perPixel: number): Uint8Array {
  const length = width * perPixel
  const pixels = new Uint8Array(width * height)
  const last = perPixel - depth / 8
  for (let y = 0; y < height; y += 1) {
    const start = y * (length + 1) + 1
    unfilter(rows, { start, length, above: y === 0 ? -1 : start - length - 1 }, perPixel)
    for (let x = 0; x < width; x += 1) pixels[y * width + x] = rows[start + x * perPixel + last] ?? 0
  }
  return pixels
}

interface Row {
  readonly start: number
  readonly length: number
  /** The start of the row above; -1: there is none. */
  readonly above: number
}

function unfilter(rows: Buffer, { start, length, above }: Row, perPixel: number): void {
  const filter = rows[start - 1]
  if (filter === 0) return
  for (let at = 0; at < length; at += 1) {
    const left = at < perPixel ? 0 : (rows[start + at - perPixel] ?? 0)
    const up = above === -1 ? 0 : (rows[above + at] ?? 0)
    const corner = above === -1 || at < perPixel ? 0 : (rows[above + at - perPixel] ?? 0)
    rows[start + at] = (rows[start + at] ?? 0) + predicted(filter, left, { up, corner })
  }
}

/** Returns a filter's prediction of a byte; bytes wrap around. */
function predicted(filter: number | undefined, left: number, { up, corner }: { readonly up: number; readonly corner: number }): number {
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  const guess = left + up - corner
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}

/** Writes a gray PNG of eight bits. */
export function grayPng({ width, height }: Size, pixels: Uint8Array): Buffer {
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y += 1) rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 1 })), chunk('IEND', Buffer.alloc(0))])
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
