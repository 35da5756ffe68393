/** The ends of an MP3 file, and its length. */
interface Mp3File {
  readonly head: Buffer
  readonly tail: Buffer
  readonly size: number
}

/** Kilobits a second by their index, of layer III: of MPEG 1, then of 2 and 2.5. */
const bitrates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const
const sampleRates = [44_100, 48_000, 32_000] as const

/** The slower of the held ends gives the rate of all frames. The number of frames in the first one counts where it agrees by half. */
export function mp3Ms({ head, tail, size }: Mp3File): number | null {
  const at = head.toString('latin1', 0, 3) === 'ID3' && head.length > 10 ? 10 + synchsafe(head) : 0
  const frame = at + 200 > head.length ? null : frameAt(head, at)
  if (frame === null) return null
  const told = [head.indexOf('Xing', at), head.indexOf('Info', at)].find((place) => place !== -1 && place < at + 60)
  const counted = ((size - at) * 8) / Math.min(meanKilobits(head, at), meanKilobits(tail, firstFrame(tail)))
  if (told === undefined || (head.readUInt8(told + 7) & 1) === 0) return counted
  const ms = head.readUInt32BE(told + 8) * frame.ms
  return ms * 2 >= counted && ms <= counted * 2 ? ms : counted
}

/** Returns the mean rate of the frames that follow each other; Infinity: there are none. */
function meanKilobits(bytes: Buffer, from: number): number {
  let [at, ms] = [from, 0]
  while (at >= 0 && at + 4 <= bytes.length) {
    const frame = frameAt(bytes, at)
    if (frame === null) break
    at += Math.max(1, Math.floor((frame.kilobits * frame.ms) / 8))
    if (bytes[at] !== 0xff) at += 1
    ms += frame.ms
  }
  return ms === 0 ? Infinity : ((at - from) * 8) / ms
}

/** Two frames in a row are no accident. */
function firstFrame(bytes: Buffer): number {
  for (let at = bytes.indexOf(0xff); at !== -1 && at + 4 < bytes.length; at = bytes.indexOf(0xff, at + 1)) {
    const frame = frameAt(bytes, at)
    const next = frame === null ? -1 : at + Math.floor((frame.kilobits * frame.ms) / 8)
    if (next !== -1 && [next, next + 1].some((place) => place + 4 < bytes.length && frameAt(bytes, place) !== null)) return at
  }
  return -1
}

/** Returns how long a frame of layer III lasts, and its rate in kilobits a second; null: there is none. */
function frameAt(head: Buffer, at: number): { readonly ms: number; readonly kilobits: number } | null {
  const [sync, version, rates] = [head.readUInt8(at), head.readUInt8(at + 1), head.readUInt8(at + 2)]
  if (sync !== 0xff || (version & 0xe6) !== 0xe2) return null
  const [isFirst, isSecond] = [(version & 0x18) === 0x18, (version & 0x18) === 0x10]
  const fastest = sampleRates[(rates >> 2) & 3]
  const kilobits = bitrates[isFirst ? 0 : 1][rates >> 4]
  if (fastest === undefined || kilobits === undefined || kilobits === 0) return null
  const rate = isFirst ? fastest : isSecond ? fastest / 2 : fastest / 4
  return { ms: ((isFirst ? 1152 : 576) / rate) * 1000, kilobits }
}

/** The length of the tags before the sound: seven bits a byte. */
const synchsafe = (head: Buffer): number => [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head.readUInt8(at) & 0x7f), 0)
