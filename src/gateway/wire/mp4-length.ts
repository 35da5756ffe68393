/** The ends of an MP4 file, and its length. */
interface Mp4File {
  readonly head: Buffer
  readonly tail: Buffer
  readonly size: number
}

/** The tracks of an MP4 file, as their headers state them. */
export interface Mp4Tracks {
  /** The longest that any header states. */
  readonly ms: number
  readonly hasPictures: boolean
  /** True for samples that are not packed, or packed without loss. */
  readonly isLossless: boolean
}

interface Box {
  readonly type: string
  /** Where its contents begin and end; they may be cut. */
  readonly from: number
  readonly to: number
}

/** A file has few boxes before its index. */
const mostBoxes = 64

/** Returns the tracks of a file; null: its index is not held whole enough, or parts of the sound have an index of their own. */
export function mp4Tracks(file: Mp4File): Mp4Tracks | null {
  const held = heldIndex(file)
  if (held === null) return null
  const { bytes, box } = held
  const inIndex = boxesIn(bytes, box)
  // Fragments state their lengths themselves, all over the file.
  if (inIndex.some(({ type }) => type === 'mvex')) return null
  const times = inIndex.filter(({ type }) => type === 'mvhd').map((one) => statedMs(bytes, one))
  const tracks = inIndex.filter(({ type }) => type === 'trak').map((track) => trackOf(bytes, track))
  return {
    ms: Math.max(0, ...times, ...tracks.map(({ ms }) => ms)),
    hasPictures: tracks.some(({ kind }) => kind === 'vide'),
    isLossless: tracks.some(({ format }) => lossless.has(format)),
  }
}

/** Follows the boxes of a file to its index, which stands before the sound or after it. */
function heldIndex({ head, tail, size }: Mp4File): { readonly bytes: Buffer; readonly box: Box } | null {
  const tailAt = size - tail.length
  let at = 0
  for (let count = 0; count < mostBoxes && at < size; count += 1) {
    const [bytes, place] = at + 16 <= head.length ? [head, at] : [tail, at - tailAt]
    if (place < 0 || place + 8 > bytes.length) return null
    const box = boxAt(bytes, place)
    if (box === null) return null
    if (box.type === 'moov') return { bytes, box }
    at += box.to - place
  }
  return null
}

function boxAt(bytes: Buffer, at: number): Box | null {
  const short = bytes.readUInt32BE(at)
  const type = bytes.toString('latin1', at + 4, at + 8)
  const isLong = short === 1
  if (isLong && at + 16 > bytes.length) return null
  const length = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short
  const from = at + (isLong ? 16 : 8)
  return length === 0 ? { type, from, to: Infinity } : at + length < from ? null : { type, from, to: at + length }
}

function boxesIn(bytes: Buffer, { from, to }: Box): readonly Box[] {
  const boxes: Box[] = []
  const end = Math.min(to, bytes.length)
  for (let at = from; at + 8 <= end && boxes.length < mostBoxes;) {
    const box = boxAt(bytes, at)
    if (box === null) break
    boxes.push(box)
    at = box.to
  }
  return boxes
}

/** Returns a box within boxes; null: there is none. */
const boxWithin = (bytes: Buffer, box: Box, path: readonly string[]): Box | null =>
  path.reduce<Box | null>((outer, name) => (outer === null ? null : (boxesIn(bytes, outer).find(({ type }) => type === name) ?? null)), box)

function trackOf(bytes: Buffer, track: Box): { readonly ms: number; readonly kind: string; readonly format: string } {
  const named = boxWithin(bytes, track, ['mdia', 'hdlr'])
  const stated = boxWithin(bytes, track, ['mdia', 'mdhd'])
  const described = boxWithin(bytes, track, ['mdia', 'minf', 'stbl', 'stsd'])
  const format = described === null ? '' : bytes.toString('latin1', described.from + 12, described.from + 16)
  const scale = stated === null ? 0 : scaleOf(bytes, stated)
  const units = Math.max(timedUnits(bytes, track), format === 'mp4a' ? countOf(bytes, track) * samplesOfFrame : 0)
  return {
    ms: Math.max(stated === null ? 0 : statedMs(bytes, stated), scale === 0 ? 0 : (units / scale) * 1000),
    kind: named === null ? '' : bytes.toString('latin1', named.from + 8, named.from + 12),
    format,
  }
}

/** AAC has at least so many samples in a frame. */
const samplesOfFrame = 1024
const lossless: ReadonlySet<string> = new Set([
  'alac',
  'fLaC',
  'sowt',
  'twos',
  'lpcm',
  'ipcm',
  'fpcm',
  'in24',
  'in32',
  'fl32',
  'fl64',
  'raw ',
])

const scaleOf = (bytes: Buffer, { from }: Box): number => bytes.readUInt32BE(from + (bytes.readUInt8(from) === 1 ? 20 : 12))

/** The headers of the file and of its tracks begin alike. */
function statedMs(bytes: Buffer, box: Box): number {
  const isLong = bytes.readUInt8(box.from) === 1
  const units = isLong ? Number(bytes.readBigUInt64BE(box.from + 24)) : bytes.readUInt32BE(box.from + 16)
  const isUnknown = !isLong && units === 0xffffffff
  return isUnknown ? 0 : (units / scaleOf(bytes, box)) * 1000
}

/** Returns the sum of the lengths of samples, as far as they are held. */
function timedUnits(bytes: Buffer, track: Box): number {
  const times = boxWithin(bytes, track, ['mdia', 'minf', 'stbl', 'stts'])
  if (times === null) return 0
  let units = 0
  const end = Math.min(times.to, bytes.length, times.from + 8 + bytes.readUInt32BE(times.from + 4) * 8)
  for (let at = times.from + 8; at + 8 <= end; at += 8) units += bytes.readUInt32BE(at) * bytes.readUInt32BE(at + 4)
  return units
}

function countOf(bytes: Buffer, track: Box): number {
  const sizes = boxWithin(bytes, track, ['mdia', 'minf', 'stbl', 'stsz'])
  return sizes === null ? 0 : bytes.readUInt32BE(sizes.from + 8)
}
