/** An upload, as far as it is held: the first and the last bytes of all that was sent. */
export interface HeldUpload {
  readonly head: Buffer
  readonly tail: Buffer
  /** The length of the whole upload. */
  readonly size: number
}

/** The beginning of a file, the held part of its end, and its length with the rest of the form. */
interface File {
  readonly head: Buffer
  readonly tail: Buffer
  readonly size: number
}

/**
 * Returns the length of the recording in a form in whole milliseconds, from its container; null: it has none. Providers charge for it also where
 * their answer has no usage.
 */
export function recordedMs(upload: HeldUpload): number | null {
  const file = fileOf(upload)
  if (file === null) return null
  const container = containers.find(({ magic, at }) => file.head.subarray(at, at + magic.length).equals(magic))
  try {
    const ms = (container?.read ?? mp3Ms)(file)
    return ms !== null && ms >= 1 && ms < longestMs ? Math.round(ms) : null
  } catch {
    // It ends before the length in its own header.
    return null
  }
}

/** Returns the model that a form names, when it stands within the held part; null otherwise. */
export function modelOfUpload({ head, tail }: HeldUpload): string | null {
  for (const bytes of [head, tail]) {
    const found = modelField.exec(bytes.toString('latin1'))?.[1]
    if (found !== undefined) return found
  }
  return null
}

/** A part has few headers, and short ones. */
const modelField = /\bname="?model"?\r\n(?:[^\r\n]{1,1024}\r\n){0,8}\r\n([\x21-\x7e]{1,255})\r\n/

const longestMs = 7 * 24 * 3_600_000

function fileOf({ head, tail, size }: HeldUpload): File | null {
  const named = head.indexOf('filename=')
  const start = named === -1 ? -1 : head.indexOf('\r\n\r\n', named)
  return start === -1 ? null : { head: head.subarray(start + 4), tail, size: size - start - 4 }
}

const containers: readonly { readonly magic: Buffer; readonly at: number; readonly read: (file: File) => number | null }[] = [
  { magic: Buffer.from('RIFF'), at: 0, read: wavMs },
  { magic: Buffer.from('fLaC'), at: 0, read: flacMs },
  { magic: Buffer.from('OggS'), at: 0, read: oggMs },
  { magic: Buffer.from('ftyp'), at: 4, read: mp4Ms },
  { magic: Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), at: 0, read: webmMs },
]

/** Samples of a WAV file that was written as it was recorded have no length of their own: they go on to the end. */
function wavMs({ head, size }: File): number | null {
  let rate = 0
  for (let at = 12; at + 8 <= head.length;) {
    const name = head.toString('latin1', at, at + 4)
    const length = head.readUInt32LE(at + 4)
    if (name === 'fmt ' && at + 20 <= head.length) rate = head.readUInt32LE(at + 16)
    if (name === 'data') return (Math.min(length === 0 ? Infinity : length, size - at - 8) / rate) * 1000
    at += 8 + length + (length % 2)
  }
  return null
}

function flacMs({ head }: File): number | null {
  if (head.length < 26) return null
  const rate = head.readUIntBE(18, 3) >> 4
  return (((head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22)) / rate) * 1000
}

/** The last page states the number of samples. */
function oggMs({ head, tail }: File): number | null {
  const opus = head.indexOf('OpusHead')
  const vorbis = head.indexOf('\u0001vorbis', 0, 'latin1')
  const last = tail.lastIndexOf('OggS')
  if (last === -1 || last + 14 > tail.length) return null
  const samples = Number(tail.readBigInt64LE(last + 6))
  if (opus !== -1) return (samples - head.readUInt16LE(opus + 10)) / 48
  return vorbis === -1 ? null : (samples / head.readUInt32LE(vorbis + 12)) * 1000
}

/** The movie header stands at the beginning, or at the end of files that were written as they were recorded. */
function mp4Ms({ head, tail }: File): number | null {
  for (const bytes of [head, tail]) {
    const at = bytes.indexOf('mvhd')
    if (at === -1 || at + 36 > bytes.length) continue
    return bytes.readUInt8(at + 4) === 1
      ? (Number(bytes.readBigUInt64BE(at + 28)) / bytes.readUInt32BE(at + 24)) * 1000
      : (bytes.readUInt32BE(at + 20) / bytes.readUInt32BE(at + 16)) * 1000
  }
  return null
}

/** The duration is a float of 4 or 8 bytes, in units of which a million nanoseconds are usual. */
function webmMs({ head }: File): number | null {
  const at = head.indexOf(Buffer.from([0x44, 0x89]))
  const scaleAt = head.indexOf(Buffer.from([0x2a, 0xd7, 0xb1, 0x83]))
  if (at === -1 || at + 11 > head.length) return null
  const scale = scaleAt === -1 ? 1_000_000 : head.readUIntBE(scaleAt + 4, 3)
  const length = head.readUInt8(at + 2) & 0x7f
  const duration = length === 8 ? head.readDoubleBE(at + 3) : length === 4 ? head.readFloatBE(at + 3) : null
  return duration === null ? null : (duration * scale) / 1_000_000
}

/** Kilobits a second by their index, of layer III: of MPEG 1, then of 2 and 2.5. */
const bitrates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const
const sampleRates = [44_100, 48_000, 32_000] as const

/** The first frame states the number of frames, or the rate of all of them. */
function mp3Ms({ head, size }: File): number | null {
  const at = head.toString('latin1', 0, 3) === 'ID3' && head.length > 10 ? 10 + synchsafe(head) : 0
  const frame = at + 200 > head.length ? null : frameAt(head, at)
  if (frame === null) return null
  const told = [head.indexOf('Xing', at), head.indexOf('Info', at)].find((place) => place !== -1 && place < at + 60)
  if (told !== undefined && (head.readUInt8(told + 7) & 1) === 1) return head.readUInt32BE(told + 8) * frame.ms
  return ((size - at) * 8) / frame.kilobits
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
